import Ink
import PathGeometry
import TestSupport

/// Paths of all kinds about a square of 0 … 100.
enum RandomPath {
    /// A step that coordinates are multiples of; nil, a third of the time, for none.
    static func step(using random: inout SeededGenerator) -> Double? { random.pick([nil, nil, 1, 5, 10, 25]) }

    /// Two closed paths of one step.
    static func pair(using random: inout SeededGenerator) -> (Path, Path) {
        let step = step(using: &random)
        return (closed(step: step, using: &random), closed(step: step, using: &random))
    }

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
        lines.reduce(Double.infinity) { min($0, place.distance(fromLine: $1.0, $1.1)) }
    }
}

/// Whether two lists of shapes are the same but for rounding.
///
/// Shapes that touch in a point, or lie so near to each other that the tolerance decides whether they touch, may be one in
/// one list and several in the other, joined through a gap in the border between them. So shapes that overlap are compared
/// together: they have the same area in both lists, and wherever a shape has a border, the other list has one too, but for
/// such gaps.
enum ShapeComparison {
    /// How far from the border of the other list a border may be, in a square of 100: half a gap. Of curves that touch and
    /// turn the same way as much as 0.5 is nearer than the tolerance.
    private static let halfGap = 0.25

    static func areSame(_ one: [Path], _ other: [Path], areaSlack: Double) -> Bool {
        let (areas, otherAreas) = (one.map(\.area).sorted(), other.map(\.area).sorted())
        if areas.count == otherAreas.count, zip(areas, otherAreas).allSatisfy({ abs($0 - $1) <= areaSlack }) {
            return true
        }
        return groups(one, other, areaSlack).allSatisfy { group in
            let area = group.one.map { one[$0].area }.reduce(0, +)
            let otherArea = group.other.map { other[$0].area }.reduce(0, +)
            return abs(area - otherArea) <= 2 * areaSlack
        } && hasBorders(of: one, other, areaSlack) && hasBorders(of: other, one, areaSlack)
    }

    /// The shapes of both lists that overlap each other, directly or through others.
    private static func groups(_ one: [Path], _ other: [Path], _ areaSlack: Double) -> [(one: [Int], other: [Int])] {
        var overlaps = [[Int]](repeating: [], count: one.count + other.count)
        for (index, shape) in one.enumerated() {
            for (otherIndex, otherShape) in other.enumerated()
            where shape.bounds.intersects(otherShape.bounds) && shape.intersection(otherShape).area > areaSlack / 2 {
                overlaps[index].append(one.count + otherIndex)
                overlaps[one.count + otherIndex].append(index)
            }
        }
        var (groups, isDone): ([(one: [Int], other: [Int])], Set<Int>) = ([], [])
        for first in overlaps.indices where isDone.insert(first).inserted {
            var (members, next) = ([first], 0)
            while next < members.count {
                members += overlaps[members[next]].filter { isDone.insert($0).inserted }
                next += 1
            }
            let otherMembers = members.filter { $0 >= one.count }.map { $0 - one.count }
            groups.append((members.filter { $0 < one.count }, otherMembers))
        }
        return groups
    }

    /// Whether the shapes of a list have borders wherever those of another one have, slivers of that one apart.
    private static func hasBorders(of one: [Path], _ other: [Path], _ areaSlack: Double) -> Bool {
        let borders = Borders(other, tolerance: 0.01)
        let contours = one.filter { $0.area > areaSlack }.flatMap(\.contours)
        return contours.flatMap(\.segments).allSatisfy { segment in
            (0...64).allSatisfy { borders.distance(from: segment.point(at: Double($0) / 64)) <= halfGap }
        }
    }
}
