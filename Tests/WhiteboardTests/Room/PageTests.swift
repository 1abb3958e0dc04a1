import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `Pages of a room` {
    private var probe = RoomProbe()

    private func turn(_ number: Int64, to page: Int, _ more: String = "") -> String {
        #"{"n":\#(number),"a":5,"g":\#(page)\#(more)}"#
    }

    private func arrange(_ number: Int64, _ order: [Int]) -> String { #"{"n":\#(number),"a":6,"v":\#(order)}"# }

    private func onPage(_ page: Int) -> String { #","g":\#(page)"# }

    @Test mutating func `begin with page 0, shown and alone; a draw that names none is on the page shown`() {
        probe.send(draw(1), turn(2, to: 7), draw(3), draw(4, onPage(0)))
        let board = probe.room.head
        #expect(board.pages == BoardPages(shown: 7, order: [0, 7]))
        #expect(board.visible(on: 0).map(\.index) == [1, 4] && board.visible(on: 7).map(\.index) == [3])
        #expect(board.visible.map(\.index) == [1, 3, 4])
        #expect(board.digest.value == plainDigest([1, 3, 4]))
        #expect(probe.applied.map(\.page) == [0, 7, 7, 0])
    }

    @Test mutating func `turn for students when their video does`() {
        probe.clock(0)
        probe.send(draw(1, #","t":-10"#), turn(2, to: 1, #","t":5000"#), draw(3, #","t":5000"#))
        #expect(probe.after(.seconds(4)).room.head.pages.shown == 1)
        #expect(probe.room.board(of: .main).pages.shown == 0)
        let early = probe.room.catchUp(JoinRequest(), cohort: .main)
        #expect(early?.pages == BoardPages())
        probe.clock(4000)
        #expect(probe.after(.milliseconds(1500)).room.board(of: .main).pages == BoardPages(shown: 1, order: [0, 1]))
        #expect(probe.shown.map(\.operation.page) == [0, 1, 1])
        #expect(probe.after(.seconds(2)).marks.last?.mark.page == 1)
    }

    @Test func `of a service without them are ignored: keys are not read, actions unknown`() {
        var limits = IntakeLimits()
        limits.wire.features = []
        var probe = RoomProbe(RoomConfiguration(intake: limits))
        probe.send(draw(1, #","g":"x","v":3,"i":1,"p":2,"m":[],"k":9"#), turn(2, to: 1))
        probe.send(#"{"n":3,"e":5,"d":[{"x":1,"y":1}]}"#)
        let told = probe.takeTold().filter { $0.contains("rejected") }
        #expect(told.count == 2 && told[0].contains("unknown-action") && told[1].contains("unknown-element"))
        #expect(probe.visible == [1])
        #expect(probe.room.head.visible(on: 0).first?.decoded()?.points.count == 2)
        #expect(probe.room.head.pages == BoardPages())
    }

    @Test func `of a service without them are ignored by what waited over a restart, in one message or in shards`()
        throws
    {
        var limits = IntakeLimits()
        limits.wire.features = []
        var probe = RoomProbe(RoomConfiguration(intake: limits))
        probe.send(draw(1))
        probe.send(draw(3, onPage(5)))
        probe.send(shard(4, 1, of: 3, onPage(1)))
        probe.send(shard(4, 2, of: 3, onPage(2)))
        let bytes = probe.room.checkpoint().encoded()
        let room = try Room(
            restoring: bytes, configuration: probe.room.configuration, at: probe.now, logClockAhead: .zero)
        #expect(room.checkpoint().encoded() == bytes)
        var restored = RoomProbe(room, at: probe.now, logAhead: .zero)
        for text in [draw(2, onPage(7)), shard(4, 3, of: 3, onPage(2))] {
            probe.send(text)
            restored.send(text)
        }
        #expect(probe.applied.map(\.page) == [0, 0, 0, 0])
        #expect(restored.applied.map(\.page) == [0, 0, 0])
        #expect(restored.applied.map(\.message) == probe.applied.dropFirst().map(\.message))
        #expect(restored.room.head.pages == BoardPages())
        #expect(restored.room.head.digest == probe.room.head.digest)
    }

    @Test func `have at most 1,000 operations together that can be undone; the oldest becomes permanent`() {
        var probe = RoomProbe(RoomConfiguration(intake: .fast, history: HistoryConfiguration(depth: 400)))
        for number in 1...1200 as ClosedRange<Int64> { probe.send(draw(number, onPage(Int(number) % 4))) }
        func undoable(_ page: Int) -> Int { probe.room.head.table[page]?.history.done.count ?? 0 }
        #expect((0...3).map(undoable) == [250, 250, 250, 250])
        #expect(probe.room.head.visibleCount == 1200)
        probe.send(undo(1201, onPage(2)))
        #expect(undoable(2) == 249 && probe.room.head.visibleCount == 1199)
    }

    @Test mutating func `all shards of a stroke name the same`() {
        probe.send(shard(1, 0, of: 2, onPage(3)), shard(1, 1, of: 2, points: 2..<4))
        #expect(probe.takeTold().last?.contains("shard-conflict") == true)
        probe.send(shard(1, 1, of: 2, points: 2..<4, onPage(3)))
        #expect(probe.room.head.visible(on: 3).count == 1)
        #expect(probe.applied.last.map { String(decoding: $0.message, as: UTF8.self).contains(#""g":3"#) } == true)
    }

    @Test func `are in a checkpoint and in the reply to a join, in both forms`() throws {
        var probe = RoomProbe(RoomConfiguration(history: HistoryConfiguration(clear: .undoable)))
        for (number, text) in [draw(1), draw(2, onPage(4)), clear(3, onPage(4)), undo(4), arrange(5, [4, 2]), draw(6)]
            .enumerated()
        {
            probe.send(text)
            #expect(probe.applied.count == number + 1)
        }
        let bytes = probe.room.checkpoint().encoded()
        let restored = try probe.restored(bytes)
        #expect(restored.head.pages == BoardPages(shown: 4, order: [4, 2], hidden: [0]))
        #expect(restored.checkpoint().encoded() == bytes)
        for room in [probe.room, restored] {
            let reply = try #require(room.catchUpHead(JoinRequest()))
            let json = try reply.reply(.json)
            let binary = try reply.reply(.binary)
            #expect(json == binary)
            #expect(json.pages == restored.head.pages)
            guard case .board(_, _, let visible, let redo, let cleared) = json.content else {
                throw Unexpected("no board")
            }
            #expect(visible.map(\.page) == [4] && redo.map(\.page) == [0])
            #expect(cleared.map(\.page) == [4] && cleared.first?.visible.map(\.page) == [4])
        }
    }
}

@Suite struct `Lassos of a room` {
    private func lasso(_ number: Int64, points: Int = 4, _ more: String = "") -> String {
        draw(number, points: points, #","e":6"# + more)
    }

    @Test func `are entries of their page like strokes, at most 64 that are seen or could come back`() {
        var probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 100_000)))
        for number in 1...64 as ClosedRange<Int64> { probe.send(lasso(number)) }
        probe.send(lasso(65, #","g":1"#), undo(66))
        _ = probe.takeTold()
        probe.send(lasso(67))
        // The undone one can no longer come back.
        #expect(probe.takeTold().last?.contains("too-many-points") == true)
        probe.send(draw(68), lasso(69))
        #expect(probe.applied.last?.number == 69)
        probe.send(clear(70))
        for number in 71...134 as ClosedRange<Int64> { probe.send(lasso(number)) }
        #expect(probe.visible.count == 65)
    }

    @Test func `that leave the original weigh what they copy`() throws {
        var limits = IntakeLimits(messagesPerSecond: 100_000)
        limits.boardPoints = 1000
        var probe = RoomProbe(RoomConfiguration(intake: limits))
        probe.send(draw(1, points: 100), lasso(2, #","k":1"#))
        #expect(probe.room.head.weight.total.points == 100 + 8 + 100)
        probe.send(lasso(3, #","k":1"#))
        #expect(probe.room.head.weight.total.points == 2 * 208 + 8)
        probe.send(lasso(4, #","k":1"#))
        #expect(probe.room.head.weight.total.points == 2 * 424 + 8)
        _ = probe.takeTold()
        probe.send(lasso(5, #","k":1"#))
        #expect(probe.takeTold().last?.contains("too-many-points") == true)
        probe.send(lasso(6))
        #expect(probe.visible == [1, 2, 3, 4, 5])
        let restored = try probe.restored()
        #expect(restored.head.weight == probe.room.head.weight)
        #expect(restored.head.visible.map(\.kind) == [.stroke, .lasso, .lasso, .lasso, .lasso])
    }

    @Test func `have at most 1,024 points, in one message or in shards`() {
        var probe = RoomProbe()
        probe.send(lasso(1, points: 1025))
        #expect(probe.takeTold().last?.contains("too-many-points") == true)
        probe.send(lasso(2, points: 1024))
        #expect(probe.applied.count == 1)
        probe.send(shard(3, 0, of: 2, points: 0..<600, #","e":6"#), shard(3, 1, of: 2, points: 0..<600, #","e":6"#))
        #expect(probe.takeTold().last?.contains("too-many-points") == true)
        #expect(probe.applied.count == 1)
    }
}
