import Ink
import Raster
import StrokeWire
import Testing

@Suite("An eraser")
struct EraserTests {
    @Test("leaves nothing on its way, in every style and however lightly it is held", arguments: InkStyle.allCases)
    func leavesNothing(style: InkStyle) {
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
