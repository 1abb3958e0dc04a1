/// A place or a direction in the plane, in any unit. The sign conventions below are those of x to the right and y upwards;
/// with y downwards, left and right change places.
public typealias Point = SIMD2<Double>

extension SIMD2<Double> {
    func dot(_ other: Self) -> Double { x * other.x + y * other.y }
    func cross(_ other: Self) -> Double { x * other.y - y * other.x }
    var length: Double { dot(self).squareRoot() }
    /// The size of the greater coordinate.
    var greatest: Double { Swift.max(abs(x), abs(y)) }
    func interpolated(to other: Self, at t: Double) -> Self { self + (other - self) * t }
}

/// The lesser x and the lesser y of two points; `pointwiseMin` is a call for each.
@inline(__always)
func lesser(_ one: Point, _ other: Point) -> Point { one.replacing(with: other, where: other .< one) }

/// The greater x and the greater y of two points.
@inline(__always)
func greater(_ one: Point, _ other: Point) -> Point { one.replacing(with: other, where: other .> one) }

/// A rectangle with sides along the axes, borders included.
public struct Box: Sendable, Hashable {
    public var lower, upper: Point

    public init(lower: Point, upper: Point) {
        self.lower = lower
        self.upper = upper
    }

    /// A box without a point, from which a union can begin.
    public static let empty = Box(
        lower: Point(repeating: .infinity), upper: Point(repeating: -.infinity))

    public var isEmpty: Bool { !(lower.x <= upper.x && lower.y <= upper.y) }

    /// The longer side; 0 for an empty box.
    public var size: Double { isEmpty ? 0 : (upper - lower).max() }

    public func union(_ other: Box) -> Box {
        Box(lower: lesser(lower, other.lower), upper: greater(upper, other.upper))
    }

    public mutating func extend(to point: Point) {
        lower = lesser(lower, point)
        upper = greater(upper, point)
    }

    public func intersects(_ other: Box) -> Bool {
        lower.x <= other.upper.x && other.lower.x <= upper.x && lower.y <= other.upper.y && other.lower.y <= upper.y
    }

    public func contains(_ point: Point) -> Bool {
        lower.x <= point.x && point.x <= upper.x && lower.y <= point.y && point.y <= upper.y
    }

    func inset(by distance: Double) -> Box { Box(lower: lower + distance, upper: upper - distance) }
}

/// An affine map: x' = a·x + c·y + e, y' = b·x + d·y + f.
public struct AffineMap: Sendable, Equatable {
    public var a, b, c, d, e, f: Double

    public init(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ e: Double, _ f: Double) {
        (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
    }

    public static let identity = AffineMap(1, 0, 0, 1, 0, 0)

    public func callAsFunction(_ point: Point) -> Point {
        Point(a * point.x + c * point.y + e, b * point.x + d * point.y + f)
    }

    /// This map, and then another one.
    public func followed(by other: AffineMap) -> AffineMap {
        let origin = other(Point(e, f))
        return AffineMap(
            other.a * a + other.c * b, other.b * a + other.d * b, other.a * c + other.c * d, other.b * c + other.d * d,
            origin.x, origin.y)
    }

    /// By which factor areas grow; below 0 where the map mirrors.
    public var determinant: Double { a * d - b * c }
}

/// A straight line or a Bézier curve of degree 2 or 3, with its parameter from 0 at the start to 1 at the end.
public enum Segment: Sendable, Equatable {
    case line(Point, Point)
    case quadratic(Point, control: Point, Point)
    case cubic(Point, control1: Point, control2: Point, Point)

    public var start: Point {
        switch self {
        case .line(let start, _), .quadratic(let start, _, _), .cubic(let start, _, _, _): start
        }
    }

    public var end: Point {
        switch self {
        case .line(_, let end), .quadratic(_, _, let end), .cubic(_, _, _, let end): end
        }
    }

    public func point(at t: Double) -> Point {
        switch self {
        case .line(let p, let q): return p.interpolated(to: q, at: t)
        case .quadratic(let p, let c, let q):
            return p.interpolated(to: c, at: t).interpolated(to: c.interpolated(to: q, at: t), at: t)
        case .cubic: return cubic.point(at: t)
        }
    }

