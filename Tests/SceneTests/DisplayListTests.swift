// What is on a page once lassos and erasers have moved and cut it: the list of shapes for single shapes, and random
// pages beside the definition of a lasso, place by place.

import PathGeometry
import TestSupport
import Testing

@testable import Scene

/// What a lasso and an eraser do to single shapes.
@Suite struct DisplayListTests {
    private static let square = Shape.drawing(Path(rectangle: 0, 0, width: 100, height: 100))
    private static let shift = AffineMap(1, 0, 0, 1, 300, 0)

    private func lasso(_ x: Double, _ y: Double, _ size: Double, _ map: AffineMap?, keeps: Bool = false) -> Shape {
        let corners = [Point(x, y), Point(x + size, y), Point(x + size, y + size), Point(x, y + size)]
        return .lasso(Lasso(points: corners, map: map, keepsOriginal: keeps))
    }

    private func areas(_ list: ShapeList) -> [Double] {
        list.items.map { (list.area(of: $0).area * 1000).rounded() / 1000 }
    }

    private func segments(_ list: ShapeList) -> Int { list.list.segmentCount }

    @Test func listWithoutLassosHasTheDrawingsAsTheyAre() {
        let list = ShapeList([Self.square, .drawing(Path()), .drawing(Path(ellipse: 0, 0, width: 10, height: 10))])
        #expect(list.items.map(\.entry) == [0, 2])
        #expect(list.items.map(\.isWhole) == [true, true])
        #expect(list.skippedEntries.isEmpty)
    }

    @Test func lassoSplitsAShapeAtItsPath() {
        let list = ShapeList([Self.square, lasso(-10, -10, 60, Self.shift)])
        #expect(areas(list) == [7500, 2500])
        #expect(list.items.map(\.isMoved) == [false, true])
        #expect(list.items.map(\.isCut) == [true, true])
        #expect(list.area(of: list.items[1]).bounds == Box(lower: Point(300, 0), upper: Point(350, 50)))
        #expect(list.items[1].map == Self.shift)
    }

    @Test func shapeInsideIsMovedWhole() {
        let list = ShapeList([Self.square, lasso(-10, -10, 200, Self.shift)])
        #expect(list.items.map(\.isCut) == [false])
        #expect(list.items.map(\.isMoved) == [true])
        #expect(areas(list) == [10_000])
    }

    @Test func lassoThatKeepsTheOriginalCopies() {
        let list = ShapeList([Self.square, lasso(-10, -10, 60, Self.shift, keeps: true)])
        #expect(areas(list) == [10_000, 2500])
        #expect(list.items[0].isWhole)
    }

    @Test func lassoWithoutAMapRemoves() {
        #expect(areas(ShapeList([Self.square, lasso(-10, -10, 60, nil)])) == [7500])
        #expect(ShapeList([Self.square, lasso(-10, -10, 200, nil)]).items.isEmpty)
        #expect(areas(ShapeList([Self.square, lasso(-10, -10, 200, nil, keeps: true)])) == [10_000])
    }

    @Test func curvesStayCurves() {
        let oval = Shape.drawing(Path(ellipse: 0, 0, width: 100, height: 100))
        let list = ShapeList([oval, lasso(-10, -10, 60, Self.shift)])
        for item in list.items {
            let curves = list.area(of: item).contours[0].segments.filter { if case .cubic = $0 { true } else { false } }
            #expect(!curves.isEmpty && curves.count <= 4)
        }
    }

    @Test func mapsWithoutAnInverseLeaveNothing() {
        for map in [AffineMap(0, 0, 0, 0, 5, 5), AffineMap(1, 2, 2, 4, 0, 0), AffineMap(0, 0, 0, 1, 0, 0)] {
            #expect(areas(ShapeList([Self.square, lasso(-10, -10, 60, map)])) == [7500])
        }
    }

    @Test func movedCoordinatesAreLimitedAndFinite() {
        let greatest = 16384.0
        for map in [
            AffineMap(greatest, 0, 0, greatest, greatest, greatest),
            AffineMap(-greatest, greatest, greatest, greatest, 0, 0), AffineMap(1e-200, 0, 0, 1e-200, 0, 0),
            AffineMap(greatest, 0, 0, 1e-300, 0, 0), AffineMap(-1, 0, 0, 1, 0, 0),
        ] {
            let list = ShapeList([Self.square] + (0..<12).map { _ in lasso(-10, -10, 60, map, keeps: true) })
            for item in list.items {
                let box = list.area(of: item).bounds
                #expect(box.lower.min() >= -65536 && box.upper.max() <= 65536)
                let map = item.map
                #expect((map.a + map.b + map.c + map.d + map.e + map.f).isFinite)
            }
        }
    }

