import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// Whatever is lost, repeated, reordered, asked for and sent again.
@Suite("Any loss, any order")
struct LossTests {
    private static let seeds = TestSeed.choose(12)

    private func configuration(_ random: inout SeededGenerator) -> RoomConfiguration {
        RoomConfiguration(
            intake: IntakeLimits(messagesPerSecond: 100_000, bytesPerSecond: 1 << 30),
            history: HistoryConfiguration(
                scope: random.chance(50, in: 100) ? .room : .author, depth: random.int(1...12),
                clear: random.chance(50, in: 100) ? .final : .undoable))
    }

    @Test(
        "The log and the board are those of the plain rules; every operation ends applied, or its author knows why not",
        arguments: seeds)
    func agrees(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var probe = RoomProbe(configuration(&random))
        var lesson = LossyClass(seed: random.next(), at: probe.now, authors: 1...4, operations: 60)
        while !lesson.isOver { lesson.step(&probe) }
        while !isQuiet(probe) { lesson.step(&probe) }

        var plain = PlainRoom(probe.room.configuration.history)
        for arrival in lesson.arrivals { plain.receive(arrival) }
        plain.giveUp(until: probe.now)

        try #require(probe.applied.map(\.summary) == plain.log, "seed \(seed)")
        #expect(probe.applied.map(\.index) == Array(1...UInt64(probe.applied.count)), "seed \(seed)")
        #expect(probe.visible == plain.board.visible, "seed \(seed)")
        #expect(probe.room.head.digest.value == plain.board.digest, "seed \(seed)")
        for element in probe.room.head.visible {
            let points = try #require(element.stroke.decoded()).points
            let ink = points.map { Int($0.x) }
            #expect(ink == plain.ink[element.stroke.index], "seed \(seed)")
        }
        expectAllTold(lesson, probe, seed)
        #expect(probe.applied.count > 20, "seed \(seed): too little was applied for this to mean anything")
    }

    @Test(
        "However late and often decisions come back: dense indices, every operation applied or its author told",
        arguments: seeds)
    func slowJournal(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var probe = RoomProbe(configuration(&random))
        probe.decisionsReturn = (0..<random.int(1...3)).map { _ in random.milliseconds(1...1500) }
        var lesson = LossyClass(seed: random.next(), at: probe.now, authors: 1...4, operations: 60)
        while !lesson.isOver { lesson.step(&probe) }
        while !isQuiet(probe) { lesson.step(&probe) }
        #expect(probe.applied.map(\.index) == Array(1...UInt64(probe.applied.count)), "seed \(seed)")
        #expect(probe.room.head.digest.value == plainDigest(probe.visible), "seed \(seed)")
        expectAllTold(lesson, probe, seed)
        let numbers = probe.applied.map { "\($0.author.text) \($0.number)" }
        #expect(Set(numbers).count == numbers.count, "seed \(seed): an operation was applied twice")
    }

    @Test("Without loss everything is applied, whatever the order within 2 s, and nobody waits in the end")
    func onlyReordered() {
        let seed = TestSeed.choose()
        var probe = RoomProbe(
            RoomConfiguration(intake: IntakeLimits(messagesPerSecond: 100_000, bytesPerSecond: 1 << 30)))
        var lesson = LossyClass(
            seed: seed, at: probe.now, authors: 4...4, operations: 80,
            loss: LossyClass.Loss(lost: 0, repeated: 30, delayed: 0))
        while !lesson.isOver { lesson.step(&probe) }
        probe.wait(.seconds(20))
        #expect(probe.decisions.isEmpty, "seed \(seed)")
        #expect(probe.room.assemblingCount == 0, "seed \(seed)")
        let rejected = probe.counts.intake.rejected
        #expect(Set(rejected.keys).isSubset(of: [.nothingToUndo, .nothingToRedo, .tooLate]), "seed \(seed)")
    }

    /// Whether nobody has been told anything for so long that nothing is waited for any more.
    private func isQuiet(_ probe: RoomProbe) -> Bool {
        probe.now - (probe.told.last?.at ?? probe.now) > .seconds(12)
    }

    private func expectAllTold(_ lesson: LossyClass, _ probe: RoomProbe, _ seed: UInt64) {
        var told: Set<String> = []
        for entry in probe.told {
            switch entry.feedback {
            case .applied(let number, _): told.insert("\(entry.author.text) \(number)")
            case .rejected(let number?, _, _): told.insert("\(entry.author.text) \(number)")
            case .gaveUp(let from, let to):
                for number in from...to { told.insert("\(entry.author.text) \(number)") }
            default: break
            }
        }
        #expect(lesson.arrived.subtracting(told) == [], "seed \(seed)")
    }
}
