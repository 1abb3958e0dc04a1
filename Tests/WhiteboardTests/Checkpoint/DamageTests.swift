import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite("Checkpoints that are not what was written")
struct DamageTests {
    /// Checkpoints of a class that has something of everything.
    private func checkpoints(_ random: inout SeededGenerator) -> [[UInt8]] {
        let history = HistoryConfiguration(depth: 8, clear: .undoable)
        var probe = RoomProbe(RoomConfiguration(history: history))
        probe.decisionsReturn = [.milliseconds(40)]
        var lesson = TroubledClass(seed: random.next(), at: probe.now, operations: 30, isWild: true)
        var found: [[UInt8]] = []
        while !lesson.isOver {
            lesson.step(&probe)
            if random.chance(1, in: 100) { found.append(probe.room.checkpoint().encoded()) }
        }
        return found + [probe.room.checkpoint().encoded()]
    }

    /// Restores the room if the bytes let it, and makes use of all of it.
    /// - Returns: whether they did.
    private func use(_ bytes: [UInt8], _ random: inout SeededGenerator) -> Bool {
        let now = Instant(nanoseconds: 1 << 40)
        let configuration = RoomConfiguration(history: HistoryConfiguration(depth: 8, clear: .undoable))
        guard
            let room = try? Room(
                restoring: bytes, configuration: configuration, at: now,
                logClockAhead: .seconds(random.chance(50, in: 100) ? 0 : .min))
        else { return false }
        for element in room.head.visible { _ = element.stroke.decoded() }
        for operation in room.log.kept { _ = operation.restoredMessage }
        var probe = RoomProbe(room, at: now, logAhead: .zero)
        probe.decisionsReturn = [.milliseconds(1)]
        probe.restoreCursors([.main: random.next()])
        for author in ["author-0", "author-1", "carol", "mallory"] {
            for text in [draw(20), undo(21), shard(22, 1, of: 2), draw(40), redo(41), clear(42), undo(43)] {
                probe.send(text, by: .known(author), session: random.chance(20, in: 100) ? "s1" : nil)
            }
        }
        probe.clock(1e7, .main, #","d":true,"ep":9000"#)
        probe.record(.epoch(9000))
        probe.clock(1e7, .main, #","ep":9000"#)
        probe.wait(.seconds(45))
        _ = probe.room.catchUp(JoinRequest(), cohort: .main)
        return
            (try? Room(
                restoring: probe.room.checkpoint().encoded(), configuration: configuration, at: now,
                logClockAhead: .zero)) != nil
    }

    @Test("Cut short anywhere they are refused")
    func truncated() throws {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let bytes = try #require(checkpoints(&random).max { $0.count < $1.count })
        for count in 0..<bytes.count {
            #expect(throws: CheckpointError.self, "seed \(seed)") {
                try Room(
                    restoring: Array(bytes[..<count]), configuration: RoomConfiguration(), at: Instant(nanoseconds: 0),
                    logClockAhead: .zero)
            }
        }
        #expect(throws: CheckpointError.damaged(at: bytes.count), "seed \(seed)") {
            try Room(
                restoring: bytes + [0], configuration: RoomConfiguration(), at: Instant(nanoseconds: 0),
                logClockAhead: .zero)
        }
    }

    @Test("Of another version they are refused as such")
    func version() {
        let room = Room(configuration: RoomConfiguration(), at: Instant(nanoseconds: 0))
        var bytes = room.checkpoint().encoded()
        bytes[3] = 2
        #expect(throws: CheckpointError.unknownVersion(2)) {
            try Room(
                restoring: bytes, configuration: RoomConfiguration(), at: Instant(nanoseconds: 0), logClockAhead: .zero)
        }
    }

    @Test("With changed bytes nothing traps: neither reading them nor the room that comes of them")
    func flipped() {
        let seed = TestSeed.choose()
        var random = SeededGenerator(seed: seed)
        let found = checkpoints(&random)
        var usable = 0
        for _ in 0..<600 {
            guard var bytes = found.randomElement(using: &random) else { break }
            for _ in 0..<random.int(1...3) {
                let position = random.int(4...(bytes.count - 1))
                switch random.int(0...3) {
                case 0: bytes[position] ^= 1 << random.int(0...7)
                case 1: bytes[position] = [0, 1, 0x7f, 0x80, 0xff][random.int(0...4)]
                case 2: bytes.insert(contentsOf: [UInt8](repeating: 0xff, count: 8) + [1], at: position)
                default: bytes[position] = UInt8(random.int(0...255))
                }
            }
            if use(bytes, &random) { usable += 1 }
        }
        for _ in 0..<200 {
            _ = use([0x4c, 0x43, 0x50, 1] + (0..<random.int(0...300)).map { _ in UInt8(random.int(0...255)) }, &random)
        }
        #expect(usable > 20, "seed \(seed): hardly a room came of it")
    }
}
