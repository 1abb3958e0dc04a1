import PathGeometry
import TestSupport

/// Paths of all kinds about a square of 0 … 100.
enum RandomPath {
    /// - Parameter step: coordinates are multiples of it, so that coincidences are common; nil for any.
    static func closed(step: Double?, using random: inout SeededGenerator) -> Path {
        let count = random.pick([1, 1, 1, 2, 3])
        return Path((0..<count).flatMap { _ in contours(step: step, using: &random) })
    }

    static func place(step: Double?, using random: inout SeededGenerator) -> Point {
        let place = Point(Double.random(in: 0...100, using: &random), Double.random(in: 0...100, using: &random))
        guard let step else { return place }
        return (place / step).rounded(.toNearestOrEven) * step
    }

    private static func contours(step: Double?, using random: inout SeededGenerator) -> [Contour] {
        func next() -> Point { place(step: step, using: &random) }
        switch random.int(0..<6) {
        case 0, 1:
            let (one, other) = (next(), next())
            let (low, size) = (pointwiseMin(one, other), pointwiseMax(one, other) - pointwiseMin(one, other))
            let path =
                random.chance(1, in: 2)
                ? Path(ellipse: low.x, low.y, width: size.x, height: size.y)
                : Path(rectangle: low.x, low.y, width: size.x, height: size.y)
            return (random.chance(1, in: 3) ? path.reversed : path).contours
        case 2: return [Contour(polyline: (0..<random.int(3...9)).map { _ in next() }, closed: true)]
        default: return [curved(closed: true, step: step, using: &random)]
        }
    }

    static func curved(closed: Bool, step: Double?, using random: inout SeededGenerator) -> Contour {
        var contour = Contour(start: place(step: step, using: &random))
        for _ in 0..<random.int(1...5) {
            // Now and then a point again, for cusps, straight curves and segments of no length.
            let known = contour.end
            func next() -> Point { random.chance(1, in: 8) ? known : place(step: step, using: &random) }
            switch random.int(0..<3) {
            case 0: contour.addLine(to: next())
            case 1: contour.addQuadratic(control: next(), to: next())
            default: contour.addCubic(control1: next(), control2: next(), to: next())
            }
        }
        if closed { contour.close() }
        return contour
    }
}

/// Lines beside which a place is far enough from to be told inside from outside.
struct Borders {
    private let lines: [(Point, Point)]

    init(_ paths: [Path], tolerance: Double) {
        lines = paths.flatMap { path in
            path.contours.flatMap { contour in
                var points = contour.flattened(tolerance: tolerance)
                points.append(contour.start)
                return zip(points, points.dropFirst()).map { ($0, $1) }
            }
        }
    }

    func distance(from place: Point) -> Double {
        lines.reduce(Double.infinity) { distance, line in
            let (way, to) = (line.1 - line.0, place - line.0)
            let square = (way * way).sum()
            let t = square > 0 ? min(max((way * to).sum() / square, 0), 1) : 0
            let gap = to - way * t
            return min(distance, (gap * gap).sum().squareRoot())
        }
    }
}
