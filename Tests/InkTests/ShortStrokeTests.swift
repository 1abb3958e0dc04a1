import Ink
import StrokeWire
import TestSupport
import Testing

@Suite("Short strokes")
struct ShortStrokeTests {
    /// A pen that tells force and time, and one that tells neither.
    private func variants(_ places: [(Double, Double)]) -> [[StrokePoint]] {
        let plain = points(places)
        let pressed = plain.enumerated().map {
            StrokePoint(x: $1.x, y: $1.y, force: 0.2 + 0.3 * Double($0), milliseconds: 4 * Double($0))
        }
        return [plain, pressed]
    }

    @Test("One point is an opaque dot of exactly the line width", arguments: InkStyle.allCases)
    func dot(style: InkStyle) {
        for stroke in variants([(7, 8)]) {
            #expect(trace(style, stroke) == [.begin(Vector(7, 8), Nib(width: 16))])
        }
    }

    @Test("A tap, the same point twice, covers that dot and no more", arguments: InkStyle.allCases)
    func tap(style: InkStyle) {
        for stroke in variants([(7, 8), (7, 8)]) {
            var flattener = Flattener(scale: 1)
            InkStroke(element: .freehand, style: style, width: 16, points: stroke).trace(into: &flattener)
            #expect(flattener.samples.allSatisfy { $0.x == 7 && $0.y == 8 && $0.radius <= 8 })
            #expect(flattener.samples.contains { $0.radius > 4 })
        }
    }

    @Test("Two points are a line", arguments: InkStyle.allCases)
    func line(style: InkStyle) {
        for stroke in variants([(1, 2), (31, 42)]) {
            let segments = trace(style, stroke)
            #expect(segments.count == 2)
            guard case .begin(Vector(1, 2), _) = segments.first, case .line(Vector(31, 42), _) = segments.last else {
                Issue.record("\(segments)")
                continue
            }
        }
    }

    @Test("Three points are one quadratic", arguments: InkStyle.allCases)
    func three(style: InkStyle) {
        for stroke in variants([(0, 0), (30, 0), (50, 40)]) {
            let segments = trace(style, stroke)
            switch (segments.dropFirst().first, segments.last) {
            case (.quadratic(let one, let middle, _), .quadratic(let other, let end, _)) where segments.count == 3:
                // The halves of one quadratic: both controls lie halfway to the whole one's.
                let control = one * 2
                #expect((other * 2 - end - control).length < 1e-9)
                #expect((middle - one.midpoint(to: other)).length < 1e-9)
                #expect((middle - Vector(30, 0)).length < 1e-9)
                #expect(end == Vector(50, 40))
            case (.quadratic(let control, let end, _), _) where segments.count == 2:
                #expect(control == Vector(30, 0) && end == Vector(50, 40))
            default: Issue.record("\(segments)")
            }
        }
    }

    @Test("Points that are next to nothing apart, in space and in time, have finite ink", arguments: InkStyle.allCases)
    func tiny(style: InkStyle) {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let least = Double.leastNonzeroMagnitude
        let steps = [0, least, 2 * least, 1e-170, 3e-162, 1e-155, 1e-45, 1e-38, 1e-20, 1e-9, 0.1]
        for round in 0..<400 {
            let usual = random.pick(steps)
            var (x, y, time) = (0.0, 0.0, 0.0)
            let points = (0..<random.int(1...7)).map { _ in
                let step = random.chance(3, in: 4) ? usual : random.pick(steps)
                x += step * random.pick([-1, 0, 1, 2])
                y += step * random.pick([-1, 0, 1, 3])
                time += random.pick(steps)
                return StrokePoint(x: x, y: y, milliseconds: time)
            }
            let stroke = InkStroke(element: .freehand, style: style, width: random.pick([1e-300, 4]), points: points)
            for segment in trace(style, points) {
                #expect(segment.nib.width.isFinite && segment.nib.opacity.isFinite, "seed \(seed), round \(round)")
            }
            var flattener = Flattener(scale: 1.5)
            stroke.trace(into: &flattener)
            var fitter = ParabolaFitter(scale: 1.5, canvasWidth: 100, canvasHeight: 100)
            stroke.trace(into: &fitter)
            for sample in flattener.samples + fitter.samples {
                let sum = sample.x + sample.y + sample.radius + sample.opacity + sample.sagX + sample.sagY
                #expect(sum.isFinite, "seed \(seed), round \(round): \(sample)")
            }
        }
    }
}