    @Test func nestedLassosStayLinear() {
        // 1,000 strokes in rows; each lasso turns a disc of them a little about its centre.
        let strokes = (0..<1000).map { index in
            Shape.drawing(Path(ellipse: Double(index % 40) * 25, Double(index / 40) * 25, width: 20, height: 8))
        }
        let turn = AffineMap(0.995, 0.0998749, -0.0998749, 0.995, 0.0, 0.0)
        let lassos = (0..<64).map { index in
            let centre = Point(500, 312)
            let ring = Path(ellipse: -250, -250, width: 500, height: 500).contours[0].flattened(tolerance: 0.01)
            let about = AffineMap(1, 0, 0, 1, -centre.x, -centre.y).followed(by: turn)
                .followed(by: AffineMap(1, 0, 0, 1, centre.x, centre.y))
            return Shape.lasso(Lasso(points: ring.map { $0 + centre }, map: about))
        }
        let list = ShapeList(strokes + lassos)
        #expect(list.skippedEntries.isEmpty)
        #expect(list.items.count >= 1000 && list.items.count < 3000)
        #expect(segments(list) < 40_000)
        // Each lasso looks at what lies in its box, at most all there is, and each outline is made once.
        #expect(list.list.comparedItems < 64 * 3000)
        #expect(list.list.comparedSegments < 64 * 40_000)
        #expect(list.outlined.allSatisfy { $0 <= 1 })
    }

    @Test func onlyDrawingsNearABorderAreOutlined() {
        let far = Shape.drawing(Path(rectangle: 5000, 5000, width: 10, height: 10))
        let near = Shape.drawing(Path(rectangle: 52, 52, width: 10, height: 10))
        let list = ShapeList([Self.square, far, near, lasso(-10, -10, 60, Self.shift), lasso(-10, -10, 60, nil)])
        #expect(list.outlined == [1, 0, 0, 0, 0])
        #expect(list.items.map(\.isWhole) == [false, true, true, false])
    }

    @Test func drawingThatNoBorderCutsStaysWhole() {
        // Its box meets the lasso's, and its area does not.
        let oval = Shape.drawing(Path(ellipse: 0, 0, width: 100, height: 100))
        let list = ShapeList([oval, lasso(-50, -50, 55, nil), lasso(-50, -50, 60, Self.shift)])
        #expect(list.items.map(\.isWhole) == [true])
        #expect(list.outlined[0] == 1, "kept for the next border")
    }

    @Test func areasOfOneDrawingAreCutEachAndStayInOrder() {
        let areas = [Path(rectangle: 0, 0, width: 100, height: 100), Path(rectangle: 60, 60, width: 20, height: 20)]
        var list = DisplayList()
        let outline = { (_: Int) in areas }
        list.add(SceneEntry(id: 1, .drawing, bounds: areas[0].controlBounds), outline: outline)
        let corners = [Point(-10, -10), Point(50, -10), Point(50, 50), Point(-10, 50)]
        list.add(SceneEntry(id: 2, Lasso(points: corners, map: Self.shift)), outline: outline)
        let shown = list.items.map { item -> [Double] in
            guard case .area(let number, let path) = item.content else { return [-1, 0] }
            return [Double(number), path.area.rounded()]
        }
        #expect(shown == [[0, 7500], [1, 400], [0, 2500]])
        #expect(list.items.map(\.isCut) == [true, false, true])
        #expect(Set(list.items.map(\.id)).count == 3)
    }

    @Test func itemsKeepTheirIdentityWhileNothingBelowThemChanges() {
        let other = Shape.drawing(Path(rectangle: 20, 20, width: 100, height: 100))
        let away = Shape.drawing(Path(rectangle: 700, 700, width: 10, height: 10))
        let cut = lasso(-10, -10, 60, Self.shift)
        let again = lasso(290, -10, 30, AffineMap(1, 0, 0, 1, 0, 200))
        let all = ShapeList([Self.square, other, away, cut, again], ids: [1, 2, 3, 4, 5]).items
        // Without the other drawing, as after its undo, the parts of the rest are the same.
        let less = ShapeList([Self.square, away, cut, again], ids: [1, 3, 4, 5]).items
        #expect(all.filter { $0.entry != 1 }.map(\.id) == less.map(\.id))
        #expect(all.filter { $0.entry != 1 }.map(\.area) == less.map(\.area))
        // Without the first lasso they are others, but what it did not touch.
        let before = Set(ShapeList([Self.square, other, away, again], ids: [1, 2, 3, 5]).items.map(\.id))
        #expect(before.intersection(all.map(\.id)) == [3])
        #expect(Set(all.map(\.id)).count == all.count)
    }

