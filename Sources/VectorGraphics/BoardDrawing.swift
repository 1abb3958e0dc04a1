internal import Ink
internal import PathGeometry
public import Raster
public import Scene

/// One page of a board, for the vector renderers: in board units, origin top left, y down.
public struct BoardDrawing: Sendable {
    /// The width of the board in board units, above 0.
    public var width: Double
    /// The height of the board in board units, above 0.
    public var height: Double
    /// What is visible, bottom to top.
    public var entries: [PageEntry]
    /// The pixels of images, as far as they are there.
    public var images: PageImages
    /// What lies under the ink.
    public var paper: PagePaper?
    /// Marks drawn over the ink for debugging; `nil` for the board alone.
    public var overlay: DebugOverlay?

    /// Makes a drawing. A width or height that is not a positive number becomes 1.
    public init(
        width: Double, height: Double, entries: [PageEntry], images: PageImages = [:], paper: PagePaper? = nil,
        overlay: DebugOverlay? = nil
    ) {
        self.width = width > 0 && width.isFinite ? width : 1
        self.height = height > 0 && height.isFinite ? height : 1
        (self.entries, self.images, self.paper, self.overlay) = (entries, images, paper, overlay)
    }

    /// A drawing of strokes alone.
    public init(width: Double, height: Double, strokes: [PaintedStroke], overlay: DebugOverlay? = nil) {
        let entries = strokes.enumerated().map { PageEntry(id: UInt64($0.offset), .stroke($0.element)) }
        self.init(width: width, height: height, entries: entries, overlay: overlay)
    }

    /// The strokes among the entries.
    public var strokes: [PaintedStroke] {
        entries.compactMap { if case .stroke(let stroke) = $0.content { stroke } else { nil } }
    }
}

/// Why the drawing of a document was given up.
public enum DrawingStopped: Error, Sendable {
    /// It is no longer wanted.
    case unwanted
    /// The document would be larger than allowed.
    case tooLarge
}

extension SceneCache {
    /// The picture of a page for a document up to its last lasso or eraser; the entries above are drawn over it.
    ///
    /// - Parameter isWanted: called before each entry; false ends it.
    mutating func scene(
        of drawing: BoardDrawing, limits: DisplayList.Limits, while isWanted: () -> Bool
    ) throws(DrawingStopped) -> PageScene {
        let count = (drawing.entries.lastIndex { $0.isBorder } ?? -1) + 1
        return try scene(
            of: DrawnEntries(entries: drawing.entries), lowest: count, width: drawing.width, height: drawing.height,
            limits: limits
        ) { () throws(DrawingStopped) in
            guard isWanted() else { throw .unwanted }
        }
    }
}

private struct DrawnEntries: PageEntries {
    let entries: [PageEntry]

    var count: Int { entries.count }

    func id(_ place: Int) -> UInt64 { entries[place].id }
    func isLasso(_ place: Int) -> Bool { entries[place].isLasso }
    func content(_ place: Int) -> PageEntry.Content? { entries[place].content }

    func image(_ place: Int) -> PlacedImage? {
        if case .image(let image) = entries[place].content { image } else { nil }
    }
}

extension BoardDrawing {
    /// What a painter of pixels draws, bottom to top: all up to the last lasso as a scene, and entries as they are above it.
    /// Each is made when it is asked for, as a text takes the pixels of its box.
    public func layers(limits: DisplayList.Limits = DisplayList.Limits()) -> some Sequence<LayerContent> {
        let drawn = DrawnEntries(entries: entries)
        var scenes = SceneCache(byteLimit: 0)
        let scene = scenes.scene(of: drawn, width: width, height: height, limits: limits) {}
        let picture = PagePicture(scene: scene, entries: drawn, hasImages: false, images: images)
        return picture.layers.indices.lazy.map { picture.content(of: $0) }
    }

    /// What a document shows, bottom to top: a scene, and the entries above it as they are.
    func contents(over scene: PageScene) -> some Sequence<DocumentContent> {
        let (items, count) = (scene.items, scene.entryCount)
        return (0..<items.count + entries.count - count).lazy.compactMap { place in
            guard place < items.count else { return DocumentContent(entries[count + place - items.count]) }
            return switch items[place].content {
            case .entry: DocumentContent(entries[items[place].entry])
            case .area(let path, let colour, let opacity): .area(path, colour, opacity: opacity)
            case .image(let image, let map, let clip): .image(image, map, clip: clip)
            }
        }
    }
}

/// A part of a document's page.
enum DocumentContent {
    case stroke(PaintedStroke)
    case area(Path, RGB, opacity: Double)
    /// What a map makes of an image or a text, inside an area where it is cut.
    case image(PlacedImage, AffineMap, clip: Path?)

    /// - Returns: nil for a lasso.
    fileprivate init?(_ entry: PageEntry) {
        switch entry.content {
        case .stroke(let stroke): self = .stroke(stroke)
        case .image(let image): self = .image(image, .identity, clip: nil)
        case .lasso: return nil
        }
    }
}

extension PageEntry {
    fileprivate var isLasso: Bool {
        if case .lasso = content { true } else { false }
    }

    /// Whether it changes what is below it.
    fileprivate var isBorder: Bool {
        switch content {
        case .stroke(let stroke): stroke.stroke.isErasing
        case .image: false
        case .lasso: true
        }
    }
}
