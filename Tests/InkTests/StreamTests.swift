import Ink
import StrokeWire
import TestSupport
import Testing

@Suite("A stroke fed in chunks")
struct StreamTests {
    private static let elements: [Element] = [.freehand, .line, .ellipse, .rectangle, .eraser]

    @Test("gives the same path whatever the chunks", arguments: InkStyle.allCases)
    func samePath(style: InkStyle) {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for round in 0..<400 {
            let points = [StrokePoint].random(count: Int.random(in: 0...60, using: &random), using: &random)
            for element in Self.elements {
                let width = Double.random(in: 0.1...20, using: &random)
                var whole = Recorder()
                InkStroke(element: element, style: style, width: width, points: points).trace(into: &whole)

                var cut = Recorder()
                var tracer = StrokeTracer(element: element, style: style, width: width)
                var rest = points[...]
                while !rest.isEmpty {
                    let count = Int.random(in: 0...min(rest.count, 9), using: &random)
                    tracer.add(rest.prefix(count), into: &cut)
                    rest = rest.dropFirst(count)
                    // A look at the unfinished stroke changes nothing.
                    var preview = Recorder()
                    tracer.finish(into: &preview)
                }
                tracer.finish(into: &cut)
                #expect(whole == cut, "seed \(seed), round \(round), \(element)")
            }
        }
    }

    @Test("is drawn from the first point up to the last", arguments: InkStyle.allCases)
    func reachesTheEnds(style: InkStyle) throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for count in 1...40 {
            let points = [StrokePoint].random(count: count, using: &random)
            var recorder = Recorder()
            InkStroke(element: .freehand, style: style, width: 4, points: points).trace(into: &recorder)
            let first = try #require(points.first)
            let last = try #require(points.last)
            guard case .begin(let start, _) = recorder.segments.first else {
                Issue.record("seed \(seed), \(count) points: nothing was drawn")
                continue
            }
            let end = try #require(recorder.end)
            #expect((start - Vector(first.x, first.y)).length < 1e-9, "seed \(seed), \(count) points")
            #expect((end - Vector(last.x, last.y)).length < 1e-9, "seed \(seed), \(count) points")
        }
    }

    @Test("of no points is nothing", arguments: InkStyle.allCases)
    func empty(style: InkStyle) {
        for element in Self.elements {
            var recorder = Recorder()
            InkStroke(element: element, style: style, width: 4, points: []).trace(into: &recorder)
            #expect(recorder.segments.isEmpty)
        }
    }
}