    @Test func eraserBeyondTheLimitsIsAnItemThatNoLassoMoves() {
        var limits = DisplayList.Limits()
        limits.comparedItems = 0
        let eraser = Shape.eraser(Path(rectangle: 50, -10, width: 20, height: 200))
        let list = ShapeList([Self.square, eraser, lasso(-10, -10, 200, Self.shift)], limits: limits)
        #expect(list.items.map(\.entry) == [0, 1])
        #expect(list.items.map(\.isWhole) == [true, true])
        #expect(list.skippedEntries == [1, 2])
    }

    @Test func copiesAreAsManyAsTheirLassoFinds() {
        let copies = (0..<10).map { _ in lasso(-10, -10, 1000, AffineMap(1, 0, 0, 1, 1, 1), keeps: true) }
        #expect(ShapeList([Self.square] + copies).items.count == 1024)
    }

    @Test func entriesThatWouldBeTooMuchAreSkippedAndTold() {
        let copies = (0..<64).map { _ in lasso(-10, -10, 1000, AffineMap(1, 0, 0, 1, 0.01, 0.01), keeps: true) }
        func list(_ change: (inout DisplayList.Limits) -> Void) -> ShapeList {
            var limits = DisplayList.Limits()
            change(&limits)
            return ShapeList([Self.square] + copies + [lasso(500, 500, 2000, nil)], limits: limits)
        }
        let fewItems = list { $0.items = 100 }
        #expect(fewItems.items.count == 64)
        #expect(fewItems.skippedEntries == Array(7...64))
        let fewSegments = list { $0.segments = 50 }
        #expect(segments(fewSegments) == 32)
        #expect(fewSegments.skippedEntries == Array(4...64))
        let fewCuts = list { $0.comparedItems = 40 }
        #expect(fewCuts.items.count == 32)
        #expect(fewCuts.skippedEntries == Array(6...64))
        let fewCutSegments = list { $0.comparedSegments = 160 }
        #expect(fewCutSegments.items.count == 32)
        #expect(list { $0.steps = 0 }.skippedEntries == Array(1...65))
        #expect(list { $0.stepsOfBorder = 1 }.skippedEntries == Array(1...64))
        #expect(list { $0.stepsOfCut = 1 }.skippedEntries == Array(1...64))
    }

    @Test func `A lasso that would make the copies cover too much of the board is not applied`() {
        let dot = Shape.drawing(Path(rectangle: 0, 0, width: 1, height: 1))
        let board = Box(lower: .zero, upper: Point(100, 100))
        func list(_ map: AffineMap, cover: Double, board: Box?) -> ShapeList {
            var limits = DisplayList.Limits()
            limits.cover = cover
            let copies = (0..<10).map { _ in lasso(-10, -10, 1000, map, keeps: true) }
            return ShapeList([dot] + copies, limits: limits, board: board)
        }
        // Each makes twice as many items, all but the first as large as the board or larger.
        let enlarged = AffineMap(500, 0, 0, 500, 0, 0)
        let few = list(enlarged, cover: 20, board: board)
        #expect(few.items.count == 16 && few.list.cutCover == 15)
        #expect(few.skippedEntries == Array(5...10))
        #expect(list(enlarged, cover: 20, board: nil).skippedEntries.isEmpty)
        #expect(list(AffineMap(1, 0, 0, 1, 200, 0), cover: 0, board: board).skippedEntries.isEmpty, "beside the board")
    }

    @Test func `Drawings as they were drawn may be cut and moved, however much they cover`() {
        var limits = DisplayList.Limits()
        limits.cover = 1
        let all = [Shape](repeating: Self.square, count: 50)
        let moved = lasso(-10, -10, 200, AffineMap(1, 0, 0, 1, 5, 5))
        let list = ShapeList(
            all + [moved, moved, lasso(0, 0, 50, nil)], limits: limits,
            board: Box(lower: .zero, upper: Point(200, 200)))
        #expect(list.skippedEntries.isEmpty)
        #expect(list.list.cutCover == 12.5)
    }

    @Test func `A small part of an image counts as the image does`() {
        var limits = DisplayList.Limits()
        limits.cover = 8
        var list = DisplayList(limits: limits, board: Box(lower: .zero, upper: Point(100, 100)))
        let image = Path(rectangle: 0, 0, width: 100, height: 100)
        let corners = [Point(-1, -1), Point(101, -1), Point(101, 101), Point(-1, 101)]
        let drawing = SceneEntry(id: 0, .drawing, bounds: image.controlBounds, leastCover: 1)
        list.add(drawing, outline: { _ in [image] })
        for id in 1...6 {
            let copy = Lasso(points: corners, map: AffineMap(0.01, 0, 0, 0.01, 0, 0), keepsOriginal: true)
            list.add(SceneEntry(id: UInt64(id), copy), outline: { _ in [image] })
        }
        #expect(list.skippedEntries == [4, 5, 6] && list.cutCover == 7)
    }

