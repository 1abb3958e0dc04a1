public import PathGeometry
public import Raster
public import Scene
public import StrokeWire

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
    /// Marks drawn over the ink for debugging; `nil` for the board alone.
    public var overlay: DebugOverlay?

    /// Makes a drawing. A width or height that is not a positive number becomes 1.
    public init(
        width: Double, height: Double, entries: [PageEntry], images: PageImages = [:], overlay: DebugOverlay? = nil
    ) {
        self.width = width > 0 && width.isFinite ? width : 1
        self.height = height > 0 && height.isFinite ? height : 1
        self.entries = entries
        self.images = images
        self.overlay = overlay
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

/// What a page shows for one operation.
public struct PageEntry: Sendable, Equatable {
    public enum Content: Sendable, Equatable {
        /// Ink, or an eraser, which removes what is below it.
        case stroke(PaintedStroke)
        case image(PlacedImage)
        /// Moves, copies or removes what is below it and inside a path.
        case lasso(Lasso)
    }

    /// The index of the operation.
    public var id: UInt64
    public var content: Content

    public init(id: UInt64, _ content: Content) {
        self.id = id
        self.content = content
    }
}

/// Pixels by what they show. What is missing is drawn as an empty frame.
public typealias PageImages = [ImageSource: ImagePixels]

/// A page of an asset in a rectangle.
public struct PlacedImage: Sendable, Equatable {
    public var source: ImageSource
    /// In board units.
    public var box: Box

    /// - Parameters:
    ///   - corner, opposite: any two opposite corners of the rectangle.
    public init(_ source: ImageSource, from corner: Point, to opposite: Point) {
        self.source = source
        box = Box(
            lower: Point(min(corner.x, opposite.x), min(corner.y, opposite.y)),
            upper: Point(max(corner.x, opposite.x), max(corner.y, opposite.y)))
    }

    private var size: Point { box.upper - box.lower }

    /// In board units.
    public var width: Double { size.x }

    /// The rectangle; empty where it has no area.
    var area: Path {
        guard size.min() > 0 else { return Path() }
        return Path(rectangle: box.lower.x, box.lower.y, width: size.x, height: size.y)
    }

    /// What stands where the pixels are missing, after a map.
    func frame(_ map: AffineMap, clip: Path? = nil) -> Path {
        area.isEmpty ? Path() : EmptyFrame.path(around: box, map: map, clip: clip)
    }

    /// From pixels of the picture to board units.
    func map(width: Int, height: Int) -> AffineMap {
        AffineMap(size.x / Double(width), 0, 0, size.y / Double(height), box.lower.x, box.lower.y)
    }
}

/// Why the drawing of a document was given up.
public enum DrawingStopped: Error, Sendable {
    /// It is no longer wanted.
    case unwanted
    /// The document would be larger than allowed.
    case tooLarge
}
