import Ink
import StrokeWire
import Testing

@testable import VectorGraphics

@Suite struct `A stroke that is being drawn, in vector graphics` {
    @Test func `is marked where it has changed: box, segments, and points by what is known of them`() {
        var model = StrokeModel()
        var path = StrokePath(element: .freehand, style: .quadratic, width: 3)
        let samples = (0..<20).map { TouchSample(StrokePoint(x: Double($0) * 10, y: 50)) }
        _ = model.receive(TouchEvent(phase: .began, samples: samples))
        path.update(to: model)
        let version = model.version
        let estimated = TouchSample(StrokePoint(x: 200, y: 50, force: 0), expected: .force, estimationIndex: 1)
        _ = model.receive(
            TouchEvent(
                phase: .moved, samples: [TouchSample(StrokePoint(x: 195, y: 50)), estimated],
                predicted: [StrokePoint(x: 210, y: 50)]))
        path.update(to: model)
        let overlay = DebugOverlay(changesOf: model, path, since: version)
        func polylines(_ kind: DebugOverlay.Kind) -> [[Vector]] {
            overlay.marks.first { $0.kind == kind }?.polylines ?? []
        }
        #expect(polylines(.dirty).first?.allSatisfy { $0.x > 150 } == true)
        #expect((1...5).contains(polylines(.controls).count))
        #expect(polylines(.points).map(\.count) == [1, 2, 2, 2], "a dot, a stroke, a cross")
    }
}
