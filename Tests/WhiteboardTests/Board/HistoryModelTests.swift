import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Random operations on a board against the plain rules.
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
            var board = Board(history: rules, size: nil)
            var plain = PlainBoard(rules)
            var weights: [UInt64: Int] = [:]
            for _ in 0..<150 {
                let author = try #require(["a", "b", "c"].randomElement(using: &random))
                let index = board.index + 1
                switch random.int(0...19) {
                case 0...8:
                    let stroke = makeStroke(index, by: author, points: random.int(1...90))
                    weights[index] = stroke.weight
                    board.apply(.draw(stroke), at: index)
                    plain.draw(index, by: author)
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
                try #require(board.visible.map(\.stroke.index) == plain.visible, "seed \(seed)")
                #expect(board.digest.value == plain.digest, "seed \(seed)")
                #expect(board.undone.map(\.index) == plain.redoStack.map(\.index), "seed \(seed)")
                #expect(board.undoableClears.map(\.clear.index) == plain.clears.map(\.index), "seed \(seed)")
                #expect(board.weight == plain.kept.reduce(0) { $0 + (weights[$1] ?? 0) }, "seed \(seed)")
            }
        }
    }
}

extension PlainBoard {
    /// The clears that can be undone.
    var clears: [Entry] {
        undoStack.filter { if case .clear = $0 { true } else { false } }
    }

    /// The strokes that are seen or can come back.
    var kept: Set<UInt64> {
        var kept = Set(visible)
        for entry in undoStack {
            if case .clear(_, let took) = entry { kept.formUnion(took) }
        }
        for case .stroke(let index, _) in redoStack { kept.insert(index) }
        return kept
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

/// A stroke as far as boards are concerned with it.
func makeStroke(_ index: UInt64, by author: String = "a", points: Int = 1) -> Stroke {
    var shapes = ShapeTable()
    let message = PackedMessage(Array(draw(1).utf8), points: .empty, shapes: &shapes)
    var origins = StrokeOrigins()
    return Stroke(
        index: index, author: .known(author), isLate: false, pointCount: points, message: message, origins: &origins)
}
