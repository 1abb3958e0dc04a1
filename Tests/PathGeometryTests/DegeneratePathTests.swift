import PathGeometry
import TestSupport
import Testing

/// Paths that break careless code: of no length, of no area, all the same, huge, tiny, not finite. Every operation answers, in
/// a bounded time.
@Suite(.timeLimit(.minutes(2))) struct DegeneratePathTests {
    private func tryAll(_ one: Path, _ other: Path, _ seed: UInt64 = 0) {
        let area = one.simplified().area
        let (both, rest) = (one.intersection(other).area, one.difference(other).area)
        let size = max(one.bounds.size, other.bounds.size, 1e-300)
        if size < 1e12, one.area.isFinite, other.area.isFinite {
            let slack = 1e-5 * size * size
            #expect(abs(both + rest - area) <= slack, "seed \(seed)")
            let (union, otherArea) = (one.union(other).area, other.simplified().area)
            #expect(abs(union + both - area - otherArea) <= slack, "seed \(seed)")
            #expect(both >= -slack && both <= min(area, otherArea) + slack, "seed \(seed)")
            let parts = PathCutter(other, fillRule: .nonzero).cut(one)
            #expect(abs(parts.inside.area + parts.outside.area - one.area) <= slack, "seed \(seed)")
            let shapes = one.shapes(cutBy: other)
            #expect(abs(shapes.map(\.area).reduce(0, +) - area) <= slack, "seed \(seed)")
        }
        _ = one.union(other, fillRule: .evenOdd)
        _ = one.segments(cutBy: other)
        _ = one.intersections(with: other)
    }

    @Test func nothingAndPoints() {
        let point = Point(3, 4)
        let dot = Path([Contour([.line(point, point)], closed: true)])
        let cusp = Path([Contour([.cubic(point, control1: point, control2: point, point)], closed: true)])
        let bare = Path([Contour(start: point)])
        let square = Path(rectangle: 0, 0, width: 10, height: 10)
        for one in [Path(), dot, cusp, bare, square] {
            for other in [Path(), dot, cusp, bare, square] { tryAll(one, other) }
        }
        #expect(square.union(dot).area == 100)
        #expect(PathCutter(Path()).cut(square).outside == square)
        #expect(PathCutter(square).cut(bare).inside.area == 0)
    }

    @Test func coordinatesThatAreNotFiniteAreLeftOut() {
        let square = Path(rectangle: 0, 0, width: 10, height: 10)
        for value in [Double.nan, .infinity, -.infinity, 1e300, 1e15] {
            let broken = Path(polygon: [Point(0, 0), Point(value, 5), Point(5, value)])
            tryAll(broken, square)
            tryAll(square, broken)
            #expect(square.union(broken).area == 100)
            let parts = PathCutter(square).cut(broken)
            #expect(parts.inside.isEmpty)
        }
    }

    @Test func sameCurvesManyTimes() {
        let oval = Path(ellipse: 0, 0, width: 100, height: 60)
        let many = Path(Array(repeating: oval.contours[0], count: 40))
        tryAll(many, oval)
        #expect(abs(many.simplified().area - oval.area) < 1e-6)
        #expect(many.simplified(fillRule: .evenOdd).isEmpty)
        let half = oval.contours[0].segments.flatMap { segment in
            [segment.subsegment(from: 0, to: 0.37), segment.subsegment(from: 0.37, to: 1)]
        }
        #expect(abs(oval.union(Path([Contour(half, closed: true)])).area - oval.area) < 1e-4)
        #expect(oval.difference(Path([Contour(half, closed: true)])).area < 1e-4)
    }

    @Test func curvesNextToEachOther() {
        for seed in TestSeed.choose(400) {
            var random = SeededGenerator(seed: seed)
            let path = RandomPath.closed(step: random.pick([nil, 5]), using: &random)
            // Moved or turned by as much as nothing, by less and by a little more.
            let shift = 100 * random.pick([1e-16, 1e-13, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4])
            let map = random.pick([
                AffineMap(1, 0, 0, 1, shift, -shift), AffineMap(1 + shift / 100, 0, 0, 1, 0, 0),
                AffineMap(1, shift / 100, -shift / 100, 1, 0, 0),
            ])
            tryAll(path, path.transformed(by: map), seed)
        }
    }

    /// Chords of such curves cross far away from where the curves do.
    @Test func curvesThatCrossAtATinyAngleAreCutThere() {
        for size in [15, 25, 45, 80.0] {
            let oval = Path(ellipse: 60, 75, width: size, height: size)
            for way in [(1, -1), (1, 1), (-1, 1), (-1, -1), (3, 1), (-1, 3)].map({ Point($0, $1) * 1e-5 }) {
                let shifted = oval.transformed(by: AffineMap(1, 0, 0, 1, way.x, way.y))
                let centre = Point(60, 75) + size / 2
                let across = Point(-way.y, way.x)
                let sides = oval.intersections(with: shifted).map { (($0.point - centre) * across).sum() > 0 }
                #expect(Set(sides) == [true, false], "\(size), \(way)")
            }
        }
    }

    /// A cubic and a quadratic that cross at 1e-3, and are nearer to each other than 0.1 all the way.
    @Test func curvesThatRunBesideEachOtherAreCutWhereTheyCross() {
        var path = Contour(start: Point(20, 80))
        path.addCubic(control1: Point(40, 40), control2: Point(20, 80), to: Point(100, 100))
        path.addQuadratic(control: Point(20, 80), to: Point(20, 20))
        path.addQuadratic(control: Point(40, 0), to: Point(0, 40))
        path.close()
        let area = Path([path]).simplified()
        let corners = area.contours.flatMap { $0.segments.map(\.end) }
        #expect(corners.contains { abs($0.x - 39.2379) < 1e-3 && abs($0.y - 69.2268) < 1e-3 })
        #expect(abs(area.area - 862.484) < 1e-3)
    }

    /// A cubic leaves a straight one, from the middle of it on, along its tangent.
    @Test func curvesMeetOnBothWhereTheyPart() {
        var curve = Contour(start: Point(50, 75))
        curve.addCubic(control1: Point(25, 75), control2: Point(0, 75), to: Point(25, 25))
        let flat = Path(ellipse: 0, 75, width: 75, height: 0)
        let found = Path([curve]).intersections(with: flat)
        #expect(!found.isEmpty)
        for crossing in found {
            let gap = curve.segments[0].point(at: crossing.location.parameter) - crossing.point
            #expect((gap * gap).sum() < 1e-10)
        }
    }

    @Test func snappedCurves() {
        for seed in TestSeed.choose(600) {
            var random = SeededGenerator(seed: seed)
            let scale = random.pick([1e-12, 1, 65536, 1e9])
            let map = AffineMap(scale, 0, 0, scale, 0, 0)
            func next() -> Path {
                let curves = (0..<random.int(1...3)).map { _ in
                    RandomPath.curved(closed: true, step: random.pick([20, 50]), using: &random)
                }
                return Path(curves).transformed(by: map)
            }
            tryAll(next(), next(), seed)
        }
    }

    /// Reciprocals of such sizes are infinite, and squares of them 0; a lasso may have them.
    @Test(arguments: [1e-120, 1e-140, 1e-200, 1e-290, 1e-305, 1e-308, Double.leastNonzeroMagnitude])
    func pathsOfHardlyAnySize(size: Double) {
        let square = Path(rectangle: -10, -10, width: 20, height: 20)
        let corner = Path(polygon: [Point(size, 0), Point(0, size), Point(0, 0)])
        // Of hardly any height or width alone, with so many places that they go into bands.
        func comb(_ tooth: (Double, Double) -> Point) -> Path {
            Path(polygon: (0..<200).map { tooth(Double($0 * 7 % 200), $0.isMultiple(of: 2) ? 0 : size) })
        }
        let paths = [
            square, corner, Path(ellipse: 0, 0, width: size, height: size), comb { Point($0, $1) },
            comb { Point($1, $0) },
        ]
        for one in paths {
            for other in paths { tryAll(one, other) }
            let parts = PathCutter(one).cut(Path([Contour(start: .zero)] + square.contours))
            #expect(abs(parts.inside.area + parts.outside.area - 400) < 1e-3)
        }
        #expect(PathCutter(corner).cut(square).outside.area == 400)
    }

    @Test func manyLinesThroughAPoint() {
        let star = Path(
            (0..<100).map { index in
                let way = Point(Double(index * index % 101) - 50, Double(index * 7 % 101) - 50)
                return Contour(polyline: [way, Point(0, 0), -way, Point(1, 1)], closed: true)
            })
        tryAll(star, Path(ellipse: -30, -30, width: 60, height: 60))
    }
}
