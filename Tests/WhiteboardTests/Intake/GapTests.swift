import StrokeWire
import Testing
import Whiteboard

@Suite("Gaps")
struct GapTests {
    private var probe = RoomProbe()

    @Test("Who has to wait is told at once what is missing, again every 500 ms, and after 2 s that it is given up")
    mutating func notices() {
        probe.send(draw(1))
        probe.send(draw(5))
        #expect(probe.takeTold() == ["applied 1 as 1", "missing 2...4"])
        for _ in 0..<3 {
            probe.wait(.milliseconds(500) - .nanoseconds(1))
            #expect(probe.takeTold() == [])
            probe.wait(.nanoseconds(1))
            #expect(probe.takeTold() == ["missing 2...4"])
        }
        probe.wait(.milliseconds(500) - .nanoseconds(1))
        #expect(probe.takeTold() == [])
        probe.wait(.nanoseconds(1))
        #expect(probe.takeTold().suffix(2) == ["gave up 2...4", "applied 5 as 2"])
        #expect(probe.decisions == [.gaveUp(author: .alice, from: 2, to: 4)])
        #expect(probe.counts.intake.gaps == 1)
        #expect(probe.counts.intake.gaveUp == 1)
        probe.wait(.seconds(60))
        #expect(probe.takeTold() == [])
    }

    @Test("A gap that heals is told no more and nothing is given up")
    mutating func heals() {
        probe.send(draw(1))
        probe.send(draw(3))
        probe.wait(.milliseconds(700))
        probe.send(draw(2))
        _ = probe.takeTold()
        probe.wait(.seconds(20))
        #expect(probe.takeTold() == [])
        #expect(probe.decisions.isEmpty)
    }

    @Test("Each gap has its own 2 s, from the first operation behind it that became complete")
    mutating func ownPatience() {
        probe.send(draw(1))
        probe.send(draw(5))
        probe.wait(.milliseconds(300))
        probe.send(draw(3))
        probe.wait(.milliseconds(700))
        probe.send(draw(9))
        _ = probe.takeTold()
        probe.wait(.milliseconds(1000))
        #expect(probe.decisions == [.gaveUp(author: .alice, from: 2, to: 2), .gaveUp(author: .alice, from: 4, to: 4)])
        #expect(probe.applied.map(\.number) == [1, 3, 5])
        probe.wait(.milliseconds(1000))
        #expect(probe.decisions.last == .gaveUp(author: .alice, from: 6, to: 8))
        #expect(probe.applied.map(\.number) == [1, 3, 5, 9])
    }

    @Test("New gaps do not keep an author from hearing of the old ones every 500 ms")
    mutating func noticesGoOn() {
        probe.send(draw(1))
        var heard = 0
        for step in Int64(0)..<9 {
            probe.send(draw(3 + 2 * step))
            heard += probe.takeTold().count { $0 == "missing 2...2" }
            probe.wait(.milliseconds(200))
            heard += probe.takeTold().count { $0 == "missing 2...2" }
        }
        // At 0, 0.5, 1 and 1.5 s.
        #expect(heard == 4)
    }

    @Test("What is missing names the shards of strokes under assembly and the numbers between them")
    mutating func names() {
        probe.send(draw(1))
        probe.send(shard(3, 0, of: 3))
        probe.send(shard(4, 2, of: 2))
        probe.send(draw(7))
        #expect(probe.takeTold().suffix(4) == ["missing 2...2", "missing 3 [1, 2]", "missing 4 [1]", "missing 5...6"])
    }

    @Test("A stroke under assembly that has had no shard for 500 ms is told, and given up 10 s after its last shard")
    mutating func assembly() {
        probe.send(shard(1, 0, of: 2))
        probe.wait(.milliseconds(400))
        probe.send(shard(2, 0, of: 3))
        probe.wait(.milliseconds(100))
        #expect(probe.takeTold() == ["missing 1 [1]"])
        probe.wait(.milliseconds(500))
        #expect(probe.takeTold() == ["missing 1 [1]", "missing 2 [1, 2]"])
        probe.wait(.milliseconds(9000) - .nanoseconds(1))
        #expect(probe.decisions.isEmpty)
        probe.wait(.nanoseconds(1))
        #expect(probe.decisions == [.gaveUp(author: .alice, from: 1, to: 1)])
        probe.wait(.milliseconds(400))
        #expect(probe.decisions.last == .gaveUp(author: .alice, from: 2, to: 2))
        #expect(probe.takeTold().last == "gave up 2...2")
    }

    @Test("A shard that comes takes the 10 s back to their start; a repeat does not")
    mutating func assemblyGoesOn() {
        probe.send(shard(1, 0, of: 3))
        probe.wait(.seconds(9))
        probe.send(shard(1, 1, of: 3))
        probe.wait(.seconds(9))
        probe.send(shard(1, 1, of: 3))
        probe.wait(.seconds(1) - .nanoseconds(1))
        #expect(probe.decisions.isEmpty)
        probe.wait(.nanoseconds(1))
        #expect(probe.decisions.count == 1)
    }

    @Test("With more than 256 held the first gap is given up at once")
    mutating func tooManyHeld() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 10_000)))
        probe.send(draw(1))
        probe.send(draw(3))
        for number in Int64(5)..<260 { probe.send(draw(number)) }
        #expect(probe.decisions.isEmpty)
        probe.send(draw(260))
        #expect(probe.decisions == [.gaveUp(author: .alice, from: 2, to: 2)])
        #expect(probe.applied.map(\.number) == [1, 3])
        probe.send(draw(261))
        #expect(probe.decisions.last == .gaveUp(author: .alice, from: 4, to: 4))
        #expect(probe.applied.count == 259)
    }

    @Test("A refused message settles its number: nobody waits for it")
    mutating func refused() {
        probe.send(draw(1))
        probe.send(#"{"n":2,"e":7,"d":[]}"#)
        probe.send(#"{"n":4,"a":9}"#)
        probe.send(draw(5))
        probe.send(draw(3))
        #expect(probe.applied.map(\.number) == [1, 3, 5])
        #expect(
            probe.takeTold() == [
                "applied 1 as 1", "rejected 2 0 unknown-element e", "rejected 4 0 unknown-action a", "missing 3...3",
                "applied 3 as 2", "applied 5 as 3",
            ])
    }

    @Test("Applied or held operations stay as they are when a refused message comes under their number")
    mutating func refusedRepeat() {
        probe.send(draw(1))
        probe.send(draw(3))
        probe.send(#"{"n":1,"e":7,"d":[]}"#)
        probe.send(#"{"n":3,"e":7,"d":[]}"#)
        probe.send(draw(2))
        probe.send(draw(1))
        #expect(probe.applied.map(\.number) == [1, 2, 3])
        #expect(probe.takeTold().last == "applied 1 as 1")
    }
}
