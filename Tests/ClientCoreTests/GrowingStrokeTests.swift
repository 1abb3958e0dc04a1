import CoreTrial
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

@Suite struct `Strokes that grow on a student's board` {
    private func wet(
        _ number: Int, first: Int = 0, author: String = "ann", time: Int? = 1000, index: Int? = nil, _ reach: [Int],
        predicted: Bool = false
    ) -> String {
        let points = reach.map { "{\"x\":\($0),\"y\":1,\"m\":\($0)}" }.joined(separator: ",")
        let index = index.map { ",\"index\":\($0)" } ?? ""
        let time = time.map { ",\"t\":\($0)" } ?? ""
        let ahead = predicted ? ",\"p\":[{\"x\":1,\"y\":2}]" : ""
        return
            "{\"author\":\"\(author)\",\"session\":\"s\",\"n\":\(number),\"k\":\(first),\"page\":0,\"c\":1,\"l\":3,\"e\":0\(time)\(index),\"d\":[\(points)]\(ahead)}"
    }

    @Test
    func `points appear when the player has passed them, none is taken back, and the operation replaces them`() throws {
        var room = Class()
        _ = room.wet(wet(0, [0, 100, 50, 200]), player: 0)
        #expect(room.grow(1000, now: 0).grown == [])
        #expect(room.grow(1001, now: 1).grown == [1])
        #expect(room.grow(1101, now: 2).grown == [3], "a point is never seen before those before it")
        #expect(room.grow(1050, now: 3).grown == [], "none is taken back")
        _ = room.wet(wet(0, first: 4, [300, 400]), player: 1101)
        // The operation comes, and waits: the stroke has all points now, and grows on.
        #expect(
            room.send(stroke(0, time: 1000, reach: [0, 100, 50, 200, 300, 400, 500]), player: 1102, now: 4).applied
                == [])
        #expect(room.grow(1350, now: 5).grown == [5])
        #expect(room.playout.wetInk.strokes.map(\.points.count) == [5])
        #expect(room.grow(1450, now: 6).grown == [6])
        #expect(room.look(1500, now: 7).applied == [])
        let actions = room.look(1501, now: 8)
        guard case .applied(_, _, let wasWet)? = actions.first else { throw Unexpected("\(actions)") }
        #expect(wasWet && room.playout.wetInk.isEmpty)
        // What comes after it is late.
        _ = room.wet(wet(0, [0, 1]), player: 1501)
        #expect(room.playout.wetInk.isEmpty)
    }

    @Test func `a stroke that a restarted service goes on with, without its session, is the same one`() {
        var room = Class()
        _ = room.wet(wet(0, [0, 100]), player: 0)
        #expect(room.grow(2000, now: 0).grown == [2])
        let points = [0, 100, 200].map { "{\"x\":\($0),\"y\":1,\"m\":\($0)}" }.joined(separator: ",")
        let style = "\"page\":0,\"c\":1,\"l\":3,\"e\":0,\"t\":1000"
        _ = room.wet(
            "{\"author\":\"ann\",\"n\":0,\"k\":0,\(style),\"index\":1,\"d\":[\(points)]}", player: 2000, now: 10)
        #expect(room.grow(2000, now: 11).grown == [3])
        #expect(room.playout.wetInk.strokes.count == 1)
        #expect(room.send(stroke(0, time: 1000, reach: [0, 100, 200]), player: 2000, now: 12).applied == [1])
        #expect(room.playout.wetInk.isEmpty)
    }

    @Test
    func `nothing grows behind an operation of its author, or behind an undo, clear or lasso of anybody, that waits`() {
        for (barrier, blocksAll) in [
            ("{\"n\":0,\"t\":2000,\"d\":[{\"x\":1,\"y\":1}]}", false), ("{\"n\":0,\"t\":2000,\"a\":4}", true),
            ("{\"n\":0,\"t\":2000,\"e\":6,\"d\":[{\"x\":1,\"y\":1},{\"x\":5,\"y\":1},{\"x\":5,\"y\":5}]}", true),
        ] {
            var room = Class()
            _ = room.wet(wet(1, [0, 100]), player: 0)
            _ = room.wet(wet(0, author: "ben", [0, 100]), player: 0)
            room.send(barrier, player: 0)
            #expect(room.grow(1500, now: 1).grown == (blocksAll ? [] : [2]), "\(barrier)")
            #expect(room.look(2001, now: 2).applied == [1])
            #expect(room.grow(2001, now: 3).grown.count == (blocksAll ? 2 : 1))
        }
    }

    @Test func `a stroke that is given up or not heard of for ten seconds goes; one whose operation waits stays`() {
        var room = Class()
        _ = room.wet(wet(0, [0]), player: 0)
        #expect(room.grow(2000, now: 0).grown == [1])
        let givenUp = room.wet("{\"author\":\"ann\",\"session\":\"s\",\"n\":0,\"x\":true}", player: 2000)
        #expect(givenUp.contains { if case .wetInkChanged = $0 { true } else { false } })
        #expect(room.playout.wetInk.isEmpty)
        _ = room.wet(wet(1, [0]), player: 0, now: 1)
        _ = room.grow(2000, now: 10_001)
        #expect(!room.playout.wetInk.isEmpty)
        _ = room.grow(2000, now: 10_002)
        #expect(room.playout.wetInk.isEmpty)
        _ = room.wet(wet(2, [0, 9000]), player: 2000, now: 20_000)
        room.send(stroke(2, time: 1000, reach: [0, 9000]), player: 2000, now: 20_000)
        _ = room.grow(2000, now: 40_000)
        #expect(room.playout.wetInk.strokes.count == 1)
    }

    @Test func `predictions are shown at the head alone, and whatever the updates were, all points in the end`() {
        for isHead in [false, true] {
            var room = Class(followsPlayer: false, isHead: isHead)
            _ = room.wet(wet(0, [0, 10], predicted: true))
            #expect(room.grow(nil, now: 0).grown == [2])
            #expect(room.playout.wetInk.strokes.map(\.points.count) == [isHead ? 3 : 2])
            let before = room.playout.wetInk.strokes.first?.drawnAs
            // The same again is no change.
            _ = room.wet(wet(0, [0, 10], predicted: true))
            #expect(room.grow(nil, now: 1).isEmpty && room.playout.wetInk.strokes.first?.drawnAs == before)
            _ = room.wet(wet(0, first: 3, [50]))
            #expect(room.grow(nil, now: 2).isEmpty, "a gap is not filled")
            _ = room.wet(wet(0, first: 1, [11, 20]))
            #expect(room.grow(nil, now: 3).grown == [3])
        }
    }

    @Test func `strokes and points beyond the bounds are left out, and those of the caller's own session`() {
        var room = Class(followsPlayer: false)
        for number in 0..<100 { _ = room.wet(wet(number, [0])) }
        #expect(room.playout.wetInk.strokes.count == WetInk.mostStrokes)
        room = Class(followsPlayer: false)
        room.playout.ownSession = "s"
        _ = room.wet(wet(0, [0]))
        #expect(room.playout.wetInk.isEmpty)
    }

    @Test func `the number of operations that wait for the player is bounded, however small they are`() {
        var playout = BoardPlayout(followsPlayer: true)
        _ = playout.receive(.board, GatewayEvent.emptyBoard, player: nil, at: .zero)
        var index: UInt64 = 0
        while playout.isJoined, index < 1_000_000 {
            index += 1
            let event = GatewayEvent.operation(index, "{\"n\":\(index),\"t\":9,\"d\":[{\"x\":1,\"y\":2}]}")
            _ = playout.receive(.operation, event, player: MediaTime(milliseconds: Int64(0)), at: .zero)
        }
        #expect(Int(index) <= BoardPlayout.heldBytes / BoardPlayout.heldOverhead + 1)
        #expect(playout.heldCount == 0)
    }

    @Test(arguments: TestSeed.choose(6))
    func `nothing traps, and a board puts all right, whatever events come`(seed: UInt64) throws {
        var service = RandomRoom(RandomRoom.history(seed), seed: seed)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 { service.act() }
        var playout = BoardPlayout(followsPlayer: random.chance(1, in: 2), isHead: random.chance(1, in: 2))
        var now = 0
        for _ in 0..<2000 {
            now += random.int(0...40)
            let player = media(random.pick([nil, 0, now * 10, -5, 1 << 50]))
            let index = random.pick([playout.received + 1, playout.received, 1, .max])
            var data: [UInt8]
            let event: PlayoutEvent
            switch random.int(0...5) {
            case 0: (event, data) = (.board, service.replyBytes())
            case 1:
                let times = (0...random.int(0...5)).map { _ in random.int(-9...900) }
                (event, data) = (
                    .wet,
                    Array(wet(random.int(0...3), first: random.int(0...4), time: random.int(0...now + 1), times).utf8)
                )
            case 2: (event, data) = (.mark, GatewayEvent.mark("life-1", index, .empty, video: 5))
            default:
                let message = random.pick([
                    stroke(random.int(0...3), time: random.pick([nil, 1 << 53, -(1 << 53), 9]), reach: [0, 1 << 40]),
                    "{\"n\":1,\"a\":2}", "{\"n\":1,\"a\":4}", "{\"n\":1,\"a\":5,\"g\":7}", "{\"n\":1,\"a\":6,\"v\":[]}",
                ])
                (event, data) = (
                    .operation,
                    GatewayEvent.operation(
                        index, reference: UInt64(random.int(0...200)), page: random.int(0...3), message)
                )
            }
            if random.chance(1, in: 5), !data.isEmpty { data[random.int(0..<data.count)] = UInt8(random.int(0...255)) }
            _ = playout.receive(event, data, player: player, at: at(now))
            _ = playout.look(player, at: at(now))
            _ = playout.grow(player, on: 0, at: at(now))
        }
        _ = playout.receive(.board, service.replyBytes(), player: nil, at: at(now))
        #expect(playout.isJoined && playout.board.digest == service.room.head.digest)
    }
}
