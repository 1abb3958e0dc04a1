import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite("Gaps")
struct GapTests {
    private var probe = RoomProbe()

    @Test mutating func `New gaps do not keep an author from hearing of the old ones every 500 ms`() {
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

    @Test mutating func `The feedback names missing shards of strokes under assembly and the numbers between them`() {
        probe.send(draw(1), shard(3, 0, of: 3), shard(4, 2, of: 2), draw(7))
        #expect(probe.takeTold().suffix(4) == ["missing 2...2", "missing 3 [1, 2]", "missing 4 [1]", "missing 5...6"])
    }

    @Test mutating func `A notice names 64 missing shards, the lowest; the rest follow when those have come`() {
        probe.send(shard(1, 3, of: 200))
        #expect(probe.takeTold(after: .milliseconds(500)) == ["missing 1 \(Array(0...64).filter { $0 != 3 })"])
        for order in 0...63 where order != 3 { probe.send(shard(1, order, of: 200)) }
        #expect(probe.takeTold(after: .milliseconds(500)) == ["missing 1 \(Array(64...127))"])
    }

    @Test
    mutating func `An author gets 64 notices in 500 ms, those of the lowest; the rest follow when those have come`() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 10_000)))
        probe.send(draw(0))
        for number in Int64(1)...64 { probe.send(shard(2 * number, 0, of: 2)) }
        _ = probe.takeTold()
        probe.send(draw(200))
        let lowest = (Int64(1)...32).flatMap { ["missing \(2 * $0 - 1)...\(2 * $0 - 1)", "missing \(2 * $0) [1]"] }
        #expect(probe.takeTold() == lowest)
        // However many operations wait.
        for number in stride(from: Int64(199), to: 130, by: -1) { probe.send(draw(number)) }
        #expect(probe.takeTold() == [])
        #expect(probe.takeTold(after: .milliseconds(500)) == lowest)
        for number in Int64(1)...3 { probe.send(draw(number * 2 - 1)) }
        for number in Int64(1)...3 { probe.send(shard(2 * number, 1, of: 2)) }
        _ = probe.takeTold()
        probe.wait(.milliseconds(500))
        let told = probe.takeTold()
        #expect(told.count == 64)
        #expect(told.first == "missing 7...7")
        #expect(told.last == "missing 70 [1]")
    }

    @Test mutating func `With more than 256 held the first gap is given up at once`() {
        probe = RoomProbe(RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 10_000)))
        probe.send(draw(1), draw(3))
        for number in Int64(5)..<260 { probe.send(draw(number)) }
        #expect(probe.decisions.isEmpty)
        probe.send(draw(260))
        #expect(probe.decisions == [.gaveUp(2...2)])
        #expect(probe.applied.map(\.number) == [1, 3])
        probe.send(draw(261))
        #expect(probe.decisions.last == .gaveUp(4...4))
        #expect(probe.applied.count == 259)
    }
}

@Suite struct `Decisions take effect where they stand in the journal` {
    private var probe = RoomProbe()

    @Test mutating func `Until a decision comes back nothing changes; what heals meanwhile is not given up`() {
        probe.decisionsReturn = [.milliseconds(300)]
        probe.send(draw(1), draw(4))
        #expect(probe.after(.milliseconds(2100)).decisions.count == 1)
        probe.send(draw(2))
        _ = probe.takeTold()
        #expect(probe.takeTold(after: .milliseconds(200)) == ["gave up 3...3", "applied 4 as 3"])
        #expect(probe.applied.map(\.number) == [1, 2, 4])
    }

    @Test mutating func `A decision that is lost is asked for again every second`() {
        probe.decisionsReturn = []
        probe.send(draw(1), draw(3))
        #expect(probe.after(.milliseconds(4500)).decisions == Array(repeating: .gaveUp(2...2), count: 3))
        probe.decisionsReturn = [.zero]
        #expect(probe.after(.milliseconds(500)).applied.map(\.number) == [1, 3])
    }

    @Test mutating func `A decision about an earlier count takes nothing away from the one that has begun since`() {
        probe.decisionsReturn = [.milliseconds(500)]
        for number in Int64(1)...5 { probe.send(draw(number)) }
        probe.send(draw(8))
        #expect(probe.after(.milliseconds(2200)).decisions == [.gaveUp(6...7)])
        for number in Int64(1)...5 { probe.send(draw(number, x: 50)) }
        probe.wait(.seconds(1))
        for number in Int64(6)...8 { probe.send(draw(number, x: 50)) }
        #expect(probe.applied.map(\.number) == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(probe.applied.allSatisfy { !$0.isLate })
    }

    @Test("A decision of another incarnation changes nothing; one of an older release, which names none, counts")
    mutating func otherIncarnation() {
        probe.decisionsReturn = []
        probe.send(draw(1), draw(3))
        probe.record(.gaveUp(author: .alice, from: 2, to: 2, incarnation: "earlier"))
        probe.send(undo(2))
        #expect(probe.takeTold() == ["applied 1 as 1", "missing 2...2", "applied 2 as 2", "applied 3 as 3"])
        probe.send(draw(5))
        probe.record(.gaveUp(author: .alice, from: 4, to: 4, incarnation: nil))
        #expect(probe.takeTold() == ["missing 4...4", "gave up 4...4", "applied 5 as 4"])
    }

    @Test(arguments: [(Int64.min, Int64.max), (.max, .min), (.max, .max), (-5, -1), (0, .max)])
    mutating func `A decision that no room would take changes nothing`(_ from: Int64, _ to: Int64) {
        probe.send(draw(1))
        probe.record(.gaveUp(author: .alice, from: from, to: to, incarnation: nil))
        probe.record(.gaveUp(author: .bob, from: from, to: to, incarnation: nil))
        probe.send(draw(2))
        #expect(probe.applied.map(\.summary) == ["1 alice 1 draw", "2 alice 2 draw"])
    }

    @Test func `The same journal gives the same log, whoever decides and when`() {
        var random = SeededGenerator(seed: TestSeed.choose())
        var owner = RoomProbe()
        var journal: [(at: Instant, author: AuthorID, text: String?, record: ControlRecord?)] = []
        for number in Int64(1)...200 {
            owner.wait(random.milliseconds(1...400))
            for decision in owner.decisions.dropFirst(journal.count { $0.record != nil }) {
                journal.append((owner.now, .alice, nil, decision))
            }
            if random.chance(20, in: 100) { continue }
            let author = random.chance(50, in: 100) ? AuthorID.alice : .bob
            let text = random.chance(80, in: 100) ? draw(number) : undo(number)
            journal.append((owner.now, author, text, nil))
            owner.send(text, by: author)
        }
        // The owner's decisions came back at once, before the message that was noted after them.
        var replica = Room(configuration: RoomConfiguration(), at: owner.now)
        var effects = RoomEffects()
        for entry in journal {
            if let record = entry.record { replica.receive(record, loggedAt: entry.at, at: owner.now, into: &effects) }
            guard let text = entry.text else { continue }
            replica.receive(
                IncomingMessage(author: entry.author, session: nil, bytes: Array(text.utf8), loggedAt: entry.at),
                incarnation: { "life" }, at: owner.now, into: &effects)
        }
        #expect(replica.head.index == owner.room.head.index, "seed \(random.seed)")
        #expect(replica.head.digest == owner.room.head.digest, "seed \(random.seed)")
        #expect(owner.decisions.isEmpty == false, "seed \(random.seed)")
    }
}
