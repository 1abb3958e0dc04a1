public import StrokeWire

/// An even shape for a rough one: a line, an ellipse, a rectangle or a triangle, in board units.
public enum EvenShape: Sendable, Equatable {
    case line(from: Vector, to: Vector)
    /// In a box with even sides; a circle where the sides are equal.
    case ellipse(from: Vector, to: Vector)
    /// With even sides; a square where they are equal.
    case rectangle(from: Vector, to: Vector)
    case triangle(Vector, Vector, Vector)

    /// What is drawn in its place; a triangle is freehand ink.
    public var element: Element {
        switch self {
        case .line: .line
        case .ellipse: .ellipse
        case .rectangle: .rectangle
        case .triangle: .freehand
        }
    }

    /// The points that draw it.
    public var places: [Vector] {
        switch self {
        case .line(let from, let to), .ellipse(let from, let to), .rectangle(let from, let to): return [from, to]
        case .triangle(let one, let other, let last):
            // Freehand ink is sharp where points lie on each other, in every style.
            let (repeats, steps) = (6, 12)
            var places: [Vector] = []
            for (from, to) in [(one, other), (other, last), (last, one)] {
                for _ in 1..<repeats { places.append(from) }
                for step in 0..<steps { places.append(from + (to - from) * (Double(step) / Double(steps))) }
            }
            return places + [one]
        }
    }
}

/// Recognizes shapes in rough strokes.
///
/// A shape is asked for: the pen rests at the end of the stroke. What is none of the shapes stays as it was drawn.
public enum ShapeRecognizer {
    /// The pen rests for so many milliseconds.
    public static let restTime = 500.0
    /// While it rests it stays within so many board units where the board is seen in its own size.
    public static let restReach = 4.0
    /// A shape is so large at least, in board units: the longer side of its box.
    static let leastSize = 24.0
    /// Points along the stroke that are looked at.
    private static let count = 48

    /// The rough stroke without the end where the pen rests; nil where it does not rest.
    ///
    /// - Parameters:
    ///   - points: with times.
    ///   - milliseconds: until now, or until the pen was lifted, since the first point.
    ///   - reach: board units within which a pen rests.
    public static func beforeRest(
        _ points: [StrokePoint], until milliseconds: Double, within reach: Double = ShapeRecognizer.restReach
    ) -> ArraySlice<StrokePoint>? {
        guard let last = points.last else { return nil }
        // The place of the last point: a pen that rests moves a little all the time.
        let reach = max(reach, 0)
        let start = points.lastIndex { abs($0.x - last.x) > reach || abs($0.y - last.y) > reach }.map { $0 + 1 } ?? 0
        guard start > 0, let began = points[start].milliseconds, milliseconds - began >= restTime else { return nil }
        return points[...start]
    }

    /// The shape that a stroke is meant to be; nil where it is none.
    public static func shape(of points: some Collection<StrokePoint>) -> EvenShape? {
        let path = resampled(points.map { SIMD2($0.x, $0.y) })
        guard path.count == count, let first = path.first, let last = path.last else { return nil }
        let low = path.reduce(first) { pointwiseMin($0, $1) }
        let high = path.reduce(first) { pointwiseMax($0, $1) }
        let size = (high - low).max()
        guard size >= leastSize else { return nil }
        let length = zip(path, path.dropFirst()).reduce(0.0) { $0 + ($1.1 - $1.0).length }
        let gap = (last - first).length
        if gap > 0.9 * length {
            let off = path.reduce(0.0) { max($0, abs((last - first).cross($1 - first)) / gap) }
            return off < 0.06 * gap ? .line(from: first, to: last) : nil
        }
        guard gap < 0.22 * length else { return nil }
        return closed(path, length: length)
    }

    // MARK: - Closed shapes

    private static func closed(_ path: [Vector], length: Double) -> EvenShape? {
        let hull = path.convexHull
        guard hull.count >= 3 else { return nil }
        let (area, around) = (abs(area(hull)), perimeter(hull))
        guard area > 0 else { return nil }
        // Once around, and nowhere inwards.
        guard length > 0.75 * around, length < 1.3 * around, abs(Self.area(path)) > 0.82 * area else { return nil }
        let triangle = largestTriangle(hull)
        if abs(Self.area(triangle)) > 0.82 * area {
            guard isNear(path, to: triangle, size: around) else { return nil }
            return .triangle(triangle[0], triangle[1], triangle[2])
        }
        let quadrilateral = largestQuadrilateral(hull)
        let part = abs(Self.area(quadrilateral)) / area
        if part > 0.85 {
            guard isNear(path, to: quadrilateral, size: around) else { return nil }
            return rectangle(quadrilateral)
        }
        return part > 0.55 && part < 0.8 ? ellipse(path) : nil
    }

