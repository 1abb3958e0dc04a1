import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `Undo, redo, clear` {
    private var probe = RoomProbe()

    @Test mutating func `Undo of nothing changes nothing, gets no index and is rejected`() {
        probe.send(undo(1), redo(2), draw(3))
        #expect(probe.takeTold() == ["rejected 1 0 nothing-to-undo", "rejected 2 0 nothing-to-redo", "applied 3 as 1"])
        #expect(probe.counts.intake.rejected == [.nothingToUndo: 1, .nothingToRedo: 1])
    }

    @Test func `Points that are seen or can come back are bounded; a clear frees them`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 100)))
        for text in [
            draw(1, points: 60), draw(2, points: 50), undo(3), draw(4, points: 100), clear(5), draw(6, points: 100),
        ] {
            probe.send(text)
        }
        #expect(
            probe.takeTold() == [
                "applied 1 as 1", "rejected 2 0 too-many-points d", "applied 3 as 2", "rejected 4 0 too-many-points d",
                "applied 5 as 3", "applied 6 as 4",
            ])
    }

    @Test func `Undoable clears count for the bytes of their own messages`() {
        let history = HistoryConfiguration(clear: .undoable)
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 1000), history: history))
        let filler = #","q":"\#(String(repeating: "a", count: 10_000))""#
        for number in Int64(1)...50 {
            probe.send(clear(number, filler))
            #expect(probe.room.head.undoableRemovals.reduce(0) { $0 + $1.removal.message.count } <= 32_000)
        }
        #expect(probe.applied.count == 50)
        #expect(probe.room.head.undoableRemovals.count == 3)
    }

    @Test("A board's refusals depend on what came in alone, not on how the room has packed earlier strokes")
    func refusesTheSame() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        let intake = IntakeLimits(messagesPerSecond: 1_000_000, bytesPerSecond: 1 << 30, boardPoints: 600)
        let configuration = RoomConfiguration(intake: intake)
        var lasting = RoomProbe(configuration)
        var restarted = lasting
        var refused = 0
        for number in Int64(1)...1000 {
            let filler = #","k\#(String(repeating: "a", count: random.int(0...300)))":1"#
            let text = number % 60 == 0 ? clear(number) : draw(number, points: random.int(1...40), filler)
            lasting.send(text)
            restarted.send(text)
            let told = lasting.takeTold()
            #expect(restarted.takeTold() == told, "seed \(random.seed)")
            if told.contains(where: { $0.hasSuffix("too-many-points d") }) { refused += 1 }
            if random.chance(1, in: 20) { restarted = try restarted.restarted() }
        }
        #expect(refused > 10, "seed \(random.seed)")
        #expect(restarted.room.head.digest == lasting.room.head.digest, "seed \(random.seed)")
    }

    @Test func `Dots, and messages full of unknown keys, count for the memory that they occupy`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 1000)))
        for number in Int64(1)...200 { probe.send(draw(number, points: 1)) }
        #expect((50...125).contains(probe.visible.count))
        let filler = #","q":"\#(String(repeating: "a", count: 20_000))""#
        probe.send(draw(1, points: 1, filler), by: .bob)
        #expect(probe.takeTold(.bob) == ["rejected 1 0 too-many-points d"])
    }
}

