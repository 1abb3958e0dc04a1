import PathGeometry

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
