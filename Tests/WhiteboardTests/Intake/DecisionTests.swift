import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite("Decisions take effect where they stand in the journal")
struct DecisionTests {
    private var probe = RoomProbe()

    @Test("Until a decision comes back nothing changes; what heals meanwhile is not given up")
    mutating func heals() {
        probe.decisionsReturn = [.milliseconds(300)]
        probe.send(draw(1))
        probe.send(draw(4))
        probe.wait(.milliseconds(2100))
        #expect(probe.decisions.count == 1)
        probe.send(draw(2))
        _ = probe.takeTold()
        probe.wait(.milliseconds(200))
        #expect(probe.takeTold() == ["gave up 3...3", "applied 4 as 3"])
        #expect(probe.applied.map(\.number) == [1, 2, 4])
    }

    @Test("A decision that comes twice counts once")
    mutating func twice() {
        probe.decisionsReturn = [.zero, .milliseconds(100), .seconds(5)]
        probe.send(draw(1))
        probe.send(draw(3))
        probe.wait(.seconds(4))
        probe.send(draw(5))
        probe.wait(.seconds(20))
        #expect(probe.counts.intake.gaveUp == 2)
        #expect(probe.applied.map(\.number) == [1, 3, 5])
    }

    @Test("A decision that is lost is asked for again every second")
    mutating func lost() {
        probe.decisionsReturn = []
        probe.send(draw(1))
        probe.send(draw(3))
        probe.wait(.milliseconds(4500))
        #expect(probe.decisions == Array(repeating: .gaveUp(author: .alice, from: 2, to: 2), count: 3))
        probe.decisionsReturn = [.zero]
        probe.wait(.milliseconds(500))
        #expect(probe.applied.map(\.number) == [1, 3])
    }

    @Test("A decision about an earlier count takes nothing away from the one that has begun since")
    mutating func otherCount() {
        probe.decisionsReturn = [.milliseconds(500)]
        for number in Int64(1)...5 { probe.send(draw(number)) }
        probe.send(draw(8))
        probe.wait(.milliseconds(2200))
        #expect(probe.decisions == [.gaveUp(author: .alice, from: 6, to: 7)])
        for number in Int64(1)...5 { probe.send(draw(number, x: 50)) }
        probe.wait(.seconds(1))
        for number in Int64(6)...8 { probe.send(draw(number, x: 50)) }
        #expect(probe.applied.map(\.number) == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(probe.applied.allSatisfy { !$0.isLate })
    }

    @Test(
        "A decision that no room would take changes nothing",
        arguments: [(Int64.min, Int64.max), (.max, .min), (.max, .max), (-5, -1), (0, .max)])
    mutating func absurd(_ from: Int64, _ to: Int64) {
        probe.send(draw(1))
        probe.record(.gaveUp(author: .alice, from: from, to: to))
        probe.record(.gaveUp(author: .bob, from: from, to: to))
        probe.send(draw(2))
        #expect(probe.applied.map(\.summary) == ["1 alice 1 draw", "2 alice 2 draw"])
    }

    @Test("The same journal gives the same log, whoever decides and when")
    func replicas() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
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
        #expect(replica.head.index == owner.room.head.index, "seed \(seed)")
        #expect(replica.head.digest == owner.room.head.digest, "seed \(seed)")
        #expect(owner.decisions.isEmpty == false, "seed \(seed)")
    }
}
