import Foundation
import Hosting
import StrokeWire
import Whiteboard

/// What strokes of several lengths take in rooms at rest, without what a room takes beside them.
struct StrokesAtRest {
    let source: LessonStrokes

    private static let rooms = 20
    private static let strokes = 2000

    func measure(into report: inout BenchReport) throws {
        let room = try bytes(strokes: 1, points: 1, rooms: 1000)
        report.add("a room with a dot at rest: bytes", room)
        for points in [1, 2, 5, 10, 14, 15, 20, 30, 60, 200] {
            let all = try bytes(strokes: Self.strokes, points: points, rooms: Self.rooms)
            let each = (all - room) / Double(Self.strokes - 1)
            if points < 15 {
                report.add("\(points) points at rest: bytes a stroke", each, atMost: Double(80 + 2 * points))
            } else {
                report.add("\(points) points at rest: bytes a point", each / Double(points), atMost: 6)
            }
        }
    }

    /// Memory of a room at rest.
    private func bytes(strokes: Int, points: Int, rooms count: Int) throws -> Double {
        let messages = try source.messages(strokes: strokes, points: points)
        let start = ProcessMemory.now.allocated
        var rooms: [Room] = []
        rooms.reserveCapacity(count)
        for _ in 0..<count {
            var (room, now) = try messages.room()
            RoomsInMemory.rest(&room, from: now)
            rooms.append(room)
        }
        return withExtendedLifetime(rooms) { Double(ProcessMemory.now.allocated - start) / Double(count) }
    }
}

/// Very many rooms in one host, without threads and without a network: what a room takes beside its strokes, what an
/// operation costs among many rooms, and what rooms cost in which nothing happens.
struct RoomsInHost {
    let source: LessonStrokes
    let count: Int

    /// Of each measurement.
    private static let operations = 200_000

    func measure(into report: inout BenchReport) throws {
        try measureLesson(into: &report)
        let dot = try source.messages(strokes: 1, points: 1)
        let start = ProcessMemory.now.allocated
        let host = try BenchHost(rooms: count)
        for number in 0..<count { host.take(dot.messages[0], by: dot.author, in: number) }
        func addRoom(_ name: String, atMost goal: Double?) {
            let bytes = Double(ProcessMemory.now.allocated - start) / Double(count)
            report.add("host, \(count) rooms with a dot, \(name): bytes a room", bytes, atMost: goal)
        }
        addRoom("awake", atMost: nil)
        host.wait(.seconds(120))
        addRoom("quiet", atMost: 4096)
        addLoad(of: host, "quiet", atMost: nil, into: &report)
        host.wait(.seconds(600))
        guard host.left == count else { throw BenchFailure("\(host.left) of \(count) rooms sleep") }
        addRoom("asleep", atMost: nil)
        addLoad(of: host, "asleep", atMost: 0.02, into: &report)
        try measureOperations(into: &report)
    }

    /// Classes as they are: what a stroke takes with the tail of the log and all that is not at rest.
    private func measureLesson(into report: inout BenchReport) throws {
        let (rooms, strokes) = (30, 3000)
        let messages = try source.messages(strokes: strokes, points: 14)
        let start = ProcessMemory.now.allocated
        let host = try BenchHost(rooms: rooms)
        for message in messages.messages {
            for number in 0..<rooms { host.take(message, by: messages.author, in: number) }
            host.wait(.milliseconds(20))
        }
        let bytes = Double(ProcessMemory.now.allocated - start)
        report.add(
            "host, \(rooms) rooms in a lesson, 14 points: bytes a stroke", bytes / Double(rooms * strokes),
            atMost: 120)
        guard host.released == rooms * strokes else { throw BenchFailure("\(host.released) operations released") }
    }

    /// Processor time of a minute in which nobody writes.
    private func addLoad(of host: BenchHost, _ name: String, atMost goal: Double?, into report: inout BenchReport) {
        let time = processorTime { host.wait(.seconds(60)) }
        report.add("host, \(count) rooms, \(name): share of a core", time / .seconds(60), atMost: goal)
    }

    private func measureOperations(into report: inout BenchReport) throws {
        var times: [Duration] = []
        for rooms in [1, count] {
            let messages = try source.messages(strokes: Self.operations / rooms, points: 15)
            let host = try BenchHost(rooms: rooms)
            let half = messages.messages.count / 2
            func play(_ messages: ArraySlice<[UInt8]>, by author: AuthorID) {
                for message in messages { for room in 0..<rooms { host.take(message, by: author, in: room) } }
            }
            // The first ones make the rooms.
            play(messages.messages[..<half], by: messages.author)
            let time = processorTime { play(messages.messages[half...], by: messages.author) }
            times.append(time / (rooms * (messages.messages.count - half)))
            report.add("host, \(rooms) rooms: nanoseconds an operation", times[times.count - 1] / .nanoseconds(1))
        }
        report.add("host: an operation among \(count) rooms, times one in one room", times[1] / times[0], atMost: 1.3)
    }
}

/// A host in virtual time whose output does nothing.
private final class BenchHost {
    private final class Output: HostOutput {
        var released = 0
        var left = 0
        var isAsked = false

        func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
            if case .release = effect { released += 1 }
            return true
        }
        func confirm() { isAsked = true }
        func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? { nil }
        func countNew(_ partition: Int) -> Bool { true }
        func countStored(_ change: Int, of partition: Int) {}
        func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) {}
        func save(_ request: SaveRequest) {}
        func settled(_ room: HostedRoom, _ counts: RoomCounts) {}
        func count(_ outcome: WetOutcome) {}
        func opened(_ room: HostedRoom) {}
        func left(_ room: HostedRoom) { left += 1 }
        func forgotten(_ room: RoomID) {}
        func ready(_ partition: Int) {}
        func closed(_ partition: Int, isWhole: Bool) {}
    }

    private let output = Output()
    private let host: RoomHost<Output>
    private let rooms: [RoomID]
    private var now = Instant(nanoseconds: 1_000_000_000_000)
    private var sequence: UInt64 = 0

    var released: Int { output.released }
    var left: Int { output.left }

    init(rooms count: Int) throws {
        rooms = try (0..<count).map { number in
            guard let room = RoomID("room-\(number)") else { throw BenchFailure("no name") }
            return room
        }
        let configuration = HostConfiguration(room: RoomMessages.configuration, idle: .seconds(300), rooms: count)
        host = RoomHost(configuration: configuration, output: output, isOutputOpen: true)
        host.open(0, prefix: "bench", stored: [:], at: now)
        host.setLogClock(of: 0, ahead: .zero)
        host.caughtUp(0, at: now)
    }

    func take(_ message: [UInt8], by author: AuthorID, in room: Int) {
        sequence += 1
        host.take(
            JournalRecord(
                partition: 0, room: rooms[room], content: .message(author: author, session: nil, bytes: message),
                sequence: sequence, loggedAt: now), arrivedAt: now, at: now)
        if sequence.isMultiple(of: 64) { wait(.milliseconds(1)) }
    }

    /// Lets time pass, and advances the host whenever it asks to.
    func wait(_ duration: Duration) {
        let end = now + duration
        while let wake = host.nextWake, wake <= end {
            now = max(now, wake)
            host.advance(to: now)
            if output.isAsked {
                output.isAsked = false
                host.confirmed(true, at: now)
            }
        }
        now = end
    }
}
