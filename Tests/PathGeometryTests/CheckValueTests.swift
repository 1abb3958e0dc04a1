import PathGeometry
import Testing

/// Cases with known results, many of them of the tests of ClippingBezier.
@Suite struct CheckValueTests {
    private func isNear(_ one: Double, _ other: Double, _ tolerance: Double = 1e-4) -> Bool {
        abs(one - other) <= tolerance
    }

    private func isNear(_ one: Point, _ other: Point, _ tolerance: Double = 1e-4) -> Bool {
        isNear(one.x, other.x, tolerance) && isNear(one.y, other.y, tolerance)
    }

    @Test func twoOvalsCrossTwice() {
        let one = Path(ellipse: 0, 0, width: 100, height: 100)
        let other = Path(ellipse: 50, 10, width: 100, height: 100)
        let found = one.intersections(with: other).sorted { $0.point.x < $1.point.x }
        #expect(found.count == 2)
        guard found.count == 2 else { return }
        #expect(isNear(found[0].point, Point(66.5758, 97.1869)))
        #expect(isNear(found[1].point, Point(83.4242, 12.8131)))
        // Both turn from +x to +y: the first path enters at the lower y.
        #expect(found.map(\.passage) == [.leaves, .enters])
        #expect(found.map(\.otherPassage) == [.enters, .leaves])
        for crossing in found {
            let segment = one.contours[0].segments[crossing.location.segment]
            #expect(isNear(segment.point(at: crossing.location.parameter), crossing.point, 1e-6))
            let otherSegment = other.contours[0].segments[crossing.otherLocation.segment]
            #expect(isNear(otherSegment.point(at: crossing.otherLocation.parameter), crossing.point, 1e-6))
        }
    }

    @Test func lineCrossesAnOvalOfTwoCubics() {
        var oval = Contour(start: Point(150, 300))
        oval.addCubic(control1: Point(150, 100), control2: Point(450, 100), to: Point(450, 300))
        oval.addCubic(control1: Point(450, 500), control2: Point(150, 500), to: Point(150, 300))
        oval.close()
        let line = Path([Contour(polyline: [Point(100, 300), Point(600, 300)], closed: false)])
        let found = line.intersections(with: Path([oval]))
        #expect(found.count == 2)
        #expect(zip(found.map(\.location.parameter), [0.1, 0.7]).allSatisfy { isNear($0, $1, 1e-6) })
        #expect(found.map(\.passage) == [.enters, .leaves])
    }

    @Test func quadraticsCrossTwice() {
        var one = Contour(start: Point(100, 100))
        one.addQuadratic(control: Point(150, 250), to: Point(200, 100))
        var other = Contour(start: Point(100, 200))
        other.addQuadratic(control: Point(150, 50), to: Point(200, 200))
        let found = Path([one]).intersections(with: Path([other]))
        #expect(zip(found.map(\.location.parameter), [0.211325, 0.788675]).allSatisfy { isNear($0, $1, 1e-6) })
        #expect(found.count == 2)
    }

    @Test func lineCrossesACubic() {
        var curve = Contour(start: Point(100, 50))
        curve.addCubic(control1: Point(170, 80), control2: Point(170, 220), to: Point(100, 250))
        let line = Path([Contour(polyline: [Point(100, 100), Point(200, 100)], closed: false)])
        let found = line.intersections(with: Path([curve]))
        #expect(found.count == 1)
        #expect(found.first.map { isNear($0.point, Point(143.8, 100), 0.05) } == true)
    }

    @Test func combIsTwoShapes() {
        var path = Path(rectangle: 200, 200, width: 400, height: 200)
        path.contours += Path(rectangle: 250, 250, width: 100, height: 100).reversed.contours
        path.contours += Path(rectangle: 450, 250, width: 100, height: 100).reversed.contours
        let line = Path([Contour(polyline: [Point(100, 300), Point(700, 300)], closed: false)])
        let shapes = path.shapes(cutBy: line)
        #expect(shapes.map(\.contours.count) == [1, 1])
        #expect(isNear(shapes.map(\.area).reduce(0, +), 60_000, 1e-6))
        #expect(path.shapes(cutBy: line, fillRule: .evenOdd).map(\.contours.count) == [1, 1])
    }

