import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// A pointer with points every 100 ms.
private func pointer(_ number: Int64, points: Int = 3, _ more: String = "") -> String {
    let places = (0..<points).map { #"{"x":\#($0),"y":1,"m":\#($0 * 100)}"# }.joined(separator: ",")
    return #"{"n":\#(number),"e":7\#(more),"d":[\#(places)]}"#
}

@Suite struct `A pointer` {
    private var room = RoomProbe()

    @Test mutating func `has an index and a gate time as a stroke has, and is held and released`() {
        room.clock(900)
        room.send(draw(1, #","t":500"#), pointer(2, #","t":1000"#), draw(3, #","t":600"#))
        #expect(room.shown() == [1])
        room.clock(1001)
        #expect(room.shown() == [1, 2, 3])
        #expect(room.applied.map(\.action) == [.draw, .draw, .draw])
        #expect(room.takeTold() == ["applied 1 as 1", "applied 2 as 2", "applied 3 as 3"])
    }

    @Test func `is in the tail of a reply to a join, and in no board of one`() throws {
        var room = RoomProbe(CohortSettings(gate: .none))
        room.send(draw(1), pointer(2))
        let tail = try #require(
            room.room.catchUp(JoinRequest(incarnation: RoomProbe.incarnation, have: 1), cohort: .main))
        let operations = try tail.tail()
        #expect(operations.map(\.index) == [2])
        #expect(operations.first.map { String(decoding: $0.restoredMessage, as: UTF8.self) } == pointer(2))
        let whole = try #require(room.room.catchUp(JoinRequest(), cohort: .main))
        let board = try whole.board()
        #expect(whole.index == 2 && board.visible.map(\.index) == [1])
    }

    @Test(arguments: [WireEncoding.json, .binary])
    func `on a page that the board does not have is in the tail of a reply too`(_ encoding: WireEncoding) throws {
        var room = RoomProbe(CohortSettings(gate: .none))
        room.send(draw(1), pointer(2, #","g":5"#), draw(3))
        let tail = try #require(
            room.room.catchUp(JoinRequest(incarnation: RoomProbe.incarnation, have: 1), cohort: .main))
        let reply = try tail.reply(encoding)
        guard case .tail(let operations) = reply.content else { throw Unexpected("no tail") }
        #expect(operations.map(\.index) == [2, 3] && operations.map(\.page) == [5, 0])
        #expect(reply.pages == BoardPages())
    }

    @Test func `is taken on a full board`() {
        var room = RoomProbe(RoomConfiguration(intake: IntakeLimits(boardPoints: 20)))
        room.send(draw(1, points: 16), draw(2, points: 16))
        #expect(room.takeTold() == ["applied 1 as 1", "rejected 2 0 too-many-points d"])
        room.send(pointer(3, points: 200))
        #expect(room.takeTold() == ["applied 3 as 2"])
    }

    @Test func `is an unknown element where the service does not offer it`() {
        var limits = IntakeLimits()
        limits.wire.features.remove(.pointer)
        var room = RoomProbe(RoomConfiguration(intake: limits))
        room.send(pointer(1))
        #expect(room.takeTold() == ["rejected 1 0 unknown-element e"])
    }

    @Test func `is in a checkpoint while its operation is kept; releases before it then refuse that`() throws {
        let configuration = RoomConfiguration(
            cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none)), log: LogRetention(quiet: .seconds(60))
        )
        var room = RoomProbe(configuration)
        room.send(draw(1))
        #expect(RoomCheckpoint.versions(of: room.room.checkpoint().encoded())?.format == 4)
        room.send(pointer(2), draw(3))
        let bytes = room.room.checkpoint().encoded()
        #expect(RoomCheckpoint.versions(of: bytes)?.format == 5)
        let restored = try room.restored(bytes)
        #expect(restored.head.digest == room.room.head.digest && restored.head.index == 3)
        #expect(restored.log.operations.kept.map(\.restoredMessage) == room.applied.map(\.restoredMessage))
        #expect(restored.checkpoint().encoded() == bytes)
        room.wait(.seconds(61))
        #expect(RoomCheckpoint.versions(of: room.room.checkpoint().encoded())?.format == 4)
    }

    @Test func `of a service that has it among a board's strokes, or undoes it, is refused by a client`() throws {
        let message = Array(pointer(1).utf8)
        let writer = JoinReplyWriter(room: "life", index: 1, digest: .empty, palette: .standard, style: "smooth")
        let bytes = writer.board(
            width: 1024, height: 768, isProvisional: false,
            visible: [JoinedOperation(index: 1, author: .alice, message: message[...])],
            redo: EmptyCollection<JoinedOperation>())
        let reply = try JoinReply(decoding: bytes)
        #expect(throws: FollowedBoard.Divergence.self) { try FollowedBoard(reply) }
        var board = FollowedBoard()
        _ = try board.apply(1, by: .alice, message: message)
        #expect(board.index == 1 && board.digest == .empty)
        #expect(throws: FollowedBoard.Divergence.self) {
            try board.apply(2, by: .alice, reference: 1, message: Array(undo(2).utf8))
        }
    }
}

