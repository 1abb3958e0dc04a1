import Ink
import Raster
import StrokeWire
import Testing

@Suite("Stamps on a canvas")
struct StampPaintTests {
    private func alpha(_ width: Double, _ places: [(Double, Double)], at probes: [(Int, Int)]) -> [UInt32] {
        var canvas = Canvas(width: 400, height: 200)
        var painter = StrokePainter(canvasWidth: 400, canvasHeight: 200)
        let points = places.map { StrokePoint(x: $0.0, y: $0.1) }
        let stroke = InkStroke(element: .freehand, style: .stamp, width: width, points: points)
        painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0)), on: &canvas)
        return probes.map { canvas.pixel(x: $0.0, y: $0.1) >> 24 }
    }

    @Test("make a line without gaps", arguments: [2.0, 5, 17, 80])
    func noGaps(width: Double) {
        let along = (60..<340).map { ($0, 100) }
        let alphas = alpha(width, [(50, 100.5), (150, 100.5), (250, 100.5), (350, 100.5)], at: along)
        // A thin fast line is faint, but not broken.
        #expect(alphas.allSatisfy { $0 > (width < 3 ? 40 : 128) })
        let (low, high) = (alphas.min() ?? 0, alphas.max() ?? 255)
        #expect(high - low <= 16, "\(low) … \(high)")
    }

    @Test("make a dot about as dark as a line")
    func dot() {
        #expect(alpha(9, [(100.5, 100.5)], at: [(100, 100)])[0] >= 250)
        #expect(alpha(9, [(100.5, 100.5), (100.5, 100.5)], at: [(100, 100)])[0] >= 250)
    }
}
