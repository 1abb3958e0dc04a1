public import PathGeometry
public import Raster
public import StrokeWire

/// What a page shows for one operation.
public struct PageEntry: Sendable, Equatable {
    /// The kind of the entry, with its data.
    public enum Content: Sendable, Equatable {
        /// Ink, or an eraser, which removes what is below it.
        case stroke(PaintedStroke)
        /// An image or a text: pixels, or glyphs in a document, in a box.
        case image(PlacedImage)
        /// Moves, copies or removes what is below it and inside a path.
        case lasso(Lasso)
    }

    /// The index of the operation.
    public var id: UInt64
    public var content: Content

    public init(id: UInt64, _ content: Content) { (self.id, self.content) = (id, content) }
}

/// The content of an image box: a page of an asset, or a text.
public enum PictureSource: Sendable, Hashable {
    case asset(ImageSource)
    case text(TextSource)
}

/// A text, and the box that it is laid out in by the rules of `BoardText`.
public struct TextSource: Sendable, Hashable {
    public var text: String
    public var colour: RGB
    /// Of the box, in board units.
    public var width: Double
    public var height: Double

    public init(_ text: String, colour: RGB, width: Double, height: Double) {
        (self.text, self.colour, self.width, self.height) = (text, colour, width, height)
    }

    /// How large a line is in the box, in board units.
    /// - Parameters:
    ///   - width: of the widest line, in heights of a line.
    ///   - lines: how many there are.
    public func lineHeight(width widest: Double, lines: Int) -> Double {
        min(height / Double(max(lines, 1)), widest > 0 ? width / widest : .infinity)
    }

    /// The pixels that a picture of it takes.
    /// - Parameters:
    ///   - scale: pixels a board unit of what it is drawn on. Twice as many, nearly, make it sharp wherever it lies.
    ///   - most: how many pixels there may be.
    public func pixelSize(scale: Double, most: Int = TextSource.mostPixels) -> (width: Int, height: Int) {
        let wanted = 1.9 * scale * max(width * height, 1e-9).squareRoot()
        let part = min(1.9 * scale, 1.9 * scale * Double(most).squareRoot() / wanted)
        func side(_ length: Double) -> Int { Int(min(max(length * part, 1), Double(Self.longestSide)).rounded(.up)) }
        return (side(width), side(height))
    }

    /// Pixels of a text's picture at most.
    public static let mostPixels = 1 << 21
    private static let longestSide = 4096
}

/// Pixels by what they show. What is missing is drawn as an empty frame.
public struct PageImages: Sendable, ExpressibleByDictionaryLiteral {
    private var pixels: [PictureSource: ImagePixels] = [:]
    /// Draws texts that have no pixels here when they are needed.
    public var drawText: (@Sendable (TextSource) -> ImagePixels?)?

    public init() {}

    public init(dictionaryLiteral elements: (ImageSource, ImagePixels)...) {
        for (source, image) in elements { self[source] = image }
    }

    public subscript(source: ImageSource) -> ImagePixels? {
        get { pixels[.asset(source)] }
        set { pixels[.asset(source)] = newValue }
    }

    public subscript(source: PictureSource) -> ImagePixels? {
        get {
            if case .text(let text) = source, let drawText { return drawText(text) }
            return pixels[source]
        }
        set { pixels[source] = newValue }
    }

    public var isEmpty: Bool { pixels.isEmpty }
    public var sources: [PictureSource] { Array(pixels.keys) }
    /// Of all pixels here.
    public var byteCount: Int { pixels.values.reduce(0) { $0 + $1.bytes.count } }

    /// A number for the pixels of an image; another one where they are missing.
    func id(of source: PictureSource) -> UInt64 {
        if case .text = source, drawText != nil { return 0 }
        let image = pixels[source]
        return splitMix64Finalizer(UInt64(image?.width ?? 0) << 32 | UInt64(image?.height ?? 0) | 1 << 63)
    }
}

/// A page of an asset, or a text, in a rectangle.
public struct PlacedImage: Sendable, Hashable {
    public var source: PictureSource
    /// In board units.
    public var box: Box

    /// - Parameters:
    ///   - corner, opposite: any two opposite corners of the rectangle.
    public init(_ source: ImageSource, from corner: Point, to opposite: Point) {
        self.source = .asset(source)
        box = Box(from: corner, to: opposite)
    }

    /// - Parameters:
    ///   - corner, opposite: any two opposite corners of the rectangle.
    public init(text: String, colour: RGB, from corner: Point, to opposite: Point) {
        box = Box(from: corner, to: opposite)
        let size = box.upper - box.lower
        source = .text(TextSource(text, colour: colour, width: size.x, height: size.y))
    }

    /// The page of an asset that it shows.
    public var asset: ImageSource? {
        if case .asset(let source) = source { source } else { nil }
    }

    /// The text that it shows.
    public var text: TextSource? {
        if case .text(let text) = source { text } else { nil }
    }

    private var size: Point { box.upper - box.lower }

    /// In board units.
    public var width: Double { size.x }
    public var height: Double { size.y }

    /// The rectangle; empty where it has no area.
    package var area: Path {
        guard size.min() > 0 else { return Path() }
        return Path(rectangle: box.lower.x, box.lower.y, width: size.x, height: size.y)
    }

    /// What stands where the pixels are missing, after a map.
    package func frame(_ map: AffineMap, clip: Path? = nil) -> Path {
        area.isEmpty ? Path() : EmptyFrame.path(around: box, map: map, clip: clip)
    }

    /// From pixels of the picture to board units.
    package func map(width: Int, height: Int) -> AffineMap {
        AffineMap(size.x / Double(width), 0, 0, size.y / Double(height), box.lower.x, box.lower.y)
    }
}

extension Box {
    /// - Parameters:
    ///   - corner, opposite: any two opposite corners.
    init(from corner: Point, to opposite: Point) {
        self.init(
            lower: Point(min(corner.x, opposite.x), min(corner.y, opposite.y)),
            upper: Point(max(corner.x, opposite.x), max(corner.y, opposite.y)))
    }
}

extension PlacedImage {
    /// The least and the greatest width in pixels that pages of assets are fetched with for pictures of boards.
    public static let fetchedWidths = 64...2048

    /// A width that is enough for a number of columns, of those of which there are two in each octave, so that few are
    /// fetched.
    public static func fetchedWidth(for columns: Double) -> Int {
        var width = fetchedWidths.lowerBound
        while Double(width) < columns, width < fetchedWidths.upperBound {
            if Double(width / 2 * 3) >= columns { return width / 2 * 3 }
            width *= 2
        }
        return width
    }
}
