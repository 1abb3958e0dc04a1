import Ink
import Raster
import StrokeWire
import TestSupport
import Testing

@Suite("Coverage")
struct StrokeQualityTests {
    private func error(of strokes: [InkStroke], scale: Double) -> CoverageError {
        var error = CoverageError()
        var painter = StrokePainter(canvasWidth: 2048, canvasHeight: 1536, scale: scale)
        for stroke in strokes {
            var canvas = Canvas(width: 2048, height: 1536)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
            // So fine that its chords are as good as the curve.
            var flattener = Flattener(scale: scale, canvasWidth: 2048, canvasHeight: 1536, tolerance: 0.004)
            stroke.trace(into: &flattener)
            error.add(SupersampledUnion(flattener.samples), translucent: flattener.isTranslucent) { x, y in
                canvas.pixel(x: x, y: y) >> 24
            }
        }
        return error
    }

    @Test(
        "of real strokes agrees with 16×16 samples a pixel of the exact capsules",
        .needsRecordedLessons, arguments: [InkStyle.smooth, .quadratic, .bspline, .calligraphy, .pen])
    func handwriting(style: InkStyle) throws {
        let strokes = try RecordedLesson.cursiveShort.strokes().filter { $0.element == .freehand }
            .map { InkStroke(element: $0.element, style: style, width: $0.width, points: $0.points) }
        #expect(strokes.count >= 50)
        let error = error(of: strokes, scale: 2)
        print("\(style): \(error)")
        #expect(error.pixels > 10_000)
        // The samples themselves are off by 0.0025 on average.
        #expect(error.mean <= 0.004)
        #expect(error.bad <= 0.01)
        #expect(error.largest <= 0.5)
    }

    @Test("of hard strokes stays near the exact capsules", arguments: [0.3, 0.75, 1.5, 4, 12, 40])
    func hard(radius: Double) {
        var random = SeededGenerator(seed: 7)
        func off(_ range: Double) -> Double { Double.random(in: 0..<range, using: &random) }
        let hard: [(name: String, places: [(Double, Double)])] = [
            ("zigzag", (0..<40).map { (100 + Double($0) * 3.1, $0.isMultiple(of: 2) ? 120.3 : 160.7) }),
            (
                "hairpin",
                (0..<20).map { (100 + Double($0) * 4, 150.2) } + (0..<20).map { (178.3 - Double($0) * 4, 151.7) }
            ),
            ("dense jitter", (0..<100).map { (120 + Double($0) * 0.5 + off(6), 150 + off(6)) }),
            ("scribble", (0..<30).map { _ in (100 + off(80), 100 + off(80)) }),
        ]
        for (name, places) in hard {
            let stroke = InkStroke(
                element: .freehand, style: .smooth, width: radius * 2,
                points: places.map { StrokePoint(x: $0.0, y: $0.1) })
            let error = error(of: [stroke], scale: 1)
            print("radius \(radius), \(name): \(error)")
            #expect(error.mean <= 0.03, "\(name)")
            #expect(error.bad <= 0.08, "\(name)")
            #expect(error.largest <= 0.4, "\(name)")
        }
    }

    @Test("does not depend on how far away a stroke begins and ends", arguments: [1e4, 1e6, 1e9])
    func farAway(distance: Double) {
        // The same line through the canvas, from the borders and from far away.
        func picture(_ reach: Double) -> Canvas {
            var painter = StrokePainter(canvasWidth: 256, canvasHeight: 256)
            var canvas = Canvas(width: 256, height: 256)
            for element in [Element.line, .freehand] {
                let stroke = InkStroke(
                    element: element, style: .quadratic, width: 5,
                    points: [
                        StrokePoint(x: 128 - 3 * reach, y: 120 - reach),
                        StrokePoint(x: 128 + 3 * reach, y: 120 + reach),
                    ])
                painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
            }
            return canvas
        }
        let near = picture(200)
        let far = picture(distance)
        var largest = 0
        for y in 0..<256 {
            for x in 0..<256 {
                largest = max(largest, abs(Int(near.pixel(x: x, y: y) >> 24) - Int(far.pixel(x: x, y: y) >> 24)))
            }
        }
        #expect(near.pixel(x: 128, y: 120) >> 24 == 255)
        #expect(largest <= 3)
    }

    @Test("of straight lines in all directions is exact but for rounding and samples", arguments: [0.4, 1, 3, 25])
    func lines(width: Double) {
        let strokes = (0..<12).map { step in
            let (x, y) = [(1.0, 0.0), (0.97, 0.26), (0.87, 0.5), (0.71, 0.71), (0.5, 0.87), (0.26, 0.97)][step % 6]
            let turned = [(x, y), (-y, x), (-x, -y), (y, -x)][step / 3]
            return InkStroke(
                element: .line, style: .smooth, width: width,
                points: [StrokePoint(x: 60.3, y: 60.1), StrokePoint(x: 60.3 + 40 * turned.0, y: 60.1 + 40 * turned.1)])
        }
        let error = error(of: strokes, scale: 2)
        // An edge along the rows lies between two rows of samples, so that the reference is off by up to 1/32.
        #expect(error.mean <= 0.007)
        #expect(error.largest <= (width < 1 ? 0.2 : 0.11))
    }

    @Test("of a stroke that crosses itself is nowhere darker than its colour")
    func selfCrossing() {
        // A pen with a grey of its own: any place painted twice would be darker.
        let loop = [(20, 20), (80, 80), (80, 20), (20, 80), (20, 20), (80, 80)]
        let stroke = InkStroke(
            element: .freehand, style: .smooth, width: 9,
            points: loop.map { StrokePoint(x: Double($0.0), y: Double($0.1)) })
        var painter = StrokePainter(canvasWidth: 128, canvasHeight: 128)
        var canvas = Canvas(width: 128, height: 128)
        painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0x80_4020)), on: &canvas)
        var full = 0
        for y in 0..<128 {
            for x in 0..<128 {
                let pixel = canvas.pixel(x: x, y: y)
                let alpha = pixel >> 24
                // Premultiplied: the channels are the colour's share of alpha, whatever alpha is.
                #expect(abs(Int(pixel & 255) - Int((0x80 * alpha + 127) / 255)) <= 1)
                if alpha == 255 {
                    full += 1
                    #expect(pixel == 0xFF20_4080)
                }
            }
        }
        #expect(full > 500)
    }
}
