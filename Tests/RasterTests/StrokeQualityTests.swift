import Ink
import Raster
import StrokeWire
import Testing

@Suite("Coverage")
struct StrokeQualityTests {
    private func error(of strokes: [InkStroke], scale: Double) -> CoverageError {
        var error = CoverageError()
        for stroke in strokes {
            var painter = StrokePainter(canvasWidth: 2048, canvasHeight: 1536, scale: scale)
            var canvas = Canvas(width: 2048, height: 1536)
            painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
            // So fine that its chords are as good as the curve.
            var flattener = Flattener(scale: scale, canvasWidth: 2048, canvasHeight: 1536, tolerance: 0.005)
            stroke.trace(into: &flattener)
            error.add(SupersampledUnion(flattener.samples)) { x, y in canvas.pixel(x: x, y: y) >> 24 }
        }
        return error
    }

    @Test(
        "of real strokes agrees with 16×16 samples a pixel of the exact capsules",
        .enabled(if: Handwriting.isPresent, "no handwriting beside the repository"),
        arguments: [InkStyle.smooth, .quadratic, .bspline, .calligraphy])
    func handwriting(style: InkStyle) throws {
        let all = try Handwriting.strokes("cursive-short", style: style).map(\.stroke)
        let some = stride(from: 0, to: all.count, by: 13).map { all[$0] }.filter { $0.element == .freehand }
        let error = error(of: some, scale: 2)
        #expect(error.pixels > 1000)
        #expect(
            error.mean <= (style == .calligraphy ? 0.008 : 0.006), "mean \(error.mean) over \(error.pixels) edge pixels"
        )
        #expect(error.bad <= 0.01, "\(error.bad * 100) % of the edge pixels are wrong by more than 0.1")
        #expect(error.largest <= 0.4)
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