    /// Whether no part of a path is far from the sides of a polygon.
    private static func isNear(_ path: [Vector], to polygon: [Vector], size: Double) -> Bool {
        let distances = path.map { point in
            polygon.indices.reduce(Double.infinity) {
                min($0, point.distance(fromLine: polygon[$1], polygon[($1 + 1) % polygon.count]))
            }
        }
        return distances.reduce(0, +) / Double(distances.count) < 0.016 * size
            && distances.reduce(0) { max($0, $1) } < 0.06 * size
    }

    private static func rectangle(_ corners: [Vector]) -> EvenShape? {
        // Each side lies nearly along an axis.
        for place in 0..<4 {
            let side = corners[(place + 1) % 4] - corners[place]
            let (least, most) = (min(abs(side.x), abs(side.y)), max(abs(side.x), abs(side.y)))
            guard least < 0.3 * most else { return nil }
        }
        // Each side of the box in the middle of its two corners.
        let (xs, ys) = (corners.map { $0.x }.sorted(), corners.map { $0.y }.sorted())
        var from = SIMD2((xs[0] + xs[1]) / 2, (ys[0] + ys[1]) / 2)
        var to = SIMD2((xs[2] + xs[3]) / 2, (ys[2] + ys[3]) / 2)
        even(&from, &to, within: 0.1)
        return .rectangle(from: from, to: to)
    }

    private static func ellipse(_ path: [Vector]) -> EvenShape? {
        let low = path.reduce(path[0]) { pointwiseMin($0, $1) }
        let high = path.reduce(path[0]) { pointwiseMax($0, $1) }
        let (centre, half) = ((low + high) / 2, (high - low) / 2)
        guard half.min() > 0.12 * half.max() else { return nil }
        let offs = path.map { point in
            let place = (point - centre) / half
            return abs(place.length - 1)
        }
        guard offs.reduce(0, +) / Double(offs.count) < 0.12, offs.reduce(0, { max($0, $1) }) < 0.35 else { return nil }
        var (from, to) = (low, high)
        even(&from, &to, within: 0.15)
        return .ellipse(from: from, to: to)
    }

    /// Makes the sides of a box equal where they nearly are.
    private static func even(_ from: inout Vector, _ to: inout Vector, within part: Double) {
        let sides = to - from
        guard abs(sides.x - sides.y) < part * sides.max() else { return }
        let (centre, half) = ((from + to) / 2, (sides.x + sides.y) / 4)
        (from, to) = (centre - half, centre + half)
    }

    // MARK: - Polygons

    /// So many points, equally far apart along the path.
    private static func resampled(_ points: [Vector]) -> [Vector] {
        guard let first = points.first, points.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return [] }
        let length = zip(points, points.dropFirst()).reduce(0.0) { $0 + ($1.1 - $1.0).length }
        guard length > 0 else { return [] }
        let step = length / Double(count - 1)
        var path = [first]
        path.reserveCapacity(count)
        var (at, along) = (first, 0.0)
        for point in points.dropFirst() {
            var left = (point - at).length
            while along + left >= step, path.count < count - 1 {
                at += (point - at) * ((step - along) / left)
                path.append(at)
                (left, along) = ((point - at).length, 0)
            }
            along += left
            at = point
        }
        if let last = points.last { path.append(last) }
        return path
    }

    private static func largestTriangle(_ hull: [Vector]) -> [Vector] {
        var (best, most) = ([hull[0], hull[1], hull[2]], 0.0)
        for one in 0..<hull.count {
            for other in one + 1..<hull.count {
                for last in stride(from: other + 1, to: hull.count, by: 1) {
                    let area = abs((hull[other] - hull[one]).cross(hull[last] - hull[one]))
                    if area > most { (best, most) = ([hull[one], hull[other], hull[last]], area) }
                }
            }
        }
        return best
    }

    private static func largestQuadrilateral(_ hull: [Vector]) -> [Vector] {
        guard hull.count > 3 else { return [hull[0], hull[1], hull[2], hull[2]] }
        var (best, most) = ([hull[0], hull[1], hull[2], hull[3]], 0.0)
        for one in 0..<hull.count {
            for other in stride(from: one + 2, to: hull.count, by: 1) {
                // The farthest on either side of a diagonal.
                var (left, right) = ((place: one, area: 0.0), (place: other, area: 0.0))
                for place in hull.indices where place != one && place != other {
                    let area = abs((hull[other] - hull[one]).cross(hull[place] - hull[one]))
                    if place > one, place < other {
                        if area > left.area { left = (place, area) }
                    } else if area > right.area {
                        right = (place, area)
                    }
                }
                if left.area + right.area > most {
                    most = left.area + right.area
                    best = [hull[one], hull[left.place], hull[other], hull[right.place]]
                }
            }
        }
        return best
    }

    private static func area(_ polygon: [Vector]) -> Double {
        polygon.indices.reduce(0.0) { $0 + polygon[$1].cross(polygon[($1 + 1) % polygon.count]) } / 2
    }

    private static func perimeter(_ polygon: [Vector]) -> Double {
        polygon.indices.reduce(0.0) { $0 + (polygon[($1 + 1) % polygon.count] - polygon[$1]).length }
    }
}
