import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Random operations on a board, compared with the model.
@Suite("Undo, redo and clear agree with the plain rules")
struct HistoryModelTests {
    static let rules: [HistoryConfiguration] = HistoryConfiguration.Scope.allCases.flatMap { scope in
        HistoryConfiguration.Clear.allCases.flatMap { clear in
            (1...5).map { HistoryConfiguration(scope: scope, depth: $0, clear: clear) }
        }
    }

    @Test("after every operation: what moved, what is seen, what can be done again, the digest", arguments: rules)
    func agrees(_ rules: HistoryConfiguration) throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let limit = random.pick([300, 1000, 1_000_000])
            var board = Board(history: rules, size: nil, weightLimit: limit)
            var plain = PlainBoard(rules, weightLimit: limit)
            for _ in 0..<150 {
                let author = try #require(["a", "b", "c"].randomElement(using: &random))
                let index = board.index + 1
                switch random.int(0...19) {
                case 0...8:
                    let stroke = makeStroke(index, by: author, points: random.int(1...90))
                    #expect(board.hasRoom(for: stroke.weight) == (plain.leastWeight + stroke.weight <= limit))
                    guard board.hasRoom(for: stroke.weight) else { continue }
                    board.apply(.draw(stroke), at: index)
                    plain.draw(index, by: author, weight: stroke.weight)
                case 9...13:
                    let reference = try? board.reference(of: .undo, by: .known(author))
                    #expect(reference == plain.undo(by: author), "seed \(seed)")
                    if let reference { board.apply(.undo(reference: reference), at: index) }
                case 14...18:
                    let reference = try? board.reference(of: .redo, by: .known(author))
                    #expect(reference == plain.redo(by: author), "seed \(seed)")
                    if let reference { board.apply(.redo(reference: reference), at: index) }
                default:
                    board.apply(.clear(Clear(index: index, author: .known(author), message: [])), at: index)
                    plain.clear(index)
                }
                try #require(board.visible.map(\.index) == plain.visible, "seed \(seed)")
                #expect(board.digest.value == plain.digest, "seed \(seed)")
                #expect(board.undone.map(\.index) == plain.redoStack.map(\.index), "seed \(seed)")
                #expect(board.undoableClears.map(\.clear.index) == plain.clears.map(\.index), "seed \(seed)")
                #expect(board.weight.total == plain.weight, "seed \(seed)")
                #expect(board.weight.total <= limit, "seed \(seed)")
            }
        }
    }
}

extension PlainBoard {
    /// The clears that can be undone.
    var clears: [Entry] {
        undoStack.filter { if case .clear = $0 { true } else { false } }
    }
}

extension Board.UndoneEntry {
    var index: UInt64 {
        switch self {
        case .stroke(let stroke): stroke.index
        case .clear(let clear): clear.index
        }
    }
}

/// A stroke with what boards use of it.
func makeStroke(_ index: UInt64, by author: String = "a", points: Int = 1) -> Stroke {
    let message = PackedMessage(Array(draw(1).utf8))
    var origins = StrokeOrigins()
    return Stroke(
        index: index, author: .known(author), isLate: false, pointCount: points, message: message, origins: &origins)
}

@Suite("Visible strokes")
struct VisibleStrokesTests {
    @Test(
        "Whatever comes and goes, they lie in the order of their indices, and copies stay what they were",
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
                // A stroke that is inserted again, anywhere.
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
                // A clear, strokes drawn after it, and its undo.
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
        #expect(strokes.map(\.index) == plain, "seed \(seed)")
        #expect(strokes.digest.value == plainDigest(plain), "seed \(seed)")
        #expect(strokes.count == plain.count, "seed \(seed)")
        #expect(strokes.reversed().map(\.index) == plain.reversed(), "seed \(seed)")
    }

    @Test("The lowest stroke of a high pile comes and goes as fast as that of a low one")
    func lowest() {
        func time(height: UInt64) -> Duration {
            let stroke = makeStroke(1)
            var strokes = VisibleStrokes([stroke])
            for index in 2...height { strokes.insert(makeStroke(index)) }
            return leastProcessorTime {
                for _ in 0..<100 {
                    _ = strokes.remove(1)
                    strokes.insert(stroke)
                }
            }
        }
        let low = time(height: 500)
        let high = time(height: 50_000)
        #expect(high < low * 25, "\(low) below 500 strokes, \(high) below 50,000")
    }
}
