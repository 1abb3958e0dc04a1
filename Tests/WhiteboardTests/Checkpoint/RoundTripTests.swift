import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite("A checkpoint and back")
struct RoundTripTests {
    private static let seeds = TestSeed.choose(8)

    @Test("A restored room encodes to the same bytes at any moment of a lossy class", arguments: seeds)
    func idempotent(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let configuration = RoomConfiguration(
            history: HistoryConfiguration(
                scope: random.chance(50, in: 100) ? .room : .author, depth: random.int(1...12),
                clear: random.chance(50, in: 100) ? .final : .undoable))
        var probe = RoomProbe(configuration)
        var lesson = LossyClass(seed: random.next(), at: probe.now, authors: 1...4, operations: 40)
        while !lesson.isOver {
            lesson.step(&probe)
            if random.chance(3, in: 100) { probe.clock(Double(random.int(0...30_000))) }
            guard random.chance(5, in: 100) else { continue }
            let bytes = probe.room.checkpoint().encoded()
            let now = Instant(nanoseconds: Int64(random.int(-1_000_000_000_000...1_000_000_000_000)))
            let restored = try Room(
                restoring: bytes, configuration: configuration, at: now, logClockAhead: probe.now - now)
            #expect(restored.checkpoint().encoded() == bytes, "seed \(seed)")
            #expect(restored.head.digest == probe.room.head.digest, "seed \(seed)")
            #expect(restored.head.weight == probe.room.head.weight, "seed \(seed)")
            #expect(restored.cursors == probe.room.cursors, "seed \(seed)")
        }
    }
}
