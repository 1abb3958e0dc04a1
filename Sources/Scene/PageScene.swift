internal import Ink
public import PathGeometry
public import Raster

/// The picture of a page: entries as they were drawn where no lasso or eraser has touched them, and else areas of even ink
/// and images, cut and moved. The same for pixels and documents.
///
/// Ink that is cut becomes areas with one colour and one opacity each: the outline of a line, the tones of a pencil on each
/// other, a line of stamps as the even line of ``DrawableStroke``. All entries up to the last lasso have to be added, as
/// erasers below it are subtracted from what it moves, and those above may be drawn over the scene. In documents, which hold
/// neither masks nor white paint, all erasers are subtracted: there the last of them counts too.
///
/// Bounded by the limits of a ``DisplayList``.
public struct PageScene: Sendable {
    /// The thing that one step paints.
    public enum Content: Sendable, Equatable {
        /// An entry as it was drawn. An eraser among them is one beyond the limits, which is to be painted.
        case entry
        case area(Path, RGB, opacity: Double)
        /// What a map makes of an image, inside an area where it is cut.
        case image(PlacedImage, AffineMap, clip: Path?)
    }

    /// One step of painting a page, from the bottom to the top.
    public struct Item: Sendable, Equatable {
        /// The place of its entry.
        public let entry: Int
        /// Equal for equal pictures. That of an entry as it was drawn is the entry's id.
        public let id: UInt64
        public let content: Content
        /// Where all of the entry, or of one of its areas, lies; nil where it was cut.
        public let map: AffineMap?
    }

    /// How the areas of an entry look.
    private enum Look {
        case ink(RGB, opacities: [Double])
        case image(PlacedImage)
    }

    private var list: DisplayList
    /// Of the entries that were outlined.
    private var looks: [Int: Look] = [:]
    private let size: Point
    private let mostSegments: Int
    /// A pixel of an image takes some 50 ns, and one of ink a part of one.
    private static let coverOfImages = 64.0

    /// The picture of no entries.
    /// - Parameters:
    ///   - width, height: of the board in its units, above 0.
    ///   - limits: what lassos and erasers may make of the page.
    public init(width: Double, height: Double, limits: DisplayList.Limits = DisplayList.Limits()) {
        size = Point(width, height)
        mostSegments = limits.segments
        list = DisplayList(limits: limits, board: Box(lower: .zero, upper: size))
    }

    /// How many entries were added.
    public var entryCount: Int { list.entryCount }

    /// Bytes that the scene takes, about.
    public var byteCount: Int { 256 + list.byteCount + looks.count * 160 }

    /// The lassos and erasers beyond the limits, as places among the entries.
    public var skippedEntries: [Int] { list.skippedEntries }

    package var comparedItems: Int { list.comparedItems }
    package var segmentCount: Int { list.segmentCount }
    /// What the scene has cost, however it was made.
    package var steps: Int64 { list.steps }

    /// Whether it is of a board of that size.
    func isOf(_ width: Double, _ height: Double) -> Bool { size == Point(width, height) }

    /// Adds the next entry, above all others.
    ///
    /// - Parameter entry: returns what the entry with that place shows, this one or one before it; nil for nothing.
    public mutating func add(id: UInt64, entry: (Int) -> PageEntry.Content?) {
        let added = sceneEntry(entry(list.entryCount), id: id)
        // A dictionary that is held twice would be copied.
        var looks = looks
        self.looks = [:]
        defer { self.looks = looks }
        let (side, most) = (max(size.x, size.y), mostSegments)
        list.add(added) { place in
            switch entry(place) {
            case .stroke(let stroke):
                guard let areas = DrawableStroke.areas(of: stroke, longerSide: side, atMost: most) else { return nil }
                looks[place] = .ink(stroke.colour, opacities: areas.map { $0.opacity })
                return areas.map { $0.path }
            case .image(let image):
                looks[place] = .image(image)
                return [image.area]
            case .lasso, nil: return []
            }
        }
    }

    private func sceneEntry(_ content: PageEntry.Content?, id: UInt64) -> SceneEntry {
        switch content {
        case .stroke(let stroke):
            SceneEntry(id: id, stroke.stroke.isErasing ? .eraser : .drawing, bounds: DrawableStroke.bounds(of: stroke))
        case .image(let image):
            // A text has about four times the pixels of its box, and an image any number of them.
            SceneEntry(
                id: id, .drawing, bounds: image.area.controlBounds, coverWeight: Self.coverOfImages,
                leastCover: image.text == nil ? 1 : min(4 * image.width * image.height / (size.x * size.y), 1))
        case .lasso(let lasso): SceneEntry(id: id, lasso)
        case nil: SceneEntry(id: id, .drawing, bounds: .empty)
        }
    }

    /// The items, bottom to top.
    public var items: [Item] {
        list.items.map { item in
            Item(entry: item.entry, id: item.id, content: content(of: item), map: item.isCut ? nil : item.map)
        }
    }

    private func content(of item: DisplayItem) -> Content {
        guard case .area(let number, let path) = item.content else { return .entry }
        switch looks[item.entry] {
        case .ink(let colour, let opacities): return .area(path, colour, opacity: opacities[number])
        case .image(let image): return .image(image, item.map, clip: item.isCut ? path : nil)
        case nil: return .entry
        }
    }
}

extension PageEntry.Content {
    /// What a painter draws of an entry where nothing has cut it; nil of a lasso.
    public func layer(_ images: PageImages) -> LayerContent? {
        switch self {
        case .stroke(let stroke): .stroke(stroke)
        case .image(let image): image.layer(images, .identity, clip: nil)
        case .lasso: nil
        }
    }
}

extension PageScene.Content {
    /// What a painter draws; nil for an entry as it was drawn.
    public func layer(_ images: PageImages) -> LayerContent? {
        switch self {
        case .entry: nil
        case .area(let path, let colour, let opacity):
            .area(PaintedArea(path: path, colour: colour, opacity: opacity))
        case .image(let image, let map, let clip): image.layer(images, map, clip: clip)
        }
    }
}

extension PlacedImage {
    /// - Parameter map: where it is moved.
    fileprivate func layer(_ images: PageImages, _ map: AffineMap, clip: Path?) -> LayerContent {
        guard let pixels = images[source], !area.isEmpty else {
            return .area(PaintedArea(path: frame(map, clip: clip), colour: EmptyFrame.colour))
        }
        let whole = self.map(width: pixels.width, height: pixels.height).followed(by: map)
        return .image(PaintedImage(pixels: pixels, map: whole, clip: clip))
    }
}