    public var reversed: Segment {
        switch self {
        case .line(let p, let q): .line(q, p)
        case .quadratic(let p, let c, let q): .quadratic(q, control: c, p)
        case .cubic(let p, let c1, let c2, let q): .cubic(q, control1: c2, control2: c1, p)
        }
    }

    func mapped(_ map: (Point) -> Point) -> Segment {
        switch self {
        case .line(let p, let q): .line(map(p), map(q))
        case .quadratic(let p, let c, let q): .quadratic(map(p), control: map(c), map(q))
        case .cubic(let p, let c1, let c2, let q): .cubic(map(p), control1: map(c1), control2: map(c2), map(q))
        }
    }

    /// The part between two parameters, of the same degree. The ends at 0 and 1 stay exactly where they are.
    public func subsegment(from low: Double, to high: Double) -> Segment {
        if low == 0, high == 1 { return self }
        let first = low == 0 ? start : point(at: low)
        let last = high == 1 ? end : point(at: high)
        switch self {
        case .line: return .line(first, last)
        case .quadratic(let p, let c, let q):
            // The blossom of the curve at (low, high).
            let control = p.interpolated(to: c, at: low).interpolated(to: c.interpolated(to: q, at: low), at: high)
            return .quadratic(first, control: control, last)
        case .cubic:
            let part = cubic.part(from: low, to: high)
            return .cubic(first, control1: part.p1, control2: part.p2, last)
        }
    }

    /// The same curve with other ends; the controls next to them move with them.
    func moved(start newStart: Point, end newEnd: Point) -> Segment {
        switch self {
        case .line: .line(newStart, newEnd)
        case .quadratic(let p, let c, let q):
            .quadratic(newStart, control: c + ((newStart - p) + (newEnd - q)) * 0.5, newEnd)
        case .cubic(let p, let c1, let c2, let q):
            .cubic(newStart, control1: c1 + (newStart - p), control2: c2 + (newEnd - q), newEnd)
        }
    }

    /// The smallest box with the whole segment.
    public var bounds: Box {
        var box = Box(lower: start, upper: start)
        box.extend(to: end)
        guard controlBounds != box else { return box }
        for t in extrema { box.extend(to: point(at: t)) }
        return box
    }

    /// The box of all control points, which has the segment inside.
    public var controlBounds: Box {
        var box = Box(lower: start, upper: start)
        box.extend(to: end)
        switch self {
        case .line: break
        case .quadratic(_, let c, _): box.extend(to: c)
        case .cubic(_, let c1, let c2, _):
            box.extend(to: c1)
            box.extend(to: c2)
        }
        return box
    }

    /// The part of a closed contour's area that this segment adds, seen from a point: ½∫(x dy − y dx), exact for each degree.
    func area(from origin: Point) -> Double {
        switch self {
        case .line(let p, let q): return (p - origin).cross(q - origin) / 2
        case .quadratic(let p, let c, let q):
            let (p, c, q) = (p - origin, c - origin, q - origin)
            return (2 * p.cross(c) + 2 * c.cross(q) + p.cross(q)) / 6
        case .cubic(let p, let c1, let c2, let q):
            let (p, c1, c2, q) = (p - origin, c1 - origin, c2 - origin, q - origin)
            let first = 6 * p.cross(c1) + 3 * p.cross(c2) + p.cross(q)
            return (first + 3 * c1.cross(c2) + 3 * c1.cross(q) + 6 * c2.cross(q)) / 20
        }
    }

    /// The parameters between 0 and 1, in order, at which x or y turns: at most 4. Between them the segment is monotone in
    /// both.
    var extrema: [Double] {
        switch self {
        case .line: return []
        case .quadratic(let p, let c, let q):
            let (d0, d1) = (c - p, q - c)
            return [d0.x / (d0.x - d1.x), d0.y / (d0.y - d1.y)].filter { $0 > 0 && $0 < 1 }.sorted()
        case .cubic(let p, let c1, let c2, let q):
            let (d0, d1, d2) = (c1 - p, c2 - c1, q - c2)
            var roots: [Double] = []
            for axis in 0..<2 {
                // (1−t)²·d0 + 2t(1−t)·d1 + t²·d2 = 0 as a·t² + 2h·t + c.
                let (a, h, c) = (d0[axis] - 2 * d1[axis] + d2[axis], d1[axis] - d0[axis], d0[axis])
                let discriminant = h * h - a * c
                guard discriminant > 0 else { continue }
                let sum = -(h + (h < 0 ? -1 : 1) * discriminant.squareRoot())
                roots.append(sum / a)
                roots.append(c / sum)
            }
            return roots.filter { $0 > 0 && $0 < 1 }.sorted()
        }
    }

