import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// A room that was restored from a checkpoint goes on as the one that was never gone.
@Suite("Restarts")
struct RestartTests {
    private static let seeds = TestSeed.choose(10)

    private func configuration(_ random: inout SeededGenerator, cohortsAreNamed: Bool) -> RoomConfiguration {
        let settings = CohortSettings(
            policy: [.maxhold, .maxhold, .hold, .freerun][random.int(0...3)], maxHold: .seconds(random.int(2...20)))
        let named = cohortsAreNamed ? TroubledClass.names.map { ($0, settings) } : []
        return RoomConfiguration(
            intake: IntakeLimits(messagesPerSecond: [8, 1000][random.int(0...1)], numberLead: 200),
            history: HistoryConfiguration(
                scope: random.chance(50, in: 100) ? .room : .author, depth: random.int(1...12),
                clear: random.chance(50, in: 100) ? .final : .undoable),
            cohorts: CohortsConfiguration(defaults: settings, named: Dictionary(uniqueKeysWithValues: named)),
            log: LogRetention(tail: cohortsAreNamed ? random.int(0...100) : 0))
    }

    @Test("At any moment of a wild class: the same from then on, down to the last byte of the state", arguments: seeds)
    func atOnce(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Who comes late to a room starts where its log begins: with its released tail, which checkpoints leave out.
        var probe = RoomProbe(configuration(&random, cohortsAreNamed: false))
        probe.decisionsReturn = [[.zero], [.milliseconds(7)], [.milliseconds(900), .seconds(2)]][random.int(0...2)]
        var lesson = TroubledClass(seed: random.next(), at: probe.now, operations: 50, isWild: true)
        var restarts: [Restart] = []
        while !lesson.isOver {
            lesson.step(&probe)
            guard random.chance(2, in: 100) else { continue }
            probe.take(.clocksLost)
            var restart = Restart(checkpoint: probe)
            restart.die(&probe)
            restarts.append(restart)
        }
        lesson.end(&probe)
        for restart in restarts.shuffled(using: &random).prefix(5) {
            let restored = try restart.restored(
                for: probe, logAhead: random.milliseconds(-1_000_000_000...1_000_000_000))
            restart.expectSame(restored, probe, seed)
            #expect(restored.room.checkpoint().encoded() == probe.room.checkpoint().encoded(), "seed \(seed)")
        }
        #expect(probe.applied.count > 20 && probe.room.isQuiet && !restarts.isEmpty, "seed \(seed)")
    }

    @Test(
        "From an older checkpoint, the tail of the log and older cursors: nothing is lost, nothing comes early",
        arguments: seeds)
    func fromTail(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var probe = RoomProbe(configuration(&random, cohortsAreNamed: true))
        probe.decisionsReturn = [random.milliseconds(0...900)]
        var lesson = TroubledClass(seed: random.next(), at: probe.now, operations: 50, isWild: false)
        var restarts: [Restart] = []
        var restart: Restart?
        while !lesson.isOver {
            lesson.step(&probe)
            if restart == nil, random.chance(3, in: 100) {
                restart = Restart(checkpoint: probe)
                restart?.note(probe)
            }
            if random.chance(3, in: 100) { restart?.note(probe) }
            if random.chance(2, in: 100), var dying = restart {
                dying.die(&probe)
                restarts.append(dying)
                restart = nil
            }
        }
        lesson.end(&probe)
        for restart in restarts.shuffled(using: &random).prefix(5) {
            let restored = try restart.restored(
                for: probe, logAhead: random.milliseconds(-1_000_000_000...1_000_000_000))
            restart.expectSame(restored, probe, seed)
        }
        #expect(probe.applied.count > 20 && probe.room.isQuiet, "seed \(seed)")
    }
}
