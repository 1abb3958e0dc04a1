import ArgumentParser
import CBench
import Foundation
import LecternClient
import LecternDemo
import NATSClient
import StrokeWire
import Whiteboard

/// `lectern-bench rooms`: very many rooms in one process.
struct RoomsBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms",
        abstract: "Keep very many rooms: memory, checkpoints, and what an operation costs among them.",
        discussion: """
            Every room gets the first strokes of the lesson. Memory in use is the allocator's figure. Then strokes of \
            several lengths are weighed, and rooms in a host without a network.

            EXAMPLES
              lectern-bench rooms
              lectern-bench rooms --rooms 2000
            """)

    @OptionGroup var lesson: LessonInput

    @Option(help: "Number of rooms.")
    var rooms = 10_000

    @Option(help: "Strokes of each room, at most.")
    var strokes = 200

    @Option(help: "Points of each stroke, 1 or more. Default: the lesson's own strokes.")
    var points: Int?

    @OptionGroup var output: OutputForm

    func validate() throws {
        guard rooms > 0, strokes > 0, points ?? 1 > 0 else {
            throw ValidationError("--rooms, --strokes and --points are 1 or more")
        }
    }

    func run() throws {
        let lesson = try self.lesson.load()
        let source = try LessonStrokes(lesson)
        let messages =
            try points.map { try source.messages(strokes: strokes, points: $0) }
            ?? RoomMessages(lesson, strokes: strokes)
        var report = BenchReport(json: output.json)
        report.add("rooms", Double(rooms))
        report.add("strokes a room", Double(messages.strokes))
        report.add("points a stroke", Double(messages.points) / Double(messages.strokes))
        try RoomsInMemory(messages: messages, count: rooms).measure(into: &report)
        try StrokesAtRest(source: source).measure(into: &report)
        try RoomsInHost(source: source, count: rooms).measure(into: &report)
        report.print()
    }
}

/// Why a measurement is void.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Strokes of a lesson's handwriting, of any number and with as many points as wanted.
struct LessonStrokes {
    private let lesson: [LessonMessage]

    /// - Throws: when the lesson has no stroke.
    init(_ lesson: Lesson) throws {
        self.lesson = lesson.messages.filter { $0.header.action == .draw && $0.header.points.count > 0 }
        guard !self.lesson.isEmpty else { throw ValidationError("the lesson has no strokes") }
    }

    /// Strokes cut to a number of points, or put together from several that follow each other.
    func messages(strokes: Int, points: Int) throws -> RoomMessages {
        let messages = (0..<strokes).map { number in
            var interior: [UInt8] = []
            var (count, next) = (0, number)
            while count < points {
                let piece = lesson[next % lesson.count]
                if count > 0 { interior.append(UInt8(ascii: ",")) }
                interior += Self.head(of: piece.interior, points: points - count)
                count += min(points - count, piece.header.points.count)
                next += 1
            }
            var header = lesson[number % lesson.count].header
            header.number = Int64(number + 1)
            (header.shardCount, header.shardOrder) = (1, 1)
            return header.encoded(interior: interior[...])
        }
        return try RoomMessages(messages, strokes: strokes, points: strokes * points)
    }

    /// The first points of a list, which have no braces inside.
    private static func head(of interior: ArraySlice<UInt8>, points: Int) -> ArraySlice<UInt8> {
        var left = points
        let end = interior.firstIndex { byte in
            if byte == UInt8(ascii: "}") { left -= 1 }
            return left == 0
        }
        return end.map { interior[...$0] } ?? interior
    }
}

/// The first strokes of a lesson, as messages to a room in which nothing else happens.
struct RoomMessages {
    let author: AuthorID
    /// In order, numbered from 1; a stroke that the lesson has in shards comes in the same shards.
    let messages: [[UInt8]]
    let strokes: Int
    let points: Int

    init(_ messages: [[UInt8]], strokes: Int, points: Int) throws {
        guard let author = AuthorID("bench") else { throw ExitCode.failure }
        self.author = author
        self.messages = messages
        self.strokes = strokes
        self.points = points
    }

    /// - Parameter repeating: whether the lesson begins again when it has fewer strokes.
    /// - Throws: when the lesson has no stroke.
    init(_ lesson: Lesson, strokes most: Int, repeating: Bool = false) throws {
        var messages: [[UInt8]] = []
        var (strokes, points) = (0, 0)
        var last: Int64?
        repeat {
            for message in lesson.messages where message.header.action == .draw {
                if message.header.number != last {
                    guard strokes < most else { break }
                    strokes += 1
                    last = message.header.number
                }
                var header = message.header
                header.number = Int64(strokes)
                points += header.points.count
                messages.append(header.encoded(interior: message.interior))
            }
            last = nil
        } while repeating && strokes > 0 && strokes < most
        guard strokes > 0 else { throw ValidationError("the lesson has no strokes") }
        try self.init(messages, strokes: strokes, points: points)
    }

    /// The settings of rooms without a gate or rate limits, which become quiet soon.
    static let configuration: RoomConfiguration = {
        var configuration = RoomConfiguration()
        configuration.cohorts.defaults.gate = .none
        configuration.log.quiet = .seconds(1)
        configuration.intake.messagesPerSecond = 1_000_000
        configuration.intake.bytesPerSecond = 1 << 30
        configuration.intake.boardPoints = .max
        return configuration
    }()

    /// A room that has released all of them, and its time.
    /// - Throws: when the room did not take them all.
    func room() throws -> (room: Room, now: Instant) {
        var now = Instant(nanoseconds: 0)
        var room = Room(configuration: Self.configuration, at: now)
        var effects = RoomEffects()
        for bytes in messages {
            now = now + .milliseconds(10)
            let message = IncomingMessage(author: author, session: nil, bytes: bytes, loggedAt: now)
            room.receive(message, incarnation: { "bench" }, at: now, into: &effects)
            room.advance(to: now, into: &effects)
            effects.removeAll()
        }
        guard room.isQuiet, room.head.visible.count == strokes else {
            throw ValidationError("a room has \(room.head.visible.count) of the \(strokes) strokes")
        }
        return (room, now)
    }
}

/// The time that the processor spends on this thread for some work.
func processorTime(_ work: () -> Void) -> Duration {
    let start = ThreadClock.now()
    work()
    return ThreadClock.now() - start
}

/// The memory of this process, in bytes.
struct ProcessMemory {
    /// Allocated, with the allocator's bookkeeping.
    let allocated: Int
    /// Resident, with the allocator's free memory.
    let resident: Int

    static var now: ProcessMemory {
        let state = mallinfo2()
        return ProcessMemory(
            allocated: Int(state.uordblks) + Int(state.hblkhd), resident: resident(of: getpid()))
    }

    static func resident(of process: Int32) -> Int {
        // Pages: all, resident, …
        let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }
}