    @Test func squareInSquareLeavesAHole() {
        let path = Path(rectangle: 200, 200, width: 200, height: 200)
        let shapes = path.shapes(cutBy: Path(rectangle: 250, 250, width: 100, height: 100))
        #expect(shapes.map(\.contours.count).sorted() == [1, 2])
        #expect(shapes.map(\.area).sorted() == [10_000, 30_000])
    }

    @Test func cutThatEndsInsideDoesNotCut() {
        let path = Path(rectangle: 0, 0, width: 100, height: 100)
        let loop = [Point(-10, 50), Point(30, 50), Point(60, 20), Point(60, 80), Point(30, 50), Point(20, 40)]
        let shapes = path.shapes(cutBy: Path([Contour(polyline: loop, closed: false)]))
        #expect(shapes.map(\.contours.count).sorted() == [1, 2])
        #expect(isNear(shapes.map(\.area).min() ?? 0, 900, 1e-6))
        let short = Path([Contour(polyline: [Point(-10, 50), Point(99, 50)], closed: false)])
        #expect(path.shapes(cutBy: short).map(\.area) == [10_000])
    }

    @Test func unionOfRectangles() {
        let one = Path(rectangle: 0, 0, width: 100, height: 100)
        let other = Path(rectangle: 50, 20, width: 100, height: 60)
        #expect(isNear(one.union(other).area, 13_000, 1e-4))
        #expect(isNear(one.intersection(other).area, 3000, 1e-4))
        #expect(isNear(one.difference(other).area, 7000, 1e-4))
        #expect(one.union(other).contours.map(\.segments.count) == [8])
        #expect(one.union(one).area == 10_000)
        #expect(one.difference(one).isEmpty)
    }

    @Test func ovalIsCutIntoSegments() {
        let oval = Path(ellipse: 0, 0, width: 100, height: 100)
        let cutter = Path(rectangle: 50, -50, width: 100, height: 200)
        let parts = oval.segments(cutBy: cutter)
        #expect(parts.inside.count == 1)
        #expect(parts.outside.count == 1)
        #expect(parts.border.count == 1)
        // The halves are of two quarters each, which are whole again.
        #expect(parts.inside.map(\.segments.count) == [2])
        #expect(parts.outside.map(\.segments.count) == [2])
        guard let border = parts.border.first else { return }
        #expect(isNear(border.start, Point(50, 100), 1e-5) || isNear(border.start, Point(50, 0), 1e-5))
    }

    @Test func areasAndWindings() {
        #expect(Path(rectangle: 1, 2, width: 3, height: 4).area == 12)
        #expect(Path(rectangle: 1, 2, width: 3, height: 4).reversed.area == -12)
        let circle = Path(ellipse: -1, -1, width: 2, height: 2)
        #expect(isNear(circle.area, .pi, 1e-3))
        #expect(circle.winding(around: .zero) == 1)
        #expect(circle.reversed.winding(around: .zero) == -1)
        #expect(circle.winding(around: Point(0.8, 0.8)) == 0)
        #expect(isNear(Path(polygon: circle.contours[0].flattened(tolerance: 1e-5)).area, circle.area, 1e-4))
        let map = AffineMap(0, 2, -3, 0, 100, 50)
        #expect(isNear(circle.transformed(by: map).area, circle.area * map.determinant, 1e-9))
        #expect(circle.bounds == Box(lower: Point(-1, -1), upper: Point(1, 1)))
    }

    @Test func loopIsCutWhereItCrossesItself() {
        var loop = Contour(start: Point(0, 0))
        loop.addCubic(control1: Point(150, 100), control2: Point(-50, 100), to: Point(100, 0))
        let corners = Path([loop]).simplified().contours.flatMap { $0.segments.map(\.end) }
        #expect(corners.contains { isNear($0, Point(50, 300.0 / 7)) }, "\(corners)")
    }
}
