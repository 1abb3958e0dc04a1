import Ink
import Raster
import StrokeWire
import Testing

@testable import VectorGraphics

@Suite("Stamps as even ink")
struct StampProfileTests {
    @Test(
        "hold about as much ink as on the canvas, in about the same width", arguments: [4.0, 10, 30],
        [[(30.0, 60.0), (200.0, 60.0)], [(60.0, 60.0)]])
    func ink(width: Double, points: [(Double, Double)]) throws {
        let stroke = TrialBoard.stroke(.freehand, .stamp, width, points)
        // Whole pixels would be too coarse for the soft edge of a narrow brush.
        let scale = 4
        let canvas = TrialBoard.canvas([stroke], scale: scale)
        var ink = 0.0
        for y in 0..<canvas.height {
            for x in 0..<canvas.width { ink += Double(canvas.pixel(x: x, y: y) >> 24) / 255 }
        }
        ink /= Double(scale * scale)
        let drawable = try #require(DrawableStroke(stroke, width: 320, height: 240))
        guard case .curve(let even) = drawable.form else {
            Issue.record("the width is constant")
            return
        }
        let length = points.count == 1 ? 0 : points[1].0 - points[0].0
        let area = length * even + even * even * 0.785
        #expect(abs(area * drawable.opacity / ink - 1) < 0.08, "\(area * drawable.opacity) of \(ink)")
        let middle =
            Double(canvas.pixel(x: (Int(points[0].0) + (length > 0 ? 80 : 0)) * scale, y: 60 * scale) >> 24) / 255
        #expect(abs(drawable.opacity - middle) < 0.06)
    }
}
