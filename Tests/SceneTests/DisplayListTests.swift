import PathGeometry
import Scene
import TestSupport
import Testing

/// What a lasso and an eraser do to single shapes.
@Suite struct DisplayListTests {
    private static let square = SceneEntry.drawing(Path(rectangle: 0, 0, width: 100, height: 100))
    private static let shift = AffineMap(1, 0, 0, 1, 300, 0)

    private func lasso(_ x: Double, _ y: Double, _ size: Double, _ map: AffineMap?, keeps: Bool = false) -> SceneEntry {
        let corners = [Point(x, y), Point(x + size, y), Point(x + size, y + size), Point(x, y + size)]
        return .lasso(Lasso(points: corners, map: map, keepsOriginal: keeps))
    }

    private func areas(_ list: DisplayList) -> [Double] { list.items.map { ($0.area.area * 1000).rounded() / 1000 } }

    private func segments(_ list: DisplayList) -> Int { list.items.map(\.segmentCount).reduce(0, +) }

    @Test func listWithoutLassosHasTheDrawingsAsTheyAre() {
        let list = DisplayList([Self.square, .drawing(Path()), .drawing(Path(ellipse: 0, 0, width: 10, height: 10))])
        #expect(list.items.map(\.entry) == [0, 2])
        #expect(list.items.map(\.isOriginal) == [true, true])
        #expect(list.skippedEntries.isEmpty)
    }

    @Test func lassoSplitsAShapeAtItsPath() {
        let list = DisplayList([Self.square, lasso(-10, -10, 60, Self.shift)])
        #expect(areas(list) == [7500, 2500])
        #expect(list.items.map(\.isMoved) == [false, true])
        #expect(list.items.map(\.isCut) == [true, true])
        #expect(list.items[1].area.bounds == Box(lower: Point(300, 0), upper: Point(350, 50)))
        #expect(list.items[1].map == Self.shift)
    }

    @Test func shapeInsideIsMovedWhole() {
        let list = DisplayList([Self.square, lasso(-10, -10, 200, Self.shift)])
        #expect(list.items.map(\.isCut) == [false])
        #expect(list.items.map(\.isMoved) == [true])
        #expect(areas(list) == [10_000])
    }

    @Test func lassoThatKeepsTheOriginalCopies() {
        let list = DisplayList([Self.square, lasso(-10, -10, 60, Self.shift, keeps: true)])
        #expect(areas(list) == [10_000, 2500])
        #expect(list.items[0].isOriginal)
    }

    @Test func lassoWithoutAMapRemoves() {
        #expect(areas(DisplayList([Self.square, lasso(-10, -10, 60, nil)])) == [7500])
        #expect(DisplayList([Self.square, lasso(-10, -10, 200, nil)]).items.isEmpty)
        #expect(areas(DisplayList([Self.square, lasso(-10, -10, 200, nil, keeps: true)])) == [10_000])
    }

    @Test func movedPartsAreAboveAllInTheirOrder() {
        let other = SceneEntry.drawing(Path(rectangle: 20, 20, width: 100, height: 100))
        let list = DisplayList([Self.square, other, lasso(-10, -10, 60, Self.shift)])
        #expect(list.items.map(\.entry) == [0, 1, 0, 1])
        #expect(list.items.map(\.isMoved) == [false, false, true, true])
    }

    @Test func eraserRemovesWhatIsBelowItAlone() {
        let eraser = SceneEntry.eraser(Path(rectangle: 50, -10, width: 20, height: 200))
        let list = DisplayList([Self.square, eraser, Self.square])
        #expect(areas(list) == [8000, 10_000])
        #expect(DisplayList([Self.square, .eraser(Path(rectangle: -1, -1, width: 102, height: 102))]).items.isEmpty)
    }

    @Test func eraserIsNotMovedOverOtherInk() {
        let eraser = SceneEntry.eraser(Path(rectangle: 25, 0, width: 50, height: 100))
        let below = SceneEntry.drawing(Path(rectangle: 300, 0, width: 100, height: 100))
        let list = DisplayList([below, Self.square, eraser, lasso(-10, -10, 200, Self.shift)])
        #expect(areas(list) == [10_000, 5000])
    }

    @Test func pathThatCrossesItselfIsEvenOdd() {
        // A star of five corners, whose middle is passed around twice.
        let star = [Point(50, 0), Point(80, 95), Point(3, 35), Point(97, 35), Point(20, 95)]
        let list = DisplayList([Self.square, .lasso(Lasso(points: star, map: nil))])
        #expect(list.items[0].area.contains(Point(50, 50)))
        #expect(!list.items[0].area.contains(Point(50, 20)))
    }

