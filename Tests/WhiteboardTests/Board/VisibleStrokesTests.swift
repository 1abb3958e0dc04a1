import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite("Visible strokes")
struct VisibleStrokesTests {
    @Test(
        "Whatever comes and goes, they lie in order with the digest of each prefix, and copies stay what they were",
        arguments: TestSeed.choose(8))
    func agree(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var strokes = VisibleStrokes()
        var plain: [UInt64] = []
        var copies: [(strokes: VisibleStrokes, plain: [UInt64])] = []
        var next: UInt64 = 1
        for _ in 0..<600 {
            switch random.int(0...19) {
            case 0...11:
                strokes.insert(makeStroke(next))
                plain.append(next)
                next += UInt64(random.int(1...3))
            case 12...13:
                // One that comes back, anywhere.
                let index = UInt64(random.int(1...Int(next)))
                guard index < next, !plain.contains(index) else { break }
                strokes.insert(makeStroke(index))
                plain.append(index)
                plain.sort()
            case 14...16:
                let index = random.chance(60, in: 100) ? plain.last ?? 0 : UInt64(random.int(0...Int(next)))
                let removed = strokes.remove(index)
                #expect((removed?.index == index) == plain.contains(index), "seed \(seed)")
                plain.removeAll { $0 == index }
            case 17: strokes.compact()
            case 18: copies.append((strokes, plain))
            default:
                guard random.chance(20, in: 100) else { break }
                // A clear, what is drawn after it, and its undo.
                let cleared = strokes
                strokes = VisibleStrokes()
                for _ in 0..<random.int(0...70) {
                    strokes.insert(makeStroke(next))
                    plain.append(next)
                    next += 1
                }
                strokes.restore(cleared)
            }
            expectSame(strokes, plain, seed)
        }
        for copy in copies { expectSame(copy.strokes, copy.plain, seed) }
        #expect(plain.count > 130, "seed \(seed): no list longer than two chunks")
    }

    private func expectSame(_ strokes: VisibleStrokes, _ plain: [UInt64], _ seed: UInt64) {
        #expect(strokes.map(\.stroke.index) == plain, "seed \(seed)")
        #expect(strokes.digest.value == plainDigest(plain), "seed \(seed)")
        var digest = BoardDigest.empty
        for element in strokes {
            digest.append(index: element.stroke.index)
            guard element.digest == digest else {
                Issue.record("seed \(seed): the digest at \(element.stroke.index) is not that of what lies below")
                return
            }
        }
    }
}
