import StrokeWire
import Whiteboard

/// Memory and checkpoints of very many rooms, in one process and without a network.
struct RoomsInMemory {
    let messages: RoomMessages
    let count: Int

    func measure(into report: inout BenchReport) throws {
        let start = ProcessMemory.now
        var rooms: [Room] = []
        rooms.reserveCapacity(count)
        var now = Instant(nanoseconds: 0)
        let writing = try ContinuousClock().measure {
            for number in 0..<count {
                let written = try messages.room()
                rooms.append(written.room)
                now = written.now
                Progress.say(number + 1, of: count, "rooms written")
            }
        }
        report.add("written: messages a second", Double(messages.messages.count * count) / (writing / .seconds(1)))
        add(memory: start, "awake", into: &report)
        for position in rooms.indices { Self.rest(&rooms[position], from: now) }
        add(memory: start, "at rest", into: &report)
        let checkpoints = save(&rooms, into: &report)
        rooms = []
        let saved = ProcessMemory.now
        // The checkpoints are in the figure before, so they must be in the one after.
        try withExtendedLifetime(checkpoints) {
            try restore(checkpoints, into: &rooms, &report)
            add(memory: saved, "restored", into: &report)
        }
    }

    /// Two minutes without messages.
    static func rest(_ room: inout Room, from now: Instant) {
        var effects = RoomEffects()
        var time = now
        while let wake = room.nextWake(after: time), wake <= now + .seconds(120) {
            time = wake
            room.advance(to: time, into: &effects)
            effects.removeAll()
        }
    }

    private func save(_ rooms: inout [Room], into report: inout BenchReport) -> [[UInt8]] {
        var checkpoints: [[UInt8]] = []
        let time = ContinuousClock().measure { checkpoints = rooms.map { $0.checkpoint().encoded() } }
        let bytes = checkpoints.reduce(0) { $0 + $1.count }
        report.add("checkpoint: bytes a room", Double(bytes) / Double(count))
        report.add("checkpoint: bytes a point", Double(bytes) / Double(count * messages.points))
        report.add("checkpoint: rooms encoded a second", Double(count) / (time / .seconds(1)))
        return checkpoints
    }

    private func restore(
        _ checkpoints: [[UInt8]], into rooms: inout [Room], _ report: inout BenchReport
    ) throws {
        rooms.reserveCapacity(count)
        let time = try ContinuousClock().measure {
            for bytes in checkpoints {
                rooms.append(
                    try Room(
                        restoring: bytes, configuration: RoomMessages.configuration, at: Instant(nanoseconds: 0),
                        logClockAhead: .zero))
            }
        }
        report.add("restore: seconds for all rooms", time / .seconds(1), atMost: 3)
        report.add("restore: rooms a second", Double(count) / (time / .seconds(1)))
        report.add("restore: strokes a second", Double(count * messages.strokes) / (time / .seconds(1)))
    }

    private func add(memory start: ProcessMemory, _ name: String, into report: inout BenchReport) {
        let now = ProcessMemory.now
        let bytes = Double(now.allocated - start.allocated)
        report.add("\(name): bytes a room", bytes / Double(count))
        report.add("\(name): bytes a stroke, all told", bytes / Double(count * messages.strokes))
        report.add(
            "\(name): bytes a point, all told", bytes / Double(count * messages.points),
            atMost: name == "awake" ? nil : 6)
        report.add("\(name): resident MB of the process", Double(now.resident) / 1e6, atMost: 1500)
    }
}