    @Test func `A border is not applied where an outline is too long, and that counts as work`() {
        var list = DisplayList()
        let bounds = Box(lower: .zero, upper: Point(100, 100))
        list.add(SceneEntry(id: 0, .drawing, bounds: bounds), outline: { _ in nil })
        let corners = [Point(-10, -10), Point(50, -10), Point(50, 50), Point(-10, 50)]
        list.add(SceneEntry(id: 1, Lasso(points: corners, map: Self.shift)), outline: { _ in nil })
        list.add(SceneEntry(id: 2, .eraser, bounds: bounds), outline: { _ in nil })
        #expect(list.skippedEntries == [1, 2])
        #expect(list.items.map(\.entry) == [0, 2] && list.items.allSatisfy(\.isWhole))
        #expect(list.steps > Int64(2 * DisplayList.Limits().segments))
    }

    private func scribble(_ count: Int) -> [Point] {
        var random = SeededGenerator(seed: 1)
        func side() -> Double { Double.random(in: -10...110, using: &random) }
        return (0..<count).map { _ in Point(side(), side()) }
    }

    @Test func lassoOfTheMostPointsIsAppliedHoweverOftenItCrossesItself() {
        let list = ShapeList([Self.square, .lasso(Lasso(points: scribble(1024), map: Self.shift))])
        #expect(list.skippedEntries.isEmpty && list.items.count == 2)
        #expect(abs(list.items.map { list.area(of: $0).area }.reduce(0, +) - 10_000) < 1e-2)
    }

    @Test func eraserThatCrossesItselfTooOftenIsSkippedAndTheNextIsNot() {
        let dear = Shape.eraser(Path(polygon: scribble(3000)))
        let list = ShapeList([Self.square, dear, lasso(-10, -10, 60, Self.shift)])
        #expect(list.skippedEntries == [1])
        #expect(list.items.map(\.entry) == [0, 1, 0])
        #expect(list.items.filter { $0.entry == 0 }.map { list.area(of: $0).area.rounded() } == [7500, 2500])
        #expect(list.list.steps < 2 * DisplayList.Limits().stepsOfCut)
    }

    @Test func strokeThatABorderCutsTooOftenIsNotCut() {
        let teeth = (0..<1024).map { Point(Double($0) * 0.1, $0.isMultiple(of: 2) ? -10 : 110) }
        let stroke = Shape.drawing(Path(polygon: scribble(3000)))
        let list = ShapeList([stroke, .lasso(Lasso(points: teeth, map: Self.shift)), lasso(-10, -10, 60, Self.shift)])
        #expect(list.skippedEntries == [1])
        #expect(list.items.map(\.isMoved) == [false, true])
    }

    @Test func manyCopiesTakeABoundedTime() {
        let copies = (0..<64).map { _ in lasso(-10, -10, 1000, AffineMap(1, 0, 0, 1, 0.01, 0.01), keeps: true) }
        let list = ShapeList([Self.square] + copies)
        #expect(list.items.count == 1 << 16)
        #expect(list.skippedEntries == Array(17...64))
    }
}

/// An entry of a page that is made of plain shapes.
enum Shape {
    case drawing(Path)
    case eraser(Path)
    case lasso(Lasso)

    /// Of a drawing or an eraser.
    var path: Path {
        switch self {
        case .drawing(let path), .eraser(let path): path
        case .lasso: Path()
        }
    }

    func entry(id: UInt64) -> SceneEntry {
        switch self {
        case .drawing(let path): SceneEntry(id: id, .drawing, bounds: path.controlBounds)
        case .eraser(let path): SceneEntry(id: id, .eraser, bounds: path.controlBounds)
        case .lasso(let lasso): SceneEntry(id: id, lasso)
        }
    }
}

/// The display list of shapes, one area a drawing, and what was asked for to make it.
struct ShapeList {
    let shapes: [Shape]
    private(set) var list: DisplayList
    /// How often the areas of each shape were asked for.
    private(set) var outlined: [Int]

    /// - Parameter ids: one for each shape; by default its place.
    init(
        _ shapes: [Shape], ids: [UInt64]? = nil, limits: DisplayList.Limits = DisplayList.Limits(), board: Box? = nil
    ) {
        self.shapes = shapes
        list = DisplayList(limits: limits, board: board)
        outlined = shapes.map { _ in 0 }
        var outlined = outlined
        for (place, shape) in shapes.enumerated() {
            list.add(shape.entry(id: ids?[place] ?? UInt64(place))) { place in
                outlined[place] += 1
                return [shapes[place].path]
            }
        }
        self.outlined = outlined
    }

    var items: [DisplayItem] { list.items }
    var skippedEntries: [Int] { list.skippedEntries }

    func area(of item: DisplayItem) -> Path { item.area ?? shapes[item.entry].path }
}
