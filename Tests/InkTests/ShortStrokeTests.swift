import Ink
import StrokeWire
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
            var flattener = Flattener(scale: 1, canvasWidth: 100, canvasHeight: 100)
            InkStroke(element: .freehand, style: style, width: 16, points: stroke).trace(into: &flattener)
            #expect(flattener.samples.allSatisfy { $0.x == 7 && $0.y == 8 && $0.radius <= 8 })
            #expect(flattener.samples.contains { $0.radius > 4 })
        }
    }

    @Test("Two points are a line", arguments: InkStyle.allCases)
    func line(style: InkStyle) {
        for stroke in variants([(1, 2), (31, 42)]) {
            let pieces = trace(style, stroke)
            #expect(pieces.count == 2)
            guard case .begin(Vector(1, 2), _) = pieces.first, case .line(Vector(31, 42), _) = pieces.last else {
                Issue.record("\(pieces)")
                continue
            }
        }
    }

    @Test("Three points are one quadratic", arguments: InkStyle.allCases)
    func three(style: InkStyle) {
        for stroke in variants([(0, 0), (30, 0), (50, 40)]) {
            let pieces = trace(style, stroke)
            switch (pieces.dropFirst().first, pieces.last) {
            case (.quadratic(let one, let middle, _), .quadratic(let other, let end, _)) where pieces.count == 3:
                // The halves of one quadratic: both controls lie halfway to the whole one's.
                let control = one * 2
                #expect((other * 2 - end - control).length < 1e-9)
                #expect((middle - one.midpoint(to: other)).length < 1e-9)
                #expect((middle - Vector(30, 0)).length < 1e-9)
                #expect(end == Vector(50, 40))
            case (.quadratic(let control, let end, _), _) where pieces.count == 2:
                #expect(control == Vector(30, 0) && end == Vector(50, 40))
            default: Issue.record("\(pieces)")
            }
        }
    }
}
