public import PathGeometry
public import Raster
public import StrokeWire

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
