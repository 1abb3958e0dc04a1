import Ink
import StrokeWire
import Testing

@Suite("Shapes")
struct ShapeTests {
    private let nib = Nib(width: 2)

    private func trace(_ element: Element, _ points: [(Double, Double)]) -> [Recorder.Piece] {
        var recorder = Recorder()
        InkStroke(element: element, style: .smooth, width: 2, points: points.map { StrokePoint(x: $0.0, y: $0.1) })
            .trace(into: &recorder)
        return recorder.pieces
    }

    @Test("A line goes from the first point to the last, whatever lies between")
    func line() {
        let pieces = trace(.line, [(1, 1), (500, -3), (9, 5)])
        #expect(pieces == [.begin(Vector(1, 1), nib), .line(Vector(9, 5), nib)])
    }

    @Test("A rectangle is the box of first and last point, also drawn backwards")
    func rectangle() {
        let pieces = trace(.rectangle, [(9, 5), (7, 7), (1, 1)])
        #expect(
            pieces == [
                .begin(Vector(9, 5), nib), .line(Vector(1, 5), nib), .line(Vector(1, 1), nib),
                .line(Vector(9, 1), nib), .line(Vector(9, 5), nib),
            ])
    }

    @Test("An ellipse stays within 0.03 % of the true one and closes", arguments: [(40.0, 20.0), (-40, 20), (8, -90)])
    func ellipse(width: Double, height: Double) {
        var flattener = Flattener(scale: 1, canvasWidth: 1000, canvasHeight: 1000)
        let points = [StrokePoint(x: 300, y: 300), StrokePoint(x: 300 + width, y: 300 + height)]
        InkStroke(element: .ellipse, style: .smooth, width: 2, points: points).trace(into: &flattener)
        let samples = flattener.samples
        #expect(samples.count > 16)
        #expect(samples.first == samples.last)
        for sample in samples {
            let x = (Double(sample.x) - 300 - width / 2) / (width / 2)
            let y = (Double(sample.y) - 300 - height / 2) / (height / 2)
            #expect(abs((x * x + y * y).squareRoot() - 1) < 0.0004)
        }
    }

    @Test("Begin = end is a dot", arguments: [Element.line, .rectangle, .ellipse])
    func dot(element: Element) {
        #expect(trace(element, [(4, 4), (8, 8), (4, 4)]) == [.begin(Vector(4, 4), nib)])
        #expect(trace(element, [(4, 4)]) == [.begin(Vector(4, 4), nib)])
    }
}
