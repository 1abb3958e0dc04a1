import Ink
import Raster
import StrokeWire
import TestSupport
import Testing

/// The tests of Raster compare pixels with exact areas, with supersampled references, with what is drawn at once, and with
/// fingerprints of earlier releases (`GoldenPixelTests`).
@Suite struct `Strokes from outside` {
    @Test(arguments: InkStyle.allCases)
    func `may have any coordinates and widths that the wire allows`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
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
                element: [.freehand, .line, .ellipse, .rectangle, .highlighter, .arrow].randomElement(using: &random)
                    ?? .line, style: style,
                width: [1e-300, 0.01, 1, 30, 512, 8e6].randomElement(using: &random) ?? 1, points: points)
            var canvas = Canvas(width: 90, height: 70)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0xFF)), on: &canvas)
            var again = Canvas(width: 90, height: 70)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0xFF)), on: &again)
            #expect(
                canvas.fingerprint == again.fingerprint,
                "seed \(random.seed), round \(round): the scratch was not clear")
        }
    }

    @Test(arguments: InkStyle.allCases)
    func `cost no more than a few canvases a point, wherever they lie and however wide`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
        let (width, height) = (64, 48)
        // The ink of pens alone varies in opacity with the force.
        for round in 0..<(style == .pen ? 42 : 14) {
            // A board as small or as large as the wire allows, and lines and places up to its limits.
            let scale = [1.0 / 256, 1, Double(width)][round % 3]
            let reach = [0.4, 1, 3, 1000, 1e6, 1e9 * scale / Double(width)][round % 6] * Double(width)
            let pen = [0.5, 4, 12, 30, 60, 1e4, 8e6 * scale][round % 7]
            let points = (0..<100).map { index in
                StrokePoint(
                    x: (32 + Double.random(in: -reach...reach, using: &random)) / scale,
                    y: (24 + Double.random(in: -reach...reach, using: &random)) / scale,
                    // Ink that varies with the speed alone, from point to point, and darker all the way.
                    force: [nil, Double.random(in: 0...1, using: &random), Double(index) / 99][round / 14],
                    milliseconds: Double(index))
            }
            let stroke = InkStroke(element: .freehand, style: style, width: pen / scale, points: points)
            var painter = StrokePainter(canvasWidth: width, canvasHeight: height, scale: scale)
            var canvas = Canvas(width: width, height: height)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
            // Stamps build up: of a line that crosses the canvas 128 visit a pixel, until it is full. The discs of a pen
            // that are nearly as large as the canvas are drawn twice, for what they cover and for how dark they are.
            let visits = [.stamp: 150, .pen: 8][style] ?? 4
            #expect(
                painter.visitedPixels <= visits * points.count * width * height, "seed \(random.seed), round \(round)")
            var fitter = ParabolaFitter(scale: scale, canvasWidth: width, canvasHeight: height)
            stroke.trace(into: &fitter)
            #expect(fitter.samples.count <= 256 * points.count, "seed \(random.seed), round \(round)")
        }
    }

    @Test(arguments: InkStyle.allCases)
    func `that hold the whole canvas fill it, however many more there are`(style: InkStyle) {
        let points = (0..<40).map {
            StrokePoint(x: 1e9 * Double($0 % 3 - 1), y: Double($0), milliseconds: 5 * Double($0))
        }
        let stroke = InkStroke(element: .freehand, style: style, width: 8e9, points: points)
        let canvas = Canvas(width: 200, height: 150, drawing: stroke)
        let first = canvas.pixel(x: 0, y: 0)
        #expect(first >> 24 > 0)
        for (x, y) in [(199, 0), (0, 149), (199, 149), (100, 75)] { #expect(canvas.pixel(x: x, y: y) == first) }
    }

    @Test func `that hold the whole canvas are as light and as dark there as on a larger one`() {
        // Half a pen as wide as the canvas, to a whole one: in between its discs begin to hold the canvas.
        func picture(_ offset: Int, width: Int, height: Int) -> Canvas {
            let points = (0...20).map {
                StrokePoint(x: Double(offset + 10 * $0), y: Double(offset + 50), force: Double($0) / 20)
            }
            let stroke = InkStroke(element: .freehand, style: .pen, width: 300, points: points)
            return Canvas(width: width, height: height, drawing: stroke)
        }
        let small = picture(0, width: 200, height: 100)
        let large = picture(192, width: 600, height: 500)
        #expect((small.pixel(x: 0, y: 50) >> 24) + 30 < small.pixel(x: 199, y: 50) >> 24)
        var largest = 0
        for y in 0..<100 {
            for x in 0..<200 {
                let difference = Int(small.pixel(x: x, y: y) >> 24) - Int(large.pixel(x: 192 + x, y: 192 + y) >> 24)
                largest = max(largest, abs(difference))
            }
        }
        #expect(largest <= 1)
    }

    @Test func `beside the canvas leave it unpainted`() {
        let points = [StrokePoint(x: -500, y: -20), StrokePoint(x: 900, y: -20), StrokePoint(x: 900, y: 300)]
        let stroke = InkStroke(element: .freehand, style: .smooth, width: 4, points: points)
        #expect(Canvas(width: 200, height: 150, drawing: stroke).tileCount <= 8)
        let far = InkStroke(
            element: .rectangle, style: .smooth, width: 4,
            points: [StrokePoint(x: -500, y: -20), StrokePoint(x: 900, y: 300)])
        let empty = Canvas(width: 200, height: 150, drawing: far)
        #expect(empty.tileCount == 0, "a shape around the canvas paints none of it")
    }

    @Test func `wider than the canvas fill it`() {
        let points = [StrokePoint(x: 90, y: 70), StrokePoint(x: 100, y: 80)]
        let stroke = InkStroke(element: .freehand, style: .smooth, width: 512, points: points)
        let canvas = Canvas(width: 200, height: 150, drawing: stroke, 0x10_2030)
        #expect(canvas.allPixels.allSatisfy { $0 == 0xFF30_2010 })
    }

    @Test func `of an eraser on nothing paint nothing, and remove what is there`() {
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

@Suite struct `An eraser` {
    @Test(arguments: InkStyle.allCases)
    func `leaves nothing on its way, in every style and however lightly it is held`(style: InkStyle) {
        var painter = StrokePainter(canvasWidth: 100, canvasHeight: 100)
        var canvas = Canvas(width: 100, height: 100)
        let points = (1...9).map { StrokePoint(x: Double($0) * 10, y: 50, force: 0.05) }
        let ink = InkStroke(element: .freehand, style: .smooth, width: 4, points: points)
        let eraser = InkStroke(element: .eraser, style: style, width: 40, points: points)
        painter.draw(PaintedStroke(stroke: ink, colour: RGB(0)), on: &canvas)
        #expect(canvas.pixel(x: 50, y: 50) >> 24 == 255)
        painter.draw(PaintedStroke(stroke: eraser, colour: RGB(0)), on: &canvas)
        for x in 20..<80 { #expect(canvas.pixel(x: x, y: 50) >> 24 == 0) }
    }
}

@Suite struct `Stamps on a canvas` {
    private func alpha(_ width: Double, _ places: [(Double, Double)], at probes: [(Int, Int)]) -> [UInt32] {
        let points = places.map { StrokePoint(x: $0.0, y: $0.1) }
        let stroke = InkStroke(element: .freehand, style: .stamp, width: width, points: points)
        let canvas = Canvas(width: 400, height: 200, drawing: stroke)
        return probes.map { canvas.pixel(x: $0.0, y: $0.1) >> 24 }
    }

    @Test(arguments: [2.0, 5, 17, 80]) func `make a line without gaps`(width: Double) {
        let along = (60..<340).map { ($0, 100) }
        let alphas = alpha(width, [(50, 100.5), (150, 100.5), (250, 100.5), (350, 100.5)], at: along)
        // A thin fast line is faint, but not broken.
        #expect(alphas.allSatisfy { $0 > (width < 3 ? 40 : 128) })
        let (low, high) = (alphas.min() ?? 0, alphas.max() ?? 255)
        #expect(high - low <= 16, "\(low) … \(high)")
    }

    @Test func `of a marker make a line as thick as its edge is across it, and thin along it`() {
        func column(azimuth: Double) -> Int {
            let points = [50.0, 150, 250, 350].map { StrokePoint(x: $0, y: 100, azimuth: azimuth) }
            let stroke = InkStroke(element: .freehand, style: .stamp, width: 40, points: points, tip: .marker)
            let canvas = Canvas(width: 400, height: 200, drawing: stroke)
            return (0..<200).count { canvas.pixel(x: 200, y: $0) >> 24 > 128 }
        }
        #expect(abs(column(azimuth: 0) - 38) <= 2)
        #expect(abs(column(azimuth: Double.pi / 2) - 12) <= 2)
    }

    @Test
    func `of a highlighter are translucent, also where the line crosses itself, and of a square fill its corners`() {
        func alphas(_ tip: InkTip, _ places: [(Double, Double)]) -> [UInt32] {
            let points = places.map { StrokePoint(x: $0.0, y: $0.1) }
            let stroke = InkStroke(element: .freehand, style: .stamp, width: 40, points: points, tip: tip)
            return Canvas(width: 200, height: 200, drawing: stroke).allPixels.map { $0 >> 24 }
        }
        let crossing = alphas(.highlighter, [(20, 50), (180, 60), (170, 160), (100, 150), (90, 20)])
        #expect(crossing.max() == 102)
        #expect(crossing.count { $0 == 102 } > 5000)
        let dot = alphas(.square, [(100, 100)])
        for (x, y) in [(84, 84), (115, 84), (84, 115), (115, 115)] { #expect(dot[y * 200 + x] > 250) }
        #expect(dot.count { $0 > 0 } <= 1600)
    }

    @Test func `make a dot about as dark as a line`() {
        #expect(alpha(9, [(100.5, 100.5)], at: [(100, 100)])[0] >= 250)
        #expect(alpha(9, [(100.5, 100.5), (100.5, 100.5)], at: [(100, 100)])[0] >= 250)
    }

    @Test(arguments: [12.0, 40])
    func `are as dense after a very long way as after a short one, and go on to the last point`(width: Double) {
        // To and fro on the left for 80,000 units, then once to the right.
        let scribble = (0..<400).map { ($0.isMultiple(of: 2) ? 20.0 : 120, 20 + Double($0 % 160)) }
        let last = [(240.0, 60.0), (280, 100), (330, 110), (380, 100)]
        let probes = (290..<380).map { ($0, 105) }
        let long = alpha(width, scribble + last, at: probes)
        let short = alpha(width, Array(scribble.suffix(3)) + last, at: probes)
        #expect(short.contains { $0 > 200 })
        for (one, other) in zip(long, short) { #expect(abs(Int(one) - Int(other)) <= 3) }
    }
}
