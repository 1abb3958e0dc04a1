/// Which places a path fills, by its winding number around them.
public enum FillRule: Sendable, CaseIterable {
    /// Any but 0.
    case nonzero
    /// Odd ones.
    case evenOdd

    public func isInside(_ winding: Int) -> Bool {
        switch self {
        case .nonzero: winding != 0
        case .evenOdd: winding & 1 != 0
        }
    }
}

/// Segments of which each begins where the last one ends.
public struct Contour: Sendable, Equatable {
    public private(set) var segments: [Segment]
    /// Whether the last segment leads back to the start.
    public private(set) var isClosed: Bool

    private var first: Point

    /// An open contour without segments.
    public init(start: Point) {
        segments = []
        isClosed = false
        first = start
    }

    /// - Parameter segments: each begins where the last one ends; what is not so is joined by a line.
    public init(_ segments: [Segment], closed: Bool) {
        self.init(start: segments.first?.start ?? .zero)
        self.segments.reserveCapacity(segments.count)
        for segment in segments {
            if segment.start != end { addLine(to: segment.start) }
            self.segments.append(segment)
        }
        if closed { close() }
    }

    /// A line through points.
    public init(polyline points: [Point], closed: Bool) {
        self.init(start: points.first ?? .zero)
        for point in points.dropFirst() { addLine(to: point) }
        if closed { close() }
    }

    public var start: Point { first }
    public var end: Point { segments.last?.end ?? first }

    public mutating func addLine(to point: Point) { segments.append(.line(end, point)) }

    public mutating func addQuadratic(control: Point, to point: Point) {
        segments.append(.quadratic(end, control: control, point))
    }

    public mutating func addCubic(control1: Point, control2: Point, to point: Point) {
        segments.append(.cubic(end, control1: control1, control2: control2, point))
    }

    /// Leads back to the start, by a line unless it is there already.
    public mutating func close() {
        if end != start { addLine(to: start) }
        isClosed = true
    }

    /// The contour as it is filled: closed.
    var filled: Contour {
        var contour = self
        if !isClosed { contour.close() }
        return contour
    }

    /// The smallest box with the whole contour; the empty one without segments.
    public var bounds: Box { segments.reduce(into: Box.empty) { $0 = $0.union($1.bounds) } }

    /// The signed area inside, positive where the contour turns from +x to +y; of an open contour, as if it were closed by
    /// a line. Exact but for rounding (Green's theorem).
    public var area: Double { segments.reduce(0) { $0 + $1.area(from: first) } }

    public var reversed: Contour {
        segments.isEmpty ? self : Contour(segments.reversed().map { $0.reversed }, closed: isClosed)
    }

    public func transformed(by map: AffineMap) -> Contour { mapped { map($0) } }

    func mapped(_ map: (Point) -> Point) -> Contour {
        var contour = self
        contour.segments = segments.map { $0.mapped(map) }
        contour.first = map(first)
        return contour
    }
}

/// Contours that are filled or cut together: a value of lines and Bézier curves of degree 2 and 3.
///
/// Contours whose coordinates are not finite, or are greater than 1e12, have no part in intersections, cutting and set
/// operations.
public struct Path: Sendable, Equatable {
    public var contours: [Contour]

    public init(_ contours: [Contour] = []) { self.contours = contours }

    /// A closed polygon.
    public init(polygon points: [Point]) { contours = [Contour(polyline: points, closed: true)] }

    /// A rectangle that begins at its origin and goes to +x first.
    public init(rectangle x: Double, _ y: Double, width: Double, height: Double) {
        self.init(polygon: [
            Point(x, y), Point(x + width, y), Point(x + width, y + height), Point(x, y + height),
        ])
    }

    /// An ellipse of four cubics in a rectangle, with the usual 0.5522847 of the radius from ends to controls; from the
    /// greatest x to +y.
    public init(ellipse x: Double, _ y: Double, width: Double, height: Double) {
        let radius = Point(width, height) / 2
        let centre = Point(x, y) + radius
        let arm = 0.5522847
        func at(_ x: Double, _ y: Double) -> Point { centre + radius * Point(x, y) }
        var contour = Contour(start: at(1, 0))
        contour.addCubic(control1: at(1, arm), control2: at(arm, 1), to: at(0, 1))
        contour.addCubic(control1: at(-arm, 1), control2: at(-1, arm), to: at(-1, 0))
        contour.addCubic(control1: at(-1, -arm), control2: at(-arm, -1), to: at(0, -1))
        contour.addCubic(control1: at(arm, -1), control2: at(1, -arm), to: at(1, 0))
        contour.close()
        contours = [contour]
    }

