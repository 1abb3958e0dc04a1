import CoreTrial
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

@Suite struct `A board in step with a player` {
    private var room = Class()

    @Test
    mutating func `shows each operation once, in order, when the player has passed its time and that of all before`() {
        #expect(room.send(stroke(0)).applied == [1], "without a time: at once")
        #expect(room.send(stroke(1, time: 1000), player: 500).applied == [])
        #expect(
            room.send(stroke(2, time: 300), player: 500).applied == [], "its own time has come, but not that before it")
        #expect(room.send(stroke(3), player: 500).applied == [])
        #expect(
            room.send(stroke(4, time: 2000), isLate: true, player: 500).applied == [], "late: waits for those before")
        #expect(room.send(stroke(5, time: 1500), player: 500).applied == [])
        #expect(room.playout.heldCount == 5 && room.playout.lead(of: media(500)) == .seconds(1))
        #expect(room.look(1000, now: 10).applied == [], "not yet passed")
        #expect(room.look(1001, now: 11).applied == [2, 3, 4, 5])
        #expect(room.playout.wait(media(1001)) == .milliseconds(100))
        #expect(room.playout.wait(media(1490)) == .milliseconds(11))
        #expect(room.look(1501, now: 12).applied == [6])
        #expect(room.playout.wait(media(1501)) == nil && room.playout.board.index == 6)
    }

    @Test mutating func `a time of an encoder session that is over, or a wrong one, holds up nothing behind it`() {
        #expect(room.send(stroke(0, time: 3_600_000), player: 3_600_500).applied == [1])
        // The encoder begins anew.
        #expect(room.send(stroke(1, time: 500), player: 400, now: 10).applied == [])
        #expect(room.look(501, now: 111).applied == [2])
        #expect(room.send(stroke(2, time: 1_000_000_000), player: 600, now: 200).applied == [])
        #expect(room.send(stroke(3, time: 700), player: 600, now: 200).applied == [])
        #expect(room.look(30_700, now: 30_300).applied == [3, 4])
        #expect(room.send(stroke(4, time: 31_000), player: 30_800, now: 30_400).applied == [])
        #expect(room.look(31_001, now: 30_601).applied == [5])
    }

    @Test func `shows all at once where no player is followed`() {
        var room = Class(followsPlayer: false)
        #expect(room.send(stroke(0, time: 1_000_000)).applied == [1])
    }

    @Test
    mutating func `holds for a paused player as long as it likes, for one that runs or tells nothing 30 seconds`() {
        room.send(stroke(0, time: 1000), player: 500)
        for second in 1...100 { #expect(room.look(500, now: second * 1000).applied == []) }
        // It runs, on another time line.
        for second in 101...129 { #expect(room.look(500 - second, now: second * 1000).applied == []) }
        #expect(room.look(100, now: 130_000).applied == [1])
        room.send(stroke(1, time: 5000), player: 99, now: 131_000)
        #expect(room.look(nil, now: 160_000).applied == [])
        #expect(room.look(nil, now: 161_000).applied == [2])
    }

    @Test func `veils what of a joined board the player has not reached, and shows it then`() throws {
        var service = RandomRoom(HistoryConfiguration(), seed: TestSeed.choose())
        for _ in 0..<300 { service.act() }
        var playout = BoardPlayout(followsPlayer: true)
        let actions = playout.receive(.board, service.replyBytes(), player: media(50_000), at: .zero)
        #expect(actions.contains { if case .joined = $0 { true } else { false } })
        var times: [UInt64: Int64] = [:]
        for stroke in playout.board.visible { times[stroke.index] = stroke.decoded()?.header.time }
        #expect(playout.veiled == Set(times.filter { $0.value >= 50_000 }.keys))
        #expect(!playout.veiled.isEmpty && playout.veiled.count < playout.board.visibleCount)
        var seen: [UInt64] = []
        for time in stride(from: 50_000, through: 310_000, by: 10_000) {
            for index in playout.look(media(time), at: at(time / 1000)).unveiled {
                seen.append(index)
                #expect(try #require(times[index]) < time)
            }
        }
        #expect(Set(seen) == Set(times.filter { $0.value >= 50_000 }.keys) && playout.veiled.isEmpty)
    }

    /// With the board of a random class, of which the player has shown nothing.
    private func allVeiled() -> BoardPlayout {
        var service = RandomRoom(HistoryConfiguration(), seed: 1)
        for _ in 0..<100 { service.act() }
        var playout = BoardPlayout(followsPlayer: true)
        _ = playout.receive(.board, service.replyBytes(), player: media(-1), at: .zero)
        return playout
    }

    @Test func `strokes that the player has not reached stay veiled until the board of another feed comes`() throws {
        var playout = allVeiled()
        let veiled = playout.veiled
        playout.changeFeed(isHead: false)
        #expect(!veiled.isEmpty && playout.veiled == veiled)
        #expect(Set(playout.look(media(1_000_000), at: .seconds(1)).unveiled) == veiled)
    }

    @Test func `a stroke that an undo takes away is not unveiled`() throws {
        var playout = allVeiled()
        let index = try #require(playout.veiled.max())
        let page = try #require(playout.board.visible.first { $0.index == index }).page
        let undo = GatewayEvent.operation(playout.received + 1, reference: index, page: page, "{\"n\":1,\"a\":2}")
        let actions = playout.receive(.operation, undo, player: media(-1), at: .zero)
        #expect(actions.applied.count == 1 && !playout.veiled.contains(index))
        #expect(!playout.look(media(1_000_000), at: .seconds(1)).unveiled.contains(index))
    }

    @Test(arguments: TestSeed.choose(8))
    func `ends as the room whatever the player does, by any rules of undo`(seed: UInt64) throws {
        var service = RandomRoom(RandomRoom.history(seed), seed: seed)
        for _ in 0..<50 { service.act() }
        var playout = BoardPlayout(followsPlayer: true)
        _ = playout.receive(.board, service.replyBytes(), player: nil, at: .zero)
        var (now, player, last) = (0, 0, playout.board.index)
        var random = SeededGenerator(seed: seed)
        func check(_ actions: [PlayoutAction]) {
            for index in actions.applied {
                #expect(index == last + 1)
                last = index
            }
            #expect(actions.restarts == 0)
        }
        for _ in 0..<600 {
            service.act()
            while playout.received < service.room.head.index {
                let next = service.operations[Int(playout.received)]
                check(playout.receive(.operation, GatewayEvent.operation(next), player: media(player), at: at(now)))
            }
            now += random.int(0...50)
            player += random.pick([0, 300, 500, -200, 5000])
            check(playout.look(random.chance(1, in: 9) ? nil : media(player), at: at(now)))
        }
        check(playout.look(media(1 << 40), at: at(now)))
        #expect(playout.board.digest == service.room.head.digest && playout.board.index == service.room.head.index)
        #expect(playout.heldCount == 0)
        let mark = GatewayEvent.mark("life-1", playout.board.index, playout.board.digest)
        check(playout.receive(.mark, mark, player: nil, at: at(now)))
        let wrong = GatewayEvent.mark("life-1", playout.board.index, BoardDigest(value: 1))
        #expect(playout.receive(.mark, wrong, player: nil, at: at(now)).restarts == 1 && !playout.isJoined)
    }

    @Test("a missing, wrong or unreadable event asks for a new beginning, after which nothing but a board is taken")
    func divergence() throws {
        for wrong in [
            GatewayEvent.operation(3, stroke(1)), GatewayEvent.operation(2, reference: 77, "{\"n\":1,\"a\":2}"),
            GatewayEvent.operation(2, digest: BoardDigest(value: 5), stroke(1)), Array("{\"index\":2}".utf8), [],
        ] {
            var room = Class(followsPlayer: false)
            room.send(stroke(0))
            #expect(room.playout.receive(.operation, wrong, player: nil, at: .zero).restarts == 1)
            #expect(!room.playout.isJoined)
            #expect(room.playout.receive(.operation, wrong, player: nil, at: .zero).isEmpty)
            _ = room.playout.receive(.board, GatewayEvent.emptyBoard, player: nil, at: .zero)
            #expect(room.playout.isJoined && room.playout.board.index == 0)
        }
        var room = Class(followsPlayer: false)
        room.send(stroke(0))
        #expect(room.playout.receive(.operation, GatewayEvent.operation(1, stroke(0)), player: nil, at: .zero).isEmpty)
    }

    @Test mutating func `operations beyond 32 MiB that wait are not kept: the board is joined anew`() {
        let long = "{\"n\":1,\"t\":1000,\"x\":\"\(String(repeating: "x", count: 1 << 20))\",\"d\":[{\"x\":1,\"y\":1}]}"
        var restarts = 0
        for _ in 0..<40 where restarts == 0 { restarts += room.send(long, player: 0).restarts }
        #expect(restarts == 1 && room.index == 32 && room.playout.heldCount == 0)
    }

    @Test
    func `tells the incarnation, the gate, the video's time and what a checkpoint covers, each when it is news`() {
        var room = Class(followsPlayer: false)
        let first = room.playout.receive(.mark, GatewayEvent.mark("a", 0, .empty, video: 1.5), player: nil, at: .zero)
        #expect(room.playout.room == "a" && room.playout.gate == .video && first.count == 3)
        let again = room.playout.receive(.mark, GatewayEvent.mark("a", 0, .empty, video: 2), player: nil, at: .zero)
        guard again.count == 1, case .clock(let time) = again.first else {
            Issue.record("\(again)")
            return
        }
        #expect(time == media(2))
    }

    @Test func `operations that the player has jumped over are not counted as late`() {
        func skews(_ actions: [PlayoutAction]) -> [(Duration, Bool)] {
            actions.compactMap { if case .skew(let skew, let isCounted) = $0 { (skew, isCounted) } else { nil } }
        }
        var room = Class()
        for second in 1...4 { room.send(stroke(second, time: second * 1000), player: 500) }
        let played = skews(room.look(1100, now: 600))
        #expect(played.count == 1 && played[0] == (.milliseconds(100), true))
        let jumped = skews(room.look(3500, now: 700))
        #expect(jumped.map(\.1) == [false, false])
        #expect(skews(room.look(4010, now: 1210)).map(\.1) == [true])
    }

    @Test func `authors are called what their newest message says`() {
        func names(_ actions: [PlayoutAction]) -> [String] {
            actions.compactMap { if case .named(let author, let name) = $0 { "\(author.text) \(name)" } else { nil } }
        }
        var room = Class(followsPlayer: false)
        let said = "{\"by\":\"\\u00c4nne\",\"n\":1,\"d\":[{\"x\":1,\"y\":1}]}"
        #expect(names(room.send(said)) == ["ann Änne"])
        #expect(names(room.send(said)).isEmpty && names(room.send(stroke(2))).isEmpty)
        #expect(names(room.send("{\"by\":\"Ben\",\"n\":3,\"a\":4}", by: "ben")) == ["ben Ben"])
    }
}
