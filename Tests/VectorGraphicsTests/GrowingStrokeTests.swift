import Ink
import Raster
import StrokeWire
import TestSupport
import Testing

@testable import VectorGraphics

@Suite struct `A stroke that is being drawn, in vector graphics` {
    /// The paths of a document: all between `<path` and `/>`.
    private func paths(of points: [StrokePoint], like path: StrokePath) -> [String] {
        // A document has no path for an eraser with nothing below; its line is that of freehand ink.
        let element = path.element == .eraser ? .freehand : path.element
        let stroke = InkStroke(element: element, style: path.style, width: path.width, points: points)
        let drawing = BoardDrawing(
            width: 1024, height: 768, strokes: [PaintedStroke(stroke: stroke, colour: RGB(0))])
        let text = String(decoding: SVGRenderer.render(drawing), as: UTF8.self)
        return text.split(separator: "\n").filter { $0.hasPrefix("<path") }.map(String.init)
    }

    /// Whether a path of a document has this data, of a line or an outline.
    private func isAlike(_ path: String, _ data: [UInt8], isLine: Bool) -> Bool {
        path.contains(" d=\"\(String(decoding: data, as: UTF8.self))\"")
            && path.contains("stroke-width") == isLine
    }

    @Test(arguments: TestSeed.choose(3))
    func `has the path of the whole stroke after each update, and says from where it is new`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for stream in try TouchStream.random(2, using: &random) {
            // Freehand ink stands for that of an eraser, which makes no stamps and is nowhere darker.
            for style in InkStyle.allCases where stream.element != .eraser || style != .stamp && style != .pencil {
                var pen = LossyPen(stream, seed: random.next())
                var model = StrokeModel()
                var path = StrokePath(element: stream.element, style: style, width: stream.width)
                var text = GrowingSVGPath(boardWidth: 1024, boardHeight: 768)
                func compare(_ model: StrokeModel) {
                    path.update(to: model)
                    let before = text.data
                    let start = text.update(to: path, of: model) ?? text.data.count
                    #expect(before.prefix(start) == text.data.prefix(start), "seed \(seed), \(style)")
                    let expected = paths(of: model.points, like: path)
                    guard let line = expected.first else {
                        #expect(text.data.isEmpty && text.darker.isEmpty, "seed \(seed), \(style)")
                        return
                    }
                    #expect(isAlike(line, text.data, isLine: text.width != nil), "seed \(seed), \(style)")
                    #expect(text.darker.count == expected.count - 1, "seed \(seed), \(style)")
                    for (path, tone) in zip(expected.dropFirst(), text.darker) {
                        #expect(isAlike(path, tone.data, isLine: false), "seed \(seed), \(style)")
                    }
                }
                try pen.play(to: &model) { if random.chance(1, in: 8) { compare($0) } }
                model.complete(with: stream.points)
                compare(model)
                model = StrokeModel()
            }
        }
    }

    @Test func `writes a smooth line from the changed segment on`() {
        var model = StrokeModel()
        var path = StrokePath(element: .freehand, style: .smooth, width: 3)
        var text = GrowingSVGPath(boardWidth: 1024, boardHeight: 768)
        for place in 0..<200 {
            let point = StrokePoint(x: 20 + Double(place) * 4, y: 100 + Double(place % 7) * 9)
            _ = model.receive(TouchEvent(phase: .moved, samples: [TouchSample(point)]))
            path.update(to: model)
            let start = text.update(to: path, of: model) ?? text.data.count
            #expect(text.data.count - start < 80, "point \(place)")
        }
        #expect(text.width == 3 && text.opacity == 1 && text.data.count > 1000)
    }

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