    public var isEmpty: Bool { contours.allSatisfy { $0.segments.isEmpty } }

    /// The smallest box with the whole path; the empty one without segments.
    public var bounds: Box { contours.reduce(into: Box.empty) { $0 = $0.union($1.bounds) } }

    /// The box of all control points, which has the path inside; the empty one without segments. Faster than ``bounds``.
    public var controlBounds: Box {
        contours.reduce(into: Box.empty) { box, contour in
            for segment in contour.segments { box = box.union(segment.controlBounds) }
        }
    }

    /// The sum of the contours' signed areas: with windings 0 and 1 alone, the area of what is filled.
    public var area: Double { contours.reduce(0) { $0 + $1.area } }

    public var reversed: Path { Path(contours.reversed().map { $0.reversed }) }

    public func transformed(by map: AffineMap) -> Path {
        Path(contours.map { $0.transformed(by: map) })
    }

    /// The path with all coordinates limited to a size; infinite ones become it too.
    public func clamped(to limit: Double) -> Path {
        let box = controlBounds
        guard !(box.lower.min() >= -limit && box.upper.max() <= limit) else { return self }
        return Path(
            contours.map { contour in
                contour.mapped { lesser(greater($0, Point(repeating: -limit)), Point(repeating: limit)) }
            })
    }

    /// How often the contours, closed by lines where they are open, turn around a place from +x to +y. On a contour it is
    /// that of one side. O(segments).
    public func winding(around place: Point) -> Int {
        var winding = 0
        for contour in contours {
            for segment in contour.segments { winding += segment.crossings(rightOf: place) }
            if contour.end != contour.start {
                winding += Segment.line(contour.end, contour.start).crossings(rightOf: place)
            }
        }
        return winding
    }

    /// Whether a place is filled. O(segments).
    public func contains(_ place: Point, fillRule: FillRule = .nonzero) -> Bool {
        fillRule.isInside(winding(around: place))
    }
}

extension Segment {
    /// How often the segment crosses the ray from a place to +x towards greater y, less those towards lower y.
    func crossings(rightOf place: Point) -> Int {
        let box = controlBounds
        guard box.lower.y <= place.y, place.y < box.upper.y, box.upper.x > place.x else { return 0 }
        if box.lower.x > place.x { return (end.y > place.y ? 1 : 0) - (start.y > place.y ? 1 : 0) }
        if case .line = self {
            return MonotoneCurve(line: start, end).crossing(rightOf: place, axis: 1).direction
        }
        var crossings = 0
        var low = 0.0
        for high in extrema + [1] {
            let piece = MonotoneCurve(self, from: low, to: high)
            crossings += piece.crossing(rightOf: place, axis: 1).direction
            low = high
        }
        return crossings
    }
}

extension Segment {
    /// How many chords of equal parameter steps are needed to stay within a distance of the curve, 1 … 4096: the second
    /// differences bound it (Wang, 1984, The division process for Bézier curves).
    fileprivate func chordCount(tolerance: Double) -> Int {
        let bend: Double
        switch self {
        case .line: return 1
        case .quadratic(let p, let c, let q): bend = (p - c * 2 + q).length / 4
        case .cubic(let p, let c1, let c2, let q):
            bend = max((p - c1 * 2 + c2).length, (c1 - c2 * 2 + q).length) * 0.75
        }
        let count = (bend / tolerance).squareRoot().rounded(.up)
        // Not a number without a tolerance above 0.
        return count < 4096 ? max(Int(count), 1) : 4096
    }
}

extension Contour {
    /// Points on the contour, its start and end among them, whose chords stay within a distance of it; of a closed contour
    /// the last one is the first. At most 4096 a segment.
    ///
    /// - Parameter tolerance: above 0, in the unit of the contour.
    public func flattened(tolerance: Double) -> [Point] {
        var points = [start]
        for segment in segments {
            let count = segment.chordCount(tolerance: tolerance)
            for step in 1..<max(count, 1) { points.append(segment.point(at: Double(step) / Double(count))) }
            points.append(segment.end)
        }
        return points
    }
}
