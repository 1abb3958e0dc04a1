internal import Ink
public import StrokeWire

/// Ink as an InkML file has it: pages of strokes on a board, or on paper.
///
/// Lengths are board units: 1/96 inch where a file has physical units.
public struct InkDocument: Sendable, Equatable {
    /// Size of the board; nil where a file does not say on what it was written.
    public var size: Size?
    /// In the order of the document; at least one, each with another number.
    public var pages: [Page]
    /// What was passed over when it was read, at most one note of each code.
    public internal(set) var notes: [InkMLNote] = []

    public init(size: Size? = nil, pages: [Page] = [Page()]) { (self.size, self.pages) = (size, pages) }

    /// Width and height of a board, both above 0.
    public struct Size: Sendable, Equatable {
        public var width: Double
        public var height: Double

        public init(width: Double, height: Double) { (self.width, self.height) = (width, height) }
    }

    /// The strokes of one page.
    public struct Page: Sendable, Equatable {
        /// 0 … 999.
        public var number: Int
        /// Bottom to top.
        public var strokes: [Stroke]

        public init(number: Int = 0, strokes: [Stroke] = []) {
            (self.number, self.strokes) = (number, strokes)
        }
    }

    /// One stroke, shape or eraser.
    public struct Stroke: Sendable, Equatable {
        /// Its place in the room's log; nil outside of a room.
        public var index: UInt64?
        /// Its author; nil if unknown.
        public var author: String?
        /// A stroke, a shape or an eraser.
        public var element: Element
        /// `0xRRGGBB`.
        public var colour: UInt32
        /// 0, opaque, … 255; above 0 for a highlighter.
        public var transparency: UInt8
        /// That of a board's highlighter.
        public static let highlighter = UInt8((255 * (1 - InkStroke.highlighterOpacity)).rounded())
        /// Line width in board units, above 0; nil where a file has none.
        public var width: Double?
        /// Time of its beginning in milliseconds on the time line of the video; nil if unknown.
        public var time: Int64?
        /// In board units; times are milliseconds since ``time``.
        public var points: [StrokePoint]

        public init(
            index: UInt64? = nil, author: String? = nil, element: Element = .freehand, colour: UInt32 = 0,
            transparency: UInt8 = 0, width: Double? = nil, time: Int64? = nil, points: [StrokePoint]
        ) {
            (self.index, self.author, self.element, self.colour) = (index, author, element, colour)
            (self.transparency, self.width, self.time, self.points) = (transparency, width, time, points)
        }
    }

    /// The strokes of all pages.
    public var strokes: [Stroke] { pages.flatMap(\.strokes) }
}

extension InkDocument {
    /// What a stroke without a width gets, on a board of 1024 units.
    static let defaultWidth = 3.0
    /// Coordinates of a message at most.
    static let greatestCoordinate = 65536.0
    /// Line width of a message at most.
    static let greatestWidth = 512.0

    /// The same ink on a board of another size, in its shape: every stroke has a width, and all that a message may have.
    ///
    /// The document's board becomes as large as fits, in the middle. Where the document has no size, its ink becomes as
    /// large as fits, with a margin of a sixteenth of the board's shorter side. Ink of a board of the same size stays as
    /// it is.
    public func fitted(to target: Size) -> InkDocument {
        var document = self
        document.size = target
        let map = Placement(of: self, on: target)
        let unit = max(target.width, target.height) / 1024
        for page in document.pages.indices {
            for place in document.pages[page].strokes.indices {
                let width = document.pages[page].strokes[place].width.map { $0 * map.scale }
                document.pages[page].strokes[place].width = min(
                    max(width ?? Self.defaultWidth * unit, unit / 16), Self.greatestWidth)
                for point in document.pages[page].strokes[place].points.indices {
                    map.apply(to: &document.pages[page].strokes[place].points[point])
                }
            }
        }
        return document
    }

    /// The smallest box of all points; nil without points.
    fileprivate var bounds: (x: ClosedRange<Double>, y: ClosedRange<Double>)? {
        var bounds: (x: ClosedRange<Double>, y: ClosedRange<Double>)?
        for page in pages {
            for stroke in page.strokes {
                for point in stroke.points {
                    let known = bounds ?? (point.x...point.x, point.y...point.y)
                    bounds = (
                        min(known.x.lowerBound, point.x)...max(known.x.upperBound, point.x),
                        min(known.y.lowerBound, point.y)...max(known.y.upperBound, point.y)
                    )
                }
            }
        }
        return bounds
    }
}

/// Where the ink of a document comes to lie on a board.
private struct Placement {
    var scale = 1.0
    /// A point of the document.
    private var anchor = SIMD2<Double>(0, 0)
    /// Where it comes to lie.
    private var target = SIMD2<Double>(0, 0)

    init(of document: InkDocument, on board: InkDocument.Size) {
        guard document.size != board else { return }
        let space = SIMD2(board.width, board.height)
        target = space / 2
        if let size = document.size {
            let fitting = min(board.width / size.width, board.height / size.height)
            scale = fitting.isFinite && fitting > 0 ? fitting : 1
            anchor = SIMD2(size.width, size.height) / 2
        } else if let bounds = document.bounds {
            let corner = SIMD2(bounds.x.lowerBound, bounds.y.lowerBound)
            let size = SIMD2(bounds.x.upperBound, bounds.y.upperBound) - corner
            let free = space - 2 * min(board.width, board.height) / 16
            let fitting = min(free.x / size.x, free.y / size.y)
            // A single point has no size.
            scale = fitting.isFinite && fitting > 0 ? fitting : 1
            anchor = corner + size / 2
        }
    }

    func apply(to point: inout StrokePoint) {
        let limit = InkDocument.greatestCoordinate
        point.x = min(max((point.x - anchor.x) * scale + target.x, -limit), limit)
        point.y = min(max((point.y - anchor.y) * scale + target.y, -limit), limit)
    }
}
