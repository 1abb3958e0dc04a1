import Ink
import StrokeWire
import Testing

@Suite("The smooth style")
struct SmoothCurveTests {
    private let nib = Nib(width: 3)

    private func trace(_ points: [(Double, Double)]) -> [Recorder.Piece] {
        var recorder = Recorder()
        InkStroke(
            element: .freehand, style: .smooth, width: 3, points: points.map { StrokePoint(x: $0.0, y: $0.1) }
        ).trace(into: &recorder)
        return recorder.pieces
    }

    @Test("replaces every fourth point by a midpoint, as in the specification's check")
    func checkValue() {
        let pieces = trace([(0, 0), (10, 0), (20, 10), (30, 10), (40, 0)])
        #expect(
            pieces == [
                .begin(Vector(0, 0), nib), .cubic(Vector(10, 0), Vector(20, 10), Vector(30, 5), nib),
                .line(Vector(40, 0), nib),
            ])
    }

    @Test("continues from the midpoint with the fifth point as the next control")
    func continues() {
        let pieces = trace([(0, 0), (10, 0), (20, 10), (30, 10), (40, 0), (50, 0), (60, 4), (70, 8)])
        #expect(
            Array(pieces.dropFirst(2)) == [
                .cubic(Vector(40, 0), Vector(50, 0), Vector(60, 4), nib), .line(Vector(70, 8), nib),
            ])
    }

    @Test("draws a dot, a line, a quadratic and a cubic for one to four points")
    func shortStrokes() {
        #expect(trace([(1, 2)]) == [.begin(Vector(1, 2), nib)])
        #expect(trace([(1, 2), (3, 4)]) == [.begin(Vector(1, 2), nib), .line(Vector(3, 4), nib)])
        #expect(
            trace([(1, 2), (3, 4), (5, 0)]) == [.begin(Vector(1, 2), nib), .quadratic(Vector(3, 4), Vector(5, 0), nib)])
        #expect(
            trace([(1, 2), (3, 4), (5, 0), (7, 7)]) == [
                .begin(Vector(1, 2), nib), .cubic(Vector(3, 4), Vector(5, 0), Vector(7, 7), nib),
            ])
    }
}
