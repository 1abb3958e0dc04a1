import CoreTrial
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import ClientCore

/// A pointer that moves to the right, 10 units in 100 ms.
private func pointer(_ number: Int, time: Int? = nil, steps: ClosedRange<Int> = 0...10, _ more: String = "") -> String {
    let places = steps.map { "{\"x\":\($0 * 10),\"y\":50,\"m\":\(($0 - steps.lowerBound) * 100)}" }
    return
        "{\"n\":\(number),\"e\":7,\"c\":3,\"l\":4\(time.map { ",\"t\":\($0)" } ?? "")\(more),\"d\":[\(places.joined(separator: ","))]}"
}

extension Class {
    /// Points of a pointer that is being drawn.
    fileprivate mutating func wet(
        _ number: Int, from first: Int, _ steps: ClosedRange<Int>, time: Int? = nil, player: Int? = nil, now: Int
    ) {
        let places = steps.map { "{\"x\":\($0 * 10),\"y\":50,\"m\":\($0 * 100)}" }.joined(separator: ",")
        let text =
            "{\"author\":\"ann\",\"session\":\"s\",\"n\":\(number),\"k\":\(first),\"page\":0,\"c\":3,\"l\":4,\"e\":7\(time.map { ",\"t\":\($0)" } ?? ""),\"d\":[\(places)]}"
        _ = playout.receive(.wet, Array(text.utf8), player: media(player), at: at(now))
    }

    /// What is seen at a time.
    fileprivate mutating func sights(_ player: Int?, now: Int, page: Int = 0) -> [PointerSight] {
        _ = look(player, now: now)
        _ = grow(player, now: now, page: page)
        return playout.pointers
    }
}

@Suite struct `A pointer on a student's board` {
    private var room = Class()

    @Test
    mutating func `is seen at the player's time with 600 ms of trail, until 400 ms past its end, on no board`() throws {
        room.send(pointer(1, time: 1000), player: 900)
        #expect(room.sights(1000, now: 100).isEmpty)
        var seen = room.sights(1001, now: 101)
        #expect(seen.count == 1 && seen[0].author == AuthorID("ann") && seen[0].colour == 3 && seen[0].width == 4)
        #expect(seen[0].tip?.y == 50 && abs((seen[0].tip?.x ?? 9) - 0.1) < 0.01)
        seen = room.sights(1950, now: 1050)
        // Between two points it moves.
        #expect(abs((seen[0].tip?.x ?? 0) - 95) < 0.01 && seen[0].tip?.opacity == 1)
        #expect(seen[0].trail.map(\.x) == [40, 50, 60, 70, 80, 90])
        #expect(zip(seen[0].trail, seen[0].trail.dropFirst()).allSatisfy { $0.opacity < $1.opacity })
        seen = room.sights(2200, now: 1300)
        #expect(seen[0].tip == PointerSight.Place(x: 100, y: 50, opacity: 0.5))
        #expect(room.sights(2399, now: 1499).count == 1)
        #expect(room.sights(2400, now: 1500).isEmpty)
        #expect(!room.playout.hasPointers || room.sights(2500, now: 1600).isEmpty)
        #expect(room.playout.board.index == 1 && room.playout.board.visible.isEmpty)
        #expect(room.playout.board.digest == .empty && room.playout.wetInk.strokes.isEmpty)
    }

    @Test mutating func `is told of before each frame while it moves, and less often while it rests`() {
        room.send(pointer(1, time: 1000, steps: 0...1).replacing("\"m\":100", with: "\"m\":5000"), player: 1001)
        func wait(_ player: Int) -> Duration? {
            _ = room.playout.look(media(player), at: at(player))
            return room.playout.grow(media(player), on: 0, at: at(player)).wait
        }
        #expect(wait(1002) == .zero)
        #expect(wait(3000) == .milliseconds(100), "it rests")
        #expect(wait(5950) == .zero)
        #expect(wait(6200) == .zero)
        #expect(wait(6400) == nil)
    }

    @Test mutating func `is not seen by a player that is beyond it, nor by who joins later`() {
        room.send(pointer(1, time: 1000), player: 2400)
        #expect(room.sights(2401, now: 1).isEmpty)
        var service = RandomRoom(HistoryConfiguration(), seed: 1)
        while service.operations.filter({ $0.isPointer }).count < 3 { service.act() }
        var joined = BoardPlayout(followsPlayer: false)
        _ = joined.receive(.board, service.replyBytes(), player: nil, at: .zero)
        #expect(joined.grow(nil, on: joined.board.pages.shown, at: at(1)).actions.isEmpty && joined.pointers.isEmpty)
        #expect(joined.board.index == service.operations.last?.index)
        // A board may come with the operations after it.
        var other = Class(followsPlayer: false)
        other.send(pointer(1, time: 1000), now: 20)
        #expect(other.sights(nil, now: 30).isEmpty)
        other.send(pointer(2, time: 1000), now: 600)
        #expect(other.sights(nil, now: 700).count == 1)
    }

    @Test mutating func `is on its own page alone, in the units of the board`() {
        room.send("{\"n\":1,\"t\":900,\"w\":2048,\"h\":1536,\"d\":[{\"x\":1,\"y\":1}]}", player: 950)
        room.send(pointer(2, time: 1000, ",\"w\":1024,\"h\":768"), page: 2, player: 1001)
        #expect(room.sights(1500, now: 500).isEmpty)
        let seen = room.sights(1550, now: 550, page: 2)
        #expect(abs((seen.first?.tip?.x ?? 0) - 110) < 0.01 && seen.first?.tip?.y == 100 && seen.first?.width == 8)
    }