@Suite struct `Board size` {
    @Test func `The room's board is 1024×768 until its first applied draw, then that one's`() {
        var probe = RoomProbe()
        #expect(probe.room.head.size == BoardSize(width: 1024, height: 768))
        probe.send(clear(1, #","w":50,"h":50"#), #"{"n":2,"w":60,"h":60,"d":[]}"#)
        #expect(probe.room.head.fixedSize == nil)
        probe.send(draw(3, #","w":800,"h":600"#), draw(4, #","w":400,"h":300"#))
        #expect(probe.room.head.size == BoardSize(width: 800, height: 600))
        probe.send(clear(5))
        #expect(probe.room.head.size == BoardSize(width: 800, height: 600))
    }

    @Test func `A first draw without a size fixes the standard one`() {
        var probe = RoomProbe()
        probe.send(draw(1), draw(2, #","w":400,"h":300"#))
        #expect(probe.room.head.fixedSize == .standard)
    }

    @Test func `A configured size stays`() {
        var probe = RoomProbe(RoomConfiguration(boardSize: BoardSize(width: 100, height: 50)))
        probe.send(draw(1, #","w":400,"h":300"#))
        #expect(probe.room.head.size == BoardSize(width: 100, height: 50))
    }

    @Test func `x is scaled by W/w, y by H/h, the line width by the smaller; what is not given is the room's`() {
        let board = BoardSize(width: 1000, height: 600)
        let both = board.scale(for: StrokeMessage(number: 1, boardWidth: 500, boardHeight: 200))
        #expect(both == (2, 3, 2))
        let one = board.scale(for: StrokeMessage(number: 1, boardHeight: 1200))
        #expect(one == (1, 0.5, 0.5))
        #expect(board.scale(for: StrokeMessage(number: 1)) == (1, 1, 1))
    }
}

@Suite struct `A board as heavy as it may be` {
    @Test func `is a reply that clients take`() {
        let points = RoomConfiguration().intake.boardPoints
        // The lightest strokes have the most besides their messages.
        let author = String(repeating: "a", count: 64)
        let besides = #"{"index":4000000,"author":"\#(author)","late":true,"page":999,"message":},"#
        #expect(points / 8 * (8 * Weight.bytesOfUnit + besides.utf8.count) < JoinReply.maximumBytes)
    }
}

/// Random operations on a board, compared with the model.
@Suite struct `Undo, redo and clear agree with the plain rules` {
    static let rules: [HistoryConfiguration] = HistoryConfiguration.Scope.allCases.flatMap { scope in
        HistoryConfiguration.Clear.allCases.flatMap { clear in
            (1...5).map { HistoryConfiguration(scope: scope, depth: $0, clear: clear) }
        }
    }

    @Test("after every operation: what moved, what is seen, what can be done again, the digest", arguments: rules)
    func agrees(_ rules: HistoryConfiguration) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        for _ in 0..<20 {
            let limit = random.pick([300, 1000, 1_000_000])
            var board = Board(history: rules, size: nil, weightLimit: limit)
            var plain = ModelBoard(rules, weightLimit: limit)
            for _ in 0..<150 {
                let author = try #require(["a", "b", "c"].randomElement(using: &random))
                let index = board.index + 1
                switch random.int(0...22) {
                case 0...8:
                    let stroke = makeStroke(index, by: author, points: random.int(1...90))
                    #expect(
                        board.hasRoom(for: stroke.weight.points) == (plain.leastWeight + stroke.weight.points <= limit))
                    guard board.hasRoom(for: stroke.weight.points) else { continue }
                    board.apply(.draw(stroke), at: index)
                    plain.draw(index, by: author, weight: stroke.weight.points)
                case 9...13:
                    let reference = try? board.reference(of: .undo, by: .known(author), on: 0)
                    #expect(reference == plain.undo(by: author), "seed \(random.seed)")
                    if let reference { board.apply(.undo(reference: reference, page: 0), at: index) }
                case 14...18:
                    let reference = try? board.reference(of: .redo, by: .known(author), on: 0)
                    #expect(reference == plain.redo(by: author), "seed \(random.seed)")
                    if let reference { board.apply(.redo(reference: reference, page: 0), at: index) }
                case 19:
                    let clear = Removal(index: index, author: .known(author), page: 0, message: [])
                    board.apply(.clear(clear), at: index)
                    plain.clear(index)
                default:
                    let named = (0..<random.int(1...6)).map { _ in UInt64(random.int(1...Int(index))) }
                    let indices = Array(Set(named)).shuffled(using: &random)
                    let removable = try? board.removable(indices, by: .known(author), on: 0)
                    #expect((removable ?? []) == plain.remove(index, indices, by: author), "seed \(random.seed)")
                    guard let removable else { continue }
                    let removal = Removal(
                        index: index, author: .known(author), page: 0, indices: removable, message: [])
                    board.apply(.remove(removal), at: index)
                }
                try #require(board.visible.map(\.index) == plain.visible, "seed \(random.seed)")
                #expect(board.digest.value == plain.digest, "seed \(random.seed)")
                #expect(board.undone.map(\.index) == plain.redoStack.map(\.index), "seed \(random.seed)")
                #expect(
                    board.undoableRemovals.map { $0.removed.map(\.index) }
                        == plain.undoStack.compactMap { $0.took?.sorted() }, "seed \(random.seed)")
                #expect(board.weight.total.points == plain.weight, "seed \(random.seed)")
                #expect(board.weight.total.points <= limit, "seed \(random.seed)")
            }
        }
    }
}

extension Board.UndoneEntry {
    var index: UInt64 {
        switch self {
        case .stroke(let stroke): stroke.index
        case .removal(let removal): removal.index
        }
    }
}

/// A stroke with what boards use of it.
func makeStroke(_ index: UInt64, by author: String = "a", points: Int = 1) -> Stroke {
    var writer = StrokeWriter()
    return writer.write(index, by: author, points: points)
}

extension StrokeWriter {
    /// Writes a stroke with what boards use of it.
    mutating func write(_ index: UInt64, by author: String = "a", points: Int = 1, bytes: Int? = nil) -> Stroke {
        let message = bytes.map { [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: $0) }
        return write(
            index: index, author: .known(author), StrokeExtras(isLate: index.isMultiple(of: 7), page: 0),
            pointCount: points,
            message: PackedMessage(message ?? Array(draw(1).utf8)))
    }
}

@Suite struct `Visible strokes` {
    @Test(arguments: TestSeed.choose(8))
    func `They lie in the order of indices and copies stay as they were, whatever comes and goes`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var writer = StrokeWriter()
        var known: [UInt64: Stroke] = [:]
        var strokes = VisibleStrokes()
        func draw(_ index: UInt64) {
            let stroke = writer.write(index)
            known[index] = stroke
            strokes.insert(stroke)
        }
        var plain: [UInt64] = []
        var copies: [(strokes: VisibleStrokes, plain: [UInt64])] = []
        var next: UInt64 = 1
        for _ in 0..<600 {
            switch random.int(0...19) {
            case 0...11:
                draw(next)
                plain.append(next)
                next += UInt64(random.int(1...3))
            case 12...13:
                // A stroke that is inserted again, anywhere.
                let index = UInt64(random.int(1...Int(next)))
                guard let stroke = known[index], !plain.contains(index) else { break }
                strokes.insert(stroke)
                plain.append(index)
                plain.sort()
            case 14...16:
                let index = random.chance(60, in: 100) ? plain.last ?? 0 : UInt64(random.int(0...Int(next)))
                guard let stroke = known[index], plain.contains(index) else { break }
                strokes.remove(stroke)
                plain.removeAll { $0 == index }
            case 17: strokes.compact()
            case 18: copies.append((strokes, plain))
            default:
                guard random.chance(20, in: 100) else { break }
                // A clear, strokes drawn after it, and its undo.
                let cleared = strokes
                strokes = VisibleStrokes()
                for _ in 0..<random.int(0...70) {
                    draw(next)
                    plain.append(next)
                    next += 1
                }
                strokes.formUnion(cleared)
            }
            expectSame(strokes, plain, seed)
        }
        for copy in copies { expectSame(copy.strokes, copy.plain, seed) }
        #expect(plain.count > 130, "seed \(seed): no list longer than two blocks")
    }

    private func expectSame(_ strokes: VisibleStrokes, _ plain: [UInt64], _ seed: UInt64) {
        #expect(strokes.map(\.index) == plain, "seed \(seed)")
        #expect(strokes.digest.value == plainDigest(plain), "seed \(seed)")
        #expect(strokes.count == plain.count, "seed \(seed)")
        #expect(strokes.reversed().map(\.index) == plain.reversed(), "seed \(seed)")
    }

    @Test func `The lowest stroke of a high pile comes and goes as fast as that of a low one`() {
        func time(height: UInt64) -> Duration {
            var writer = StrokeWriter()
            let stroke = writer.write(1)
            var strokes = VisibleStrokes([stroke])
            for index in 2...height { strokes.insert(writer.write(index)) }
            return leastProcessorTime {
                for _ in 0..<100 {
                    strokes.remove(stroke)
                    strokes.insert(stroke)
                }
            }
        }
        let low = time(height: 500)
        let high = time(height: 50_000)
        #expect(high < low * 25, "\(low) below 500 strokes, \(high) below 50,000")
    }
}
