import StrokeWire
import Testing
import Whiteboard

@Suite struct `Order and counts of an author` {
    private var probe = RoomProbe()

    @Test("A repeat of an applied operation is answered with its index, one that is held is dropped; both are counted")
    mutating func repeats() {
        probe.send(draw(1), draw(3))
        _ = probe.takeTold()
        probe.send(draw(3))
        #expect(probe.takeTold() == [])
        probe.send(draw(1))
        #expect(probe.takeTold() == ["applied 1 as 1"])
        #expect(probe.counts.intake.repeats == 2)
        #expect(probe.applied.count == 1)
    }

    @Test mutating func `The first number seen starts the count, rejected or not`() {
        probe.send(draw(7))
        probe.send(#"{"n":5,"e":99}"#, draw(6), by: .bob)
        #expect(probe.applied.map(\.summary) == ["1 alice 7 draw", "2 bob 6 draw"])
    }

    @Test mutating func `A refused message from below the start settles its number`() {
        probe.send(draw(5), #"{"n":4,"e":99,"d":[]}"#, draw(4))
        #expect(probe.takeTold().suffix(2) == ["rejected 4 0 unknown-element e", "rejected 4 0 unknown-element e"])
    }

    @Test("A number 0 or 1 below the start that was never sent starts a new count once it is too late to be late")
    mutating func restartBelowStart() {
        probe.send(draw(5))
        probe.wait(.seconds(3))
        probe.send(draw(1), draw(2))
        #expect(probe.applied.map(\.summary) == ["1 alice 5 draw", "2 alice 1 draw", "3 alice 2 draw"])
    }

    @Test mutating func `A shard starts a new count when its 's' differs from that of the stroke under its number`() {
        for o in 0..<2 { probe.send(shard(1, o, of: 2)) }
        probe.send(draw(2), shard(1, 0, of: 2, points: 7..<9))
        #expect(probe.applied.count == 2)
        for o in 0..<3 { probe.send(shard(1, o, of: 3)) }
        #expect(probe.applied.map(\.number) == [1, 2, 1])
        probe.send(draw(1))
        #expect(probe.applied.map(\.number) == [1, 2, 1, 1])
        probe.send(draw(2), shard(1, 0, of: 2), shard(1, 1, of: 2))
        #expect(probe.applied.map(\.number) == [1, 2, 1, 1, 2, 1])
    }

    @Test mutating func `A message that is not acceptable does not start a new count`() {
        probe.send(draw(1), draw(2), #"{"n":1,"e":99,"d":[]}"#, draw(3))
        #expect(probe.applied.map(\.number) == [1, 2, 3])
    }

    @Test mutating func `At a new count what was held or under assembly is given up`() {
        probe.send(draw(1), shard(2, 0, of: 2), draw(3), draw(5))
        _ = probe.takeTold()
        probe.send(draw(1, x: 50))
        #expect(probe.takeTold() == ["gave up 2...3", "gave up 5...5", "applied 1 as 2"])
        #expect(probe.counts.intake.gaveUp == 2)
        #expect(probe.takeTold(after: .seconds(20)) == [])
    }

    @Test
    mutating func `Under an earlier session what was applied is answered with its index, and all else is refused`() {
        probe.send(draw(1), draw(3), session: "a")
        probe.send(draw(1), session: "b")
        _ = probe.takeTold()
        probe.send(draw(1), session: "a")
        for number in Int64(2)...4 { probe.send(draw(number), session: "a") }
        probe.send(shard(5, 1, of: 2), #"{"n":2,"e":77,"d":[]}"#, session: "a")
        probe.send(draw(2), session: "b")
        #expect(
            probe.takeTold() == [
                "applied 1 as 1", "rejected 2 0 session-over", "rejected 3 0 session-over",
                "rejected 4 0 session-over", "rejected 5 1 session-over", "rejected 2 0 unknown-element e",
                "applied 2 as 3",
            ])
        #expect(probe.applied.map(\.number) == [1, 1, 2])
    }

    @Test mutating func `A count without a name ends a session too`() {
        probe.send(draw(1), draw(2), session: "a")
        probe.send(draw(1, x: 9))
        _ = probe.takeTold()
        probe.send(draw(2), draw(3), session: "a")
        #expect(probe.takeTold() == ["applied 2 as 2", "rejected 3 0 session-over"])
    }

    @Test mutating func `Feedback says which session it is about`() {
        probe.send(draw(1))
        probe.send(draw(1), draw(3), session: "a")
        probe.wait(.milliseconds(500))
        // Gives 3 up.
        probe.send(draw(7), session: "b")
        probe.send(draw(2), draw(1), "no json", session: "a")
        probe.send("no json", undo(8), undo(9), undo(10), undo(11), session: "b")
        let told = probe.told.map { "\($0.session ?? "-"): \($0.feedback.summary)" }
        #expect(
            told == [
                "-: applied 1 as 1", "a: applied 1 as 2", "a: missing 2...2", "a: missing 2...2", "a: gave up 3...3",
                "b: applied 7 as 3", "a: rejected 2 0 session-over", "a: applied 1 as 2", "a: rejected - - not-json",
                "b: rejected - - not-json", "b: applied 8 as 4", "b: applied 9 as 5", "b: applied 10 as 6",
                "b: rejected 11 0 nothing-to-undo",
            ])
    }

    @Test mutating func `An author for whom there is no place hears of it under the session of the message`() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(authors: 1)))
        probe.send(draw(1))
        probe.send(draw(1), by: .bob, session: "b")
        probe.send(draw(1), by: .bob, session: "not usable")
        #expect(probe.told.map(\.session) == [nil, "b", nil])
    }

    @Test(arguments: ["", "a b", "ä", String(repeating: "a", count: 65), "a\u{7f}"])
    mutating func `An unusable session header is ignored`(_ name: String) {
        probe.send(draw(1))
        probe.send(draw(2), draw(1), session: name)
        #expect(probe.applied.map(\.number) == [1, 2])
    }

    @Test mutating func `The author is never a field of the message`() {
        probe.send(draw(1, #","author":"bob""#))
        #expect(probe.applied.map(\.author) == [.alice])
    }
}
