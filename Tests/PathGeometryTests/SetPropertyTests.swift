// Unions, differences and cuts of areas: cases with known results, properties of random paths by seed, degenerate
// paths and budgets, and the areas of Skia where `make paths` has installed it.

import PathGeometry
import TestSupport
import Testing

/// Properties of any paths.
@Suite(.timeLimit(.minutes(5))) struct SetPropertyTests {
    /// Areas may differ by what lies within the tolerance of borders.
    private static let areaSlack = 0.01

    private func isNear(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= Self.areaSlack }

    @Test func partsAddUpAndAgreeWithWindings() {
        for seed in TestSeed.choose(1500) {
            var random = SeededGenerator(seed: seed)
            let (one, other) = RandomPath.pair(using: &random)
            let (rule, otherRule) = (random.pick(FillRule.allCases), random.pick(FillRule.allCases))
            let union = one.union(other, fillRule: rule, otherFillRule: otherRule)
            let both = one.intersection(other, fillRule: rule, otherFillRule: otherRule)
            let rest = one.difference(other, fillRule: rule, otherFillRule: otherRule)
            let otherRest = other.difference(one, fillRule: otherRule, otherFillRule: rule)
            let (area, otherArea) = (one.simplified(fillRule: rule).area, other.simplified(fillRule: otherRule).area)
            #expect(isNear(union.area + both.area, area + otherArea), "seed \(seed)")
            #expect(isNear(rest.area + both.area, area), "seed \(seed)")
            #expect(isNear(otherRest.area + both.area, otherArea), "seed \(seed)")
            let cutter = PathCutter(other, fillRule: otherRule)
            let parts = cutter.cut(one)
            #expect(isNear(parts.inside.area + parts.outside.area, one.area), "seed \(seed)")
            let shapes = one.shapes(cutBy: other, fillRule: rule)
            #expect(isNear(shapes.map(\.area).reduce(0, +), area), "seed \(seed)")

            let borders = Borders([one, other], tolerance: 1e-3)
            for _ in 0..<40 {
                let place = Point(
                    Double.random(in: -10...110, using: &random), Double.random(in: -10...110, using: &random))
                guard borders.distance(from: place) > 5e-3 else { continue }
                let (isIn, isInOther) = (
                    one.contains(place, fillRule: rule), other.contains(place, fillRule: otherRule)
                )
                for result in FillRule.allCases {
                    #expect(union.contains(place, fillRule: result) == (isIn || isInOther), "seed \(seed)")
                    #expect(both.contains(place, fillRule: result) == (isIn && isInOther), "seed \(seed)")
                    #expect(rest.contains(place, fillRule: result) == (isIn && !isInOther), "seed \(seed)")
                }
                #expect(cutter.contains(place) == isInOther, "seed \(seed)")
                #expect(
                    parts.inside.winding(around: place) == (isInOther ? one.winding(around: place) : 0), "seed \(seed)")
                #expect(
                    parts.outside.winding(around: place) == (isInOther ? 0 : one.winding(around: place)), "seed \(seed)"
                )
                #expect(shapes.count { $0.contains(place) } == (isIn ? 1 : 0), "seed \(seed)")
            }
        }
    }

    /// A vertex near the flat end of a curve, in another band of vertices than the end.
    private static let foundSeed: UInt64 = 804_090_338

    @Test func orderDirectionAndStartMakeNoDifference() {
        for seed in TestSeed.choose(300) + [Self.foundSeed] {
            var random = SeededGenerator(seed: seed)
            let (one, other) = RandomPath.pair(using: &random)
            let changed = Path(
                one.contours.map { contour in
                    let first = random.int(0..<contour.segments.count)
                    return Contour(Array(contour.segments[first...] + contour.segments[..<first]), closed: true)
                }.shuffled(using: &random))
            let rule = random.pick(FillRule.allCases)
            let both = one.intersection(other, fillRule: rule).area
            #expect(isNear(changed.intersection(other, fillRule: rule).area, both), "seed \(seed)")
            #expect(isNear(one.reversed.intersection(other.reversed, fillRule: rule).area, both), "seed \(seed)")
            #expect(isNear(other.intersection(one, otherFillRule: rule).area, both), "seed \(seed)")
            let shapes = one.shapes(cutBy: other, fillRule: rule)
            let same = changed.shapes(cutBy: other.reversed, fillRule: rule)
            #expect(ShapeComparison.areSame(shapes, same, areaSlack: Self.areaSlack), "seed \(seed)")
        }
    }

    @Test func sizeAndPlaceMakeNoDifference() {
        for seed in TestSeed.choose(300) {
            var random = SeededGenerator(seed: seed)
            let (one, other) = RandomPath.pair(using: &random)
            let both = one.intersection(other).area
            let scale = random.pick([1e-9, 1e-3, 655.36, 1e6])
            let map = AffineMap(
                scale, 0, 0, scale, scale * random.pick([0, -50, 1e4]), scale * random.pick([0, 65536]))
            let mapped = one.transformed(by: map).intersection(other.transformed(by: map)).area
            #expect(isNear(mapped / scale / scale, both), "seed \(seed)")
            // Turned, so that shared edges are shared but for rounding.
            let (cosine, sine) = (0.8, 0.6)
            let turn = AffineMap(cosine, sine, -sine, cosine, 17, 3)
            #expect(
                isNear(one.transformed(by: turn).intersection(other.transformed(by: turn)).area, both), "seed \(seed)")
        }
    }

    @Test func segmentsAreOnTheirSide() {
        for var random in TestSeed.generators(600) {
            let step = RandomPath.step(using: &random)
            let path = Path([RandomPath.curved(closed: random.chance(1, in: 2), step: step, using: &random)])
            let closed = RandomPath.closed(step: step, using: &random)
            let rule = random.pick(FillRule.allCases)
            let parts = path.segments(cutBy: closed, fillRule: rule)
            let borders = Borders([closed], tolerance: 1e-3)
            for (contours, isInside) in [(parts.inside, true), (parts.outside, false)] {
                for point in contours.flatMap({ $0.flattened(tolerance: 0.5) })
                where borders.distance(from: point) > 5e-3 {
                    #expect(closed.contains(point, fillRule: rule) == isInside, "seed \(random.seed)")
                }
            }
            for crossing in path.intersections(with: closed) {
                let at = path.contours[crossing.location.contour].segments[crossing.location.segment]
                    .point(at: crossing.location.parameter)
                let gap = at - crossing.point
                #expect((gap * gap).sum() < 1e-10, "seed \(random.seed)")
                let other = closed.contours[crossing.otherLocation.contour].segments[crossing.otherLocation.segment]
                    .point(at: crossing.otherLocation.parameter)
                let otherGap = other - crossing.point
                #expect((otherGap * otherGap).sum() < 1e-10, "seed \(random.seed)")
            }
        }
    }
}