    /// Whether x and y of the control points, and so those of the segment, only grow or only shrink: then there are no
    /// ``extrema``.
    var isClearlyMonotone: Bool {
        func isBetween(_ place: Point, _ one: Point, _ other: Point) -> Bool {
            let turn = (place - one) * (other - place)
            return turn.x >= 0 && turn.y >= 0
        }
        switch self {
        case .line: return true
        case .quadratic(let p, let c, let q): return isBetween(c, p, q)
        case .cubic(let p, let c1, let c2, let q):
            return isBetween(c1, p, q) && isBetween(c2, p, q) && isBetween(c1, p, c2) && isBetween(c2, c1, q)
        }
    }

    /// Whether all coordinates are numbers and finite.
    public var isFinite: Bool {
        // 0 times what is not is not a number.
        switch self {
        case .line(let p, let q): ((p + q) * 0).sum() == 0
        case .quadratic(let p, let c, let q): ((p + c + q) * 0).sum() == 0
        case .cubic(let p, let c1, let c2, let q): ((p + c1 + c2 + q) * 0).sum() == 0
        }
    }

    /// The same curve as a cubic.
    var cubic: Cubic {
        switch self {
        case .line(let p, let q):
            Cubic(p, p.interpolated(to: q, at: 1.0 / 3), p.interpolated(to: q, at: 2.0 / 3), q)
        case .quadratic(let p, let c, let q):
            Cubic(p, p.interpolated(to: c, at: 2.0 / 3), q.interpolated(to: c, at: 2.0 / 3), q)
        case .cubic(let p, let c1, let c2, let q): Cubic(p, c1, c2, q)
        }
    }
}

/// A Bézier curve of degree 3, the common form of all segments in the search for intersections.
struct Cubic {
    var p0, p1, p2, p3: Point

    init(_ p0: Point, _ p1: Point, _ p2: Point, _ p3: Point) {
        (self.p0, self.p1, self.p2, self.p3) = (p0, p1, p2, p3)
    }

    @inline(__always)
    func point(at t: Double) -> Point {
        let s = 1 - t
        return (p0 * s + p1 * (3 * t)) * (s * s) + (p2 * (3 * s) + p3 * t) * (t * t)
    }

    func derivative(at t: Double) -> Point {
        let s = 1 - t
        let ends = (p1 - p0) * (s * s) + (p3 - p2) * (t * t)
        return (ends + (p2 - p1) * (2 * s * t)) * 3
    }

    func split() -> (Cubic, Cubic) {
        let (a, b, c) = ((p0 + p1) * 0.5, (p1 + p2) * 0.5, (p2 + p3) * 0.5)
        let (d, e) = ((a + b) * 0.5, (b + c) * 0.5)
        let middle = (d + e) * 0.5
        return (Cubic(p0, a, d, middle), Cubic(middle, e, c, p3))
    }

    /// The part between two parameters, by blossoming.
    func part(from u: Double, to v: Double) -> Cubic {
        func blossom(_ a: Double, _ b: Double, _ c: Double) -> Point {
            let (q0, q1, q2) = (
                p0.interpolated(to: p1, at: a), p1.interpolated(to: p2, at: a), p2.interpolated(to: p3, at: a)
            )
            let (r0, r1) = (q0.interpolated(to: q1, at: b), q1.interpolated(to: q2, at: b))
            return r0.interpolated(to: r1, at: c)
        }
        return Cubic(blossom(u, u, u), blossom(u, u, v), blossom(u, v, v), blossom(v, v, v))
    }

    var bounds: Box {
        Box(
            lower: lesser(lesser(p0, p1), lesser(p2, p3)),
            upper: greater(greater(p0, p1), greater(p2, p3)))
    }

    /// A bound of the distance between the curve and its chord.
    var flatness: Double {
        let (first, second) = (p0 - p1 * 2 + p2, p1 - p2 * 2 + p3)
        return 0.75 * max(first.dot(first), second.dot(second)).squareRoot()
    }
}
