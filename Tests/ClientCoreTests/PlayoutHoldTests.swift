import CoreTrial
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

@Suite struct `How long what waits for a player is held` {
    @Test func `each value is held for 30 s of a player that runs, and those behind it not longer for it`() {
        var queue = PlayoutQueue<Int>(maximumHold: .seconds(30))
        var released: [Int: Duration] = [:]
        // A running player that never comes near them; two values a second for 10 s.
        for step in 0..<500 {
            let (now, player) = (Duration.milliseconds(step * 100), MediaTime(milliseconds: Int64(step * 100)))
            if step < 100, step % 5 == 0 {
                queue.add(step / 5, time: MediaTime(days: 1), isLate: false, bytes: 1, player: player, at: now)
            }
            queue.look(player, at: now)
            while let value = queue.takeDue(player) { released[value] = now }
        }
        #expect(queue.isEmpty && queue.bytes == 0)
        for value in 0..<20 {
            #expect(released[value] == Duration.milliseconds(value * 500) + .seconds(30), "\(value)")
        }
    }

    @Test func `operations that come while the player is paused are held as long as it pauses, and 30 s of it running`()
    {
        var queue = PlayoutQueue<Int>(maximumHold: .seconds(30))
        let player = MediaTime(milliseconds: Int64(5))
        var now = Duration.zero
        queue.add(0, time: MediaTime(days: 1), isLate: false, bytes: 1, player: player, at: now)
        for value in 1...100 {
            now += .seconds(1)
            queue.add(value, time: MediaTime(days: 1), isLate: false, bytes: 1, player: player, at: now)
            #expect(queue.takeDue(player) == nil)
        }
        // Its time is not known any more: all have waited as long from here on.
        queue.look(nil, at: now + .milliseconds(29_999))
        #expect(queue.takeDue(nil) == nil)
        queue.look(nil, at: now + .seconds(30))
        for value in 0...100 { #expect(queue.takeDue(nil) == value) }
    }

    @Test func `all veiled strokes of a board are shown after 30 s of a player on another time line`() throws {
        var service = RandomRoom(HistoryConfiguration(), seed: TestSeed.choose())
        for _ in 0..<300 { service.act() }
        var playout = BoardPlayout(followsPlayer: true)
        _ = playout.receive(.board, service.replyBytes(), player: nil, at: .zero)
        let count = playout.veiled.count
        #expect(count > 0)
        _ = playout.look(nil, at: .seconds(29))
        #expect(playout.veiled.count == count)
        _ = playout.look(nil, at: .seconds(30))
        #expect(playout.veiled.isEmpty)
    }

    @Test
    func `a veiled stroke waits for those before it in the log, not for those of the pages before its page`() throws {
        let start = Instant(nanoseconds: 1_000_000_000)
        var room = Room(configuration: RoomConfiguration(), at: start)
        var effects = RoomEffects()
        for (number, (page, time)) in [(1, 1000), (0, 9000), (1, 9500)].enumerated() {
            let text = "{\"n\":\(number),\"g\":\(page),\"t\":\(time),\"d\":[{\"x\":1,\"y\":1},{\"x\":9,\"y\":9}]}"
            let author = try #require(AuthorID("ann"))
            let message = IncomingMessage(author: author, session: nil, bytes: Array(text.utf8), loggedAt: start)
            room.receive(message, incarnation: { "life-1" }, at: start, into: &effects)
        }
        let board = try #require(room.catchUpHead(JoinRequest()))
        var playout = BoardPlayout(followsPlayer: true)
        let bytes = board.encoded(palette: .standard, style: "smooth", as: .json)
        _ = playout.receive(.board, bytes, player: MediaTime(milliseconds: Int64(0)), at: .zero)
        #expect(playout.veiled == [1, 2, 3])
        _ = playout.look(MediaTime(milliseconds: Int64(1001)), at: .milliseconds(10))
        #expect(playout.veiled == [2, 3])
        _ = playout.look(MediaTime(milliseconds: Int64(9001)), at: .milliseconds(20))
        #expect(playout.veiled == [3])
    }
}

extension MediaTime {
    fileprivate init(days: Int64) { self.init(microseconds: days * 86_400_000_000) }
}

@Suite struct `Strokes being drawn, whose operations are there` {
    /// Has the operation of a stroke with so many points.
    private func complete(_ ink: inout WetInk, _ number: Int64, points count: Int) throws {
        let points = Array(repeating: "{\"x\":1,\"y\":1}", count: count).joined(separator: ",")
        let event = GatewayEvent.operation(UInt64(number + 1), "{\"n\":\(number),\"t\":0,\"d\":[\(points)]}")
        let operation = try ReleasedOperation(decoding: event)
        ink.complete(operation, number: number, pointCount: try operation.header().points.count, at: .zero)
    }

    @Test func `one with more than 100,000 points appears with its operation`() throws {
        var ink = WetInk()
        try complete(&ink, 0, points: WetInk.mostPointsOfOne + 1)
        #expect(ink.isEmpty)
        try complete(&ink, 1, points: WetInk.mostPointsOfOne)
        #expect(ink.strokes.map { $0.growing.count } == [WetInk.mostPointsOfOne])
    }

    @Test func `all of them have 400,000 points at most, and room again when one is shown`() throws {
        var ink = WetInk()
        for number in 0..<6 as Range<Int64> { try complete(&ink, number, points: 90_000) }
        #expect(ink.strokes.count == WetInk.mostPoints / 90_000)
        _ = ink.settle(try #require(AuthorID("ann")), 0, at: .zero)
        try complete(&ink, 4, points: 90_000)
        #expect(ink.strokes.map { $0.number } == [1, 2, 3, 4])
    }
}