    @Test func curvesStayCurves() {
        let oval = SceneEntry.drawing(Path(ellipse: 0, 0, width: 100, height: 100))
        let list = DisplayList([oval, lasso(-10, -10, 60, Self.shift)])
        for item in list.items {
            let curves = item.area.contours[0].segments.filter { if case .cubic = $0 { true } else { false } }
            #expect(!curves.isEmpty && curves.count <= 4)
        }
    }

    @Test func mapsWithoutAnInverseLeaveNothing() {
        for map in [AffineMap(0, 0, 0, 0, 5, 5), AffineMap(1, 2, 2, 4, 0, 0), AffineMap(0, 0, 0, 1, 0, 0)] {
            #expect(areas(DisplayList([Self.square, lasso(-10, -10, 60, map)])) == [7500])
        }
    }

    @Test func movedCoordinatesAreLimitedAndFinite() {
        let greatest = 16384.0
        for map in [
            AffineMap(greatest, 0, 0, greatest, greatest, greatest),
            AffineMap(-greatest, greatest, greatest, greatest, 0, 0), AffineMap(1e-200, 0, 0, 1e-200, 0, 0),
            AffineMap(greatest, 0, 0, 1e-300, 0, 0), AffineMap(-1, 0, 0, 1, 0, 0),
        ] {
            let list = DisplayList([Self.square] + (0..<12).map { _ in lasso(-10, -10, 60, map, keeps: true) })
            for item in list.items {
                let box = item.area.bounds
                #expect(box.lower.min() >= -65536 && box.upper.max() <= 65536)
                let map = item.map
                #expect((map.a + map.b + map.c + map.d + map.e + map.f).isFinite)
            }
        }
    }

    @Test func nestedLassosStayLinear() {
        // 1,000 strokes in rows; each lasso turns a disc of them a little about its centre.
        let strokes = (0..<1000).map { index in
            SceneEntry.drawing(
                Path(ellipse: Double(index % 40) * 25, Double(index / 40) * 25, width: 20, height: 8))
        }
        let turn = AffineMap(0.995, 0.0998749, -0.0998749, 0.995, 0.0, 0.0)
        let lassos = (0..<64).map { index in
            let centre = Point(500, 312)
            let ring = Path(ellipse: -250, -250, width: 500, height: 500).contours[0].flattened(tolerance: 0.01)
            let about = AffineMap(1, 0, 0, 1, -centre.x, -centre.y).followed(by: turn)
                .followed(by: AffineMap(1, 0, 0, 1, centre.x, centre.y))
            return SceneEntry.lasso(Lasso(points: ring.map { $0 + centre }, map: about))
        }
        let list = DisplayList(strokes + lassos)
        #expect(list.skippedEntries.isEmpty)
        #expect(list.items.count >= 1000 && list.items.count < 3000)
        #expect(segments(list) < 40_000)
    }

    @Test func copiesAreAsManyAsTheirLassoFinds() {
        let copies = (0..<10).map { _ in lasso(-10, -10, 1000, AffineMap(1, 0, 0, 1, 1, 1), keeps: true) }
        #expect(DisplayList([Self.square] + copies).items.count == 1024)
    }

    @Test func entriesThatWouldBeTooMuchAreSkippedAndTold() {
        let copies = (0..<64).map { _ in lasso(-10, -10, 1000, AffineMap(1, 0, 0, 1, 0.01, 0.01), keeps: true) }
        func list(_ change: (inout DisplayList.Limits) -> Void) -> DisplayList {
            var limits = DisplayList.Limits()
            change(&limits)
            return DisplayList([Self.square] + copies + [lasso(500, 500, 2000, nil)], limits: limits)
        }
        let fewItems = list { $0.items = 100 }
        #expect(fewItems.items.count == 64)
        #expect(fewItems.skippedEntries == Array(7...64))
        let fewSegments = list { $0.segments = 50 }
        #expect(segments(fewSegments) == 32)
        #expect(fewSegments.skippedEntries == Array(4...64))
        let fewCuts = list { $0.cutItems = 40 }
        #expect(fewCuts.items.count == 32)
        #expect(fewCuts.skippedEntries == Array(6...64))
        let fewCutSegments = list { $0.cutSegments = 160 }
        #expect(fewCutSegments.items.count == 32)
    }

    @Test func manyCopiesTakeABoundedTime() {
        let copies = (0..<64).map { _ in lasso(-10, -10, 1000, AffineMap(1, 0, 0, 1, 0.01, 0.01), keeps: true) }
        let list = DisplayList([Self.square] + copies)
        #expect(list.items.count == 1 << 16)
        #expect(list.skippedEntries == Array(17...64))
    }
}
