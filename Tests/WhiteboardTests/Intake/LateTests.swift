import StrokeWire
import Testing
import Whiteboard

@Suite("What comes after it was given up")
struct LateTests {
    private var probe = RoomProbe()

    /// Number 1 is applied, 2 … `last` - 1 are given up, `last` is applied.
    private mutating func giveUp(before last: Int64, _ text: String? = nil) {
        probe.send(draw(1))
        probe.send(text ?? draw(last))
        probe.wait(.seconds(2))
        _ = probe.takeTold()
    }

    @Test("A stroke is drawn where it arrives, marked late, and once")
    mutating func stroke() {
        giveUp(before: 4)
        probe.send(draw(3))
        probe.send(draw(3))
        probe.send(draw(2))
        #expect(probe.takeTold() == ["applied 3 as 3", "applied 3 as 3", "applied 2 as 4"])
        #expect(probe.applied.map(\.isLate) == [false, false, true, true])
        #expect(probe.visible == [1, 2, 3, 4])
        #expect(probe.counts.intake.late == 2)
    }

    @Test("One that was given up while smaller numbers are still waited for is settled once it is drawn")
    mutating func beforeItsTurn() {
        probe.send(draw(1))
        probe.send(draw(5))
        probe.record(.gaveUp(author: .alice, from: 3, to: 3))
        probe.send(draw(3))
        _ = probe.takeTold()
        probe.send(draw(2))
        probe.send(draw(4))
        #expect(probe.takeTold() == ["applied 2 as 3", "applied 4 as 4", "applied 5 as 5"])
        probe.send(draw(3))
        #expect(probe.takeTold() == ["applied 3 as 2"])
    }

    @Test("It is late itself; its release is not, where the clock released it in time")
    mutating func released() {
        probe.clock(100_000)
        giveUp(before: 3)
        probe.send(draw(2, #","t":1"#))
        #expect(probe.shown() == [1, 2, 3])
        #expect(probe.shown.map(\.operation.isLate) == [false, false, true])
        #expect(probe.shown.allSatisfy { !$0.isLate })
    }

    @Test("However many are drawn out of order, none is drawn twice while a smaller number is still waited for")
    mutating func onceAhead() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 1_000_000)))
        probe.send(draw(1))
        probe.send(draw(4000))
        probe.record(.gaveUp(author: .alice, from: 3, to: 3999))
        let late = stride(from: Int64(3), to: 3999, by: 2)
        for number in late { probe.send(draw(number)) }
        // As many as are remembered; the others are rejected.
        #expect(probe.applied.count == 1 + 1024)
        #expect(probe.takeTold().last == "rejected 3997 0 too-many-pending")
        for number in late { probe.send(draw(number)) }
        #expect(probe.applied.count == 1 + 1024)
        probe.send(draw(2))
        for number in late { probe.send(draw(number)) }
        probe.wait(.seconds(10))
        for number in late { probe.send(draw(number)) }
        #expect(Set(probe.applied.map(\.number)).count == probe.applied.count)
    }

    @Test("Nor is one from below the start of its count drawn twice")
    mutating func onceBelowStart() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 1_000_000)))
        probe.send(draw(5000))
        let late = stride(from: Int64(4999), to: 2, by: -2)
        for number in late { probe.send(draw(number)) }
        #expect(probe.applied.count > 1024)
        for number in late { probe.send(draw(number)) }
        #expect(Set(probe.applied.map(\.number)).count == probe.applied.count)
    }

    @Test("A stroke whose shards had begun to arrive becomes whole with the rest of them")
    mutating func shards() {
        probe.send(draw(1))
        probe.send(shard(2, 0, of: 3))
        probe.send(draw(3))
        probe.wait(.seconds(2))
        probe.send(shard(2, 1, of: 3))
        probe.send(shard(2, 1, of: 3))
        probe.send(shard(2, 1, of: 3, points: 7..<9))
        #expect(
            probe.takeTold().suffix(4) == [
                "gave up 2...2", "applied 3 as 2", "gave up 2...2", "rejected 2 1 shard-conflict d",
            ])
        probe.send(shard(2, 2, of: 3))
        #expect(probe.applied.map(\.summary).last == "3 alice 2 draw late")
    }

    @Test("After a clear since it was given up a stroke is too late, all its shards with it, and stays so")
    mutating func clearSince() {
        giveUp(before: 4)
        probe.send(clear(5))
        _ = probe.takeTold()
        probe.send(draw(2))
        probe.send(draw(2))
        probe.send(shard(3, 0, of: 2))
        probe.send(shard(3, 1, of: 2))
        #expect(
            probe.takeTold() == [
                "rejected 2 0 too-late", "rejected 2 0 too-late", "rejected 3 0 too-late", "rejected 3 1 too-late",
            ])
        #expect(probe.visible == [])
    }

    @Test("A clear that had waited behind the gap counts as one since")
    mutating func clearBehind() {
        giveUp(before: 4, clear(4))
        probe.send(draw(2))
        #expect(probe.takeTold() == ["rejected 2 0 too-late"])
    }

    @Test("A clear before it was given up does not")
    mutating func clearBefore() {
        probe.send(clear(1), by: .bob)
        giveUp(before: 4)
        probe.send(draw(2))
        #expect(probe.takeTold() == ["applied 2 as 4"])
    }

    @Test("An undo, redo or clear is too late, and answered so again", arguments: [undo(2), redo(2), clear(2)])
    mutating func commands(_ text: String) {
        giveUp(before: 4)
        probe.send(text)
        probe.send(text)
        #expect(probe.takeTold() == ["rejected 2 0 too-late", "rejected 2 0 too-late"])
        #expect(probe.visible == [1, 2])
        #expect(probe.counts.intake.repeats == 1)
    }

    @Test("A refused message under a number that was given up leaves it given up")
    mutating func refused() {
        giveUp(before: 4)
        probe.send(#"{"n":2,"e":7,"d":[]}"#)
        probe.send(draw(2))
        #expect(probe.takeTold() == ["rejected 2 0 unknown-element e", "applied 2 as 3"])
    }

    @Test("So it does while smaller numbers are still waited for")
    mutating func refusedAhead() {
        probe.send(draw(1))
        probe.send(draw(5))
        probe.record(.gaveUp(author: .alice, from: 3, to: 4))
        probe.send(#"{"n":4,"e":7,"d":[]}"#)
        probe.send(draw(4))
        #expect(probe.takeTold().last == "applied 4 as 2")
        #expect(probe.applied.last?.isLate == true)
    }
}
