import Ink
import Raster
import StrokeWire
import TestSupport
import Testing

@Suite("Strokes from outside")
struct HostileStrokeTests {
    @Test("may have any coordinates and widths that the wire allows", arguments: InkStyle.allCases)
    func anyCoordinates(style: InkStyle) {
        let seed = TestSeed.choose()
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

    @Test("cost no more than a few canvases a point, wherever they lie and however wide", arguments: InkStyle.allCases)
    func work(style: InkStyle) {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let (width, height) = (64, 48)
        for round in 0..<14 {
            // A board as small or as large as the wire allows, and lines and places up to its limits.
            let scale = [1.0 / 256, 1, Double(width)][round % 3]
            let reach = [0.4, 1, 3, 1000, 1e6, 1e9 * scale / Double(width)][round % 6] * Double(width)
            let pen = [0.5, 4, 12, 30, 60, 1e4, 8e6 * scale][round % 7]
            let points = (0..<100).map { index in
                StrokePoint(
                    x: (32 + Double.random(in: -reach...reach, using: &random)) / scale,
                    y: (24 + Double.random(in: -reach...reach, using: &random)) / scale, milliseconds: Double(index))
            }
            let stroke = InkStroke(element: .freehand, style: style, width: pen / scale, points: points)
            var painter = StrokePainter(canvasWidth: width, canvasHeight: height, scale: scale)
            var canvas = Canvas(width: width, height: height)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
            // Stamps build up: their bound is how often they may visit each pixel.
            let visits = style == .stamp ? 512 : 4 * points.count
            #expect(painter.visitedPixels <= visits * width * height, "seed \(seed), round \(round)")
            var fitter = ParabolaFitter(scale: scale, canvasWidth: width, canvasHeight: height)
            stroke.trace(into: &fitter)
            #expect(fitter.samples.count <= 256 * points.count, "seed \(seed), round \(round)")
        }
    }

    @Test("that hold the whole canvas fill it, however many more there are", arguments: InkStyle.allCases)
    func covering(style: InkStyle) {
        let points = (0..<40).map {
            StrokePoint(x: 1e9 * Double($0 % 3 - 1), y: Double($0), milliseconds: 5 * Double($0))
        }
        let stroke = InkStroke(element: .freehand, style: style, width: 8e9, points: points)
        var painter = StrokePainter(canvasWidth: 200, canvasHeight: 150)
        var canvas = Canvas(width: 200, height: 150)
        painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
        let first = canvas.pixel(x: 0, y: 0)
        #expect(first >> 24 > 0)
        for (x, y) in [(199, 0), (0, 149), (199, 149), (100, 75)] { #expect(canvas.pixel(x: x, y: y) == first) }
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