    @Test mutating func `grows where strokes grow, and goes on as its operation comes`() {
        room.wet(1, from: 0, 0...3, time: 1000, player: 1100, now: 0)
        #expect(room.sights(1250, now: 50).first?.trail.map(\.x) == [0, 10, 20])
        #expect(room.sights(1900, now: 700).first?.tip?.x == 30, "it rests where it is known to be")
        room.wet(1, from: 4, 4...8, time: 1000, player: 1900, now: 710)
        #expect(abs((room.sights(1750, now: 720).first?.tip?.x ?? 0) - 75) < 0.01)
        // The operation waits for the player to reach its end, and is seen meanwhile.
        room.send(pointer(1, time: 1000), player: 1760, now: 730)
        #expect(room.playout.board.index == 0)
        #expect(abs((room.sights(1950, now: 740).first?.tip?.x ?? 0) - 95) < 0.01)
        #expect(room.sights(2001, now: 800).count == 1 && room.playout.board.index == 1)
        #expect(room.sights(2400, now: 1200).isEmpty)
        // A message that was late changes nothing.
        room.wet(1, from: 0, 0...8, time: 1000, player: 2400, now: 1210)
        #expect(room.sights(2410, now: 1220).isEmpty)
    }

    @Test func `that is given up goes at once`() {
        var room = Class(followsPlayer: false)
        room.wet(1, from: 0, 0...3, now: 0)
        #expect(room.sights(nil, now: 10).count == 1)
        let end = "{\"author\":\"ann\",\"session\":\"s\",\"n\":1,\"x\":true}"
        _ = room.playout.receive(.wet, Array(end.utf8), player: nil, at: at(20))
        #expect(room.sights(nil, now: 30).isEmpty)
    }

    @Test func `is played by the clock of the page where no player tells`() {
        var room = Class(followsPlayer: false)
        room.send(pointer(1, time: 123_456), now: 1000)
        #expect(abs((room.sights(nil, now: 1550).first?.tip?.x ?? 0) - 55) < 0.01)
        #expect(room.sights(nil, now: 2399).count == 1 && room.sights(nil, now: 2400).isEmpty)
        // Points that come while it is drawn are seen as they come.
        room.wet(2, from: 0, 0...3, now: 5000)
        #expect(room.sights(nil, now: 5001).first?.tip?.x == 30)
        room.wet(2, from: 4, 4...5, now: 5200)
        #expect(room.sights(nil, now: 5201).first?.tip?.x == 50)
        #expect(room.sights(nil, now: 9000).first?.tip?.x == 50, "it rests")
        room.send(pointer(2, time: 1, steps: 0...5), now: 9100)
        #expect(room.sights(nil, now: 9100).isEmpty, "its last point is long ago")
    }

    @Test mutating func `that goes on in another operation has one tip`() {
        room.send(pointer(1, time: 1000), player: 1001)
        room.send(pointer(2, time: 2000, steps: 10...20), player: 1001)
        room.send(pointer(1, time: 2000, steps: 40...50), by: "ben", player: 1001)
        let seen = room.sights(2150, now: 1150)
        #expect(seen.map { $0.author.text } == ["ann", "ann", "ben"])
        #expect(seen.map { $0.tip != nil } == [false, true, true])
    }

    @Test func `under the own hand is seen at once, and not again when the room has it`() {
        var room = Class(followsPlayer: false, isHead: true)
        let ann = AuthorID("ann")!
        for step in 0...10 {
            room.playout.point(to: (Double(step * 10), 50), by: ann, colour: 3, width: 4, on: 0, at: at(step * 100))
        }
        let seen = room.sights(nil, now: 1000)
        #expect(seen.first?.tip?.x == 100 && seen.first?.trail.count == 6)
        room.playout.point(to: nil, by: ann, colour: 3, width: 4, on: 0, at: at(1100))
        #expect(room.sights(nil, now: 1300).first?.tip?.opacity == 0.5)
        #expect(room.sights(nil, now: 1500).isEmpty)
        room.send(pointer(1, time: 1000), now: 1600)
        room.send(pointer(1, time: 1000), by: "ben", now: 1600)
        #expect(room.sights(nil, now: 1700).map { $0.author.text } == ["ben"])
        // A caller that shows it by itself; what another device of the author draws is seen.
        var other = Class(followsPlayer: false, isHead: true)
        other.playout.ownAuthor = ann
        other.send(pointer(1), now: 1000)
        #expect(other.sights(nil, now: 1100).isEmpty)
        other.wet(2, from: 0, 0...3, now: 1200)
        #expect(other.sights(nil, now: 1300).count == 1)
    }

    @Test func `takes bounded memory, and the newest of a flood need not be seen`() {
        var room = Class(followsPlayer: false)
        for number in 1...300 { room.send(pointer(number), by: "a\(number)", now: 1000 + number) }
        #expect(room.sights(nil, now: 1301).count == 64)
        #expect(room.sights(nil, now: 3000).isEmpty)
        room.send(pointer(1), by: "later", now: 3001)
        #expect(room.sights(nil, now: 3100).count == 1)
        #expect(room.playout.board.index == 301)
    }
}
