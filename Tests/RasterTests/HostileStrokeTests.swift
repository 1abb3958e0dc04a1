import Ink
import Raster
import StrokeWire
import Testing

@Suite("Strokes from outside")
struct HostileStrokeTests {
    @Test("may have any coordinates and widths that the wire allows", arguments: InkStyle.allCases)
    func anyCoordinates(style: InkStyle) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var painter = StrokePainter(canvasWidth: 90, canvasHeight: 70, scale: 1.5)
        let places: [Double] = [-65536, 65536, -300, -1, 0, 0.5, 75, 149.9, 150, 200, 300, -1e9, 1e9]
        for round in 0..<20 {
            let points = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                StrokePoint(
                    x: places.randomElement(using: &random) ?? 0, y: places.randomElement(using: &random) ?? 0,
                    force: [nil, 0, 0.5, 1].randomElement(using: &random) ?? nil,
                    milliseconds: [nil, 0, 5, -1e300, 1e300].randomElement(using: &random) ?? nil)
            }
            let stroke = InkStroke(
                element: [.freehand, .line, .ellipse, .rectangle].randomElement(using: &random) ?? .line, style: style,
                width: [1e-300, 0.01, 1, 30, 512, 8e6].randomElement(using: &random) ?? 1, points: points)
            var canvas = Canvas(width: 90, height: 70)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0xFF)), on: &canvas)
            var again = Canvas(width: 90, height: 70)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0xFF)), on: &again)
            #expect(canvas.fingerprint == again.fingerprint, "seed \(seed), round \(round): the scratch was not clear")
        }
    }

    @Test("beside the canvas leave it unpainted")
    func outside() {
        var painter = StrokePainter(canvasWidth: 200, canvasHeight: 150)
        var canvas = Canvas(width: 200, height: 150)
        let points = [StrokePoint(x: -500, y: -20), StrokePoint(x: 900, y: -20), StrokePoint(x: 900, y: 300)]
        let stroke = InkStroke(element: .freehand, style: .smooth, width: 4, points: points)
        painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0xFF)), on: &canvas)
        #expect(canvas.tileCount <= 8)
        let far = InkStroke(
            element: .rectangle, style: .smooth, width: 4,
            points: [StrokePoint(x: -500, y: -20), StrokePoint(x: 900, y: 300)])
        var empty = Canvas(width: 200, height: 150)
        painter.draw(PaintedStroke(stroke: far, colour: RGB(0xFF)), on: &empty)
        #expect(empty.tileCount == 0, "a shape around the canvas paints none of it")
    }

    @Test("wider than the canvas fill it")
    func wide() {
        var painter = StrokePainter(canvasWidth: 200, canvasHeight: 150)
        var canvas = Canvas(width: 200, height: 150)
        let points = [StrokePoint(x: 90, y: 70), StrokePoint(x: 100, y: 80)]
        let stroke = InkStroke(element: .freehand, style: .smooth, width: 512, points: points)
        painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0x10_2030)), on: &canvas)
        for (x, y) in [(0, 0), (199, 0), (0, 149), (199, 149), (100, 75)] {
            #expect(canvas.pixel(x: x, y: y) == 0xFF30_2010)
        }
    }

    @Test("of an eraser on nothing paint nothing, and remove what is there")
    func eraser() {
        var painter = StrokePainter(canvasWidth: 200, canvasHeight: 150)
        var canvas = Canvas(width: 200, height: 150)
        let points = [StrokePoint(x: 20, y: 70), StrokePoint(x: 180, y: 70)]
        let eraser = PaintedStroke(
            stroke: InkStroke(element: .eraser, style: .smooth, width: 20, points: points), colour: RGB(0xFF))
        painter.draw(eraser, on: &canvas)
        #expect(canvas.tileCount == 0)
        painter.draw(
            PaintedStroke(
                stroke: InkStroke(element: .line, style: .smooth, width: 10, points: points), colour: RGB(0xFF)),
            on: &canvas)
        #expect(canvas.pixel(x: 100, y: 70) == 0xFFFF_0000)
        painter.draw(eraser, on: &canvas)
        #expect(canvas.fingerprint == Canvas(width: 200, height: 150).fingerprint)
    }
}
