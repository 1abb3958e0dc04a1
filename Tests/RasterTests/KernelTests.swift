import Ink
import StrokeWire
import TestSupport
import Testing

@testable import Raster

@Suite struct `The kernels` {
    @Test(arguments: InkStyle.allCases)
    func `of every processor and of this one draw the same pixels`(style: InkStyle) {
        var random = SeededGenerator(seed: TestSeed.choose())
        for round in 0..<RandomStroke.count(usually: 30) {
            let trial = RandomStroke(using: &random)
            let stroke = InkStroke(element: trial.element, style: style, width: trial.width, points: trial.points)
            let canvases = Kernels.all.map { kernels in
                var canvas = Canvas(width: trial.canvasWidth, height: trial.canvasHeight)
                var painter = StrokePainter(
                    canvasWidth: canvas.width, canvasHeight: canvas.height, scale: trial.scale, kernels: kernels)
                painter.draw(PaintedStroke(stroke: stroke, colour: RGB(0x12_89EF)), on: &canvas)
                return canvas.fingerprint
            }
            #expect(Set(canvases).count == 1, "seed \(random.seed), round \(round), \(trial)")
        }
    }
}