/// Two rooms that get the same messages, but one no pointers.
@Suite struct `Without its pointers a random log` {
    private struct Message {
        let author: AuthorID
        /// All but the number.
        let text: String
        let isPointer: Bool
    }

    private static func messages(_ random: inout SeededGenerator) -> [Message] {
        (0..<250).map { id in
            let author = AuthorID.known("author-\(random.int(0...2))")
            let page = random.chance(1, in: 3) ? #","g":\#(random.int(0...3))"# : ""
            let size = random.chance(1, in: 4) ? #","w":\#(random.int(500...2000)),"h":900"# : ""
            func points(_ count: Int) -> String {
                let places = (0..<count).map { #"{"x":\#($0 * 7),"y":\#(random.int(0...700)),"m":\#($0 * 50)}"# }
                return #","d":[\#(places.joined(separator: ","))]"#
            }
            let body: String
            switch random.int(0...20) {
            case 0...2: body = #","a":2"#
            case 3, 4: body = #","a":3"#
            case 5: body = #","a":4"#
            case 6: body = #","a":5,"g":\#(random.int(0...4))"#
            case 7: body = #","a":6,"v":[\#(random.int(0...4))]"#
            case 8: body = #","e":6,"k":1"# + points(3)
            case 9...12: body = #","e":7"# + points(random.int(1...40))
            default: body = points(random.int(1...12))
            }
            return Message(
                author: author, text: #","id":"<\#(id)>"\#(page)\#(size)\#(body)}"#,
                isPointer: body.hasPrefix(#","e":7"#))
        }
    }

    /// What messages have in their key `id`.
    private static func id(_ message: [UInt8]) -> String {
        String(String(decoding: message, as: UTF8.self).drop { $0 != "<" }.prefix { $0 != ">" })
    }

    /// All of a board but indices.
    private static func summary(_ board: Board) -> String {
        var lines = ["\(board.pages) \(board.size) \(board.weight) \(board.visibleCount)"]
        for page in board.table {
            func list(_ entries: [HistoryEntry]) -> String {
                entries.map { entry in
                    switch entry {
                    case .stroke(let stroke): id(stroke.message.bytes)
                    case .removal(let removal, let removed, _):
                        "removal \(id(removal.message)) \(removed.map { id($0.message.bytes) })"
                    }
                }.joined(separator: " ")
            }
            lines.append("\(page.number): \(page.visible.map { id($0.message.bytes) }.joined(separator: " "))")
            lines.append("undo \(list(page.history.done))")
            lines.append("redo \(list(page.history.undone))")
        }
        return lines.joined(separator: "\n")
    }

    @Test(arguments: TestSeed.choose(12))
    func `leaves the same pages, strokes, stacks and sizes, for the room and for a client`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var limits = IntakeLimits.fast
        limits.boardPoints = random.chance(1, in: 2) ? 700 : 100_000
        let configuration = RoomConfiguration(
            intake: limits,
            history: .random(depth: 2...40, using: &random),
            cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none)))
        var (all, without) = (RoomProbe(configuration), RoomProbe(configuration))
        var numbers: [AuthorID: (Int64, Int64)] = [:]
        var client = FollowedBoard()
        for message in Self.messages(&random) {
            var (one, other) = numbers[message.author] ?? (2, 2)
            let (before, count) = (all.room.head.digest, all.applied.count)
            all.send("{\"n\":\(one)\(message.text)", by: message.author)
            one += 1
            if message.isPointer {
                #expect(all.applied.count == count + 1 && all.room.head.digest == before, "seed \(seed)")
            } else {
                without.send("{\"n\":\(other)\(message.text)", by: message.author)
                other += 1
            }
            numbers[message.author] = (one, other)
            for operation in all.applied[count...] {
                try client.follow(operation)
                #expect(client.digest == operation.digest, "seed \(seed)")
            }
            #expect(all.room.head.digest.value == plainDigest(all.visible), "seed \(seed)")
            guard random.chance(1, in: 12) else { continue }
            #expect(Self.summary(all.room.head) == Self.summary(without.room.head), "seed \(seed)")
            let restored = try all.restored()
            #expect(Self.summary(restored.head) == Self.summary(without.room.head), "seed \(seed)")
        }
        #expect(Self.summary(all.room.head) == Self.summary(without.room.head), "seed \(seed)")
        #expect(
            client.board.visible.map { Self.id($0.message.bytes) }
                == without.room.head.visible.map { Self.id($0.message.bytes) }, "seed \(seed)")
        #expect(all.applied.count { $0.isPointer } > 20)
    }
}
