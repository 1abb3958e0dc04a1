import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import StrokeWire
import Whiteboard

/// `lectern-bench encoding`: messages and join replies in JSON and in the binary form.
struct EncodingBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encoding",
        abstract: "Decode messages, and encode and decode joins, in JSON and in the binary form.",
        discussion: """
            Decoding goes from bytes to fields and points: of JSON by Lectern and by Foundation's JSONDecoder, of the \
            binary form by Lectern; the three take turns. The messages have points of the lesson's handwriting. A join is \
            that of a board with the strokes of the lesson, again and again. Sizes are those of the lesson's messages.

            EXAMPLES
              lectern-bench encoding
              lectern-bench encoding --strokes 5000 --json
            """)

    @OptionGroup var lesson: LessonInput

    @Option(help: "Strokes on the board that is joined.")
    var strokes = 10_000

    @Option(help: "Rounds of each measurement; the fastest counts.")
    var rounds = 15

    @OptionGroup var output: OutputForm

    func validate() throws {
        guard strokes > 0, rounds > 0 else { throw ValidationError("--strokes and --rounds are 1 or more") }
    }

    func run() throws {
        let lesson = try self.lesson.load()
        var report = BenchReport(json: output.json)
        addSizes(of: lesson, to: &report)
        for count in [30, 300] { try measureDecoding(try message(of: lesson, points: count), count, &report) }
        try measureJoin(try RoomMessages(lesson, strokes: strokes), &report)
        report.print()
    }

    private func addSizes(of lesson: Lesson, to report: inout BenchReport) {
        var (points, text, packed) = (0, 0, 0)
        for message in lesson.messages where message.header.action == .draw {
            points += message.header.points.count
            text += message.bytes.count
            packed += BinaryMessage.encode(message.bytes, points: message.header.points).count
        }
        guard points > 0 else { return }
        report.add("messages of the lesson: points", Double(points))
        report.add("messages of the lesson, JSON: bytes a point", Double(text) / Double(points))
        report.add("messages of the lesson, binary: bytes a point", Double(packed) / Double(points))
    }

    /// A message with the first points of the lesson's handwriting.
    private func message(of lesson: Lesson, points count: Int) throws -> [UInt8] {
        var points: [StrokePoint] = []
        while points.count < count {
            let before = points.count
            for message in lesson.messages where message.header.action == .draw && points.count < count {
                points += message.header.decodePoints(of: message.bytes).prefix(count - points.count)
            }
            guard points.count > before else { throw ValidationError("the lesson has no strokes") }
        }
        return StrokeMessage(
            number: 1234, colour: 2, width: 3, time: 81_250, boardWidth: 1024, boardHeight: 768
        ).encoded(interior: PointEncoder.interior(of: points)[...])
    }

    private func measureDecoding(_ text: [UInt8], _ count: Int, _ report: inout BenchReport) throws {
        let packed = BinaryMessage.encode(text)
        let data = Data(text)
        let decoder = JSONDecoder()
        let passes = 60_000 / count
        var points: [StrokePoint] = []
        var fastest = (own: Duration.seconds(1000), foundation: Duration.seconds(1000), binary: Duration.seconds(1000))
        let clock = ContinuousClock()
        var total = 0
        for _ in 0..<rounds {
            let own = try clock.measure {
                for _ in 0..<passes {
                    _ = try StrokeMessage(decoding: text, points: &points)
                    total += points.count
                }
            }
            let binary = try clock.measure {
                for _ in 0..<passes {
                    _ = try BinaryMessage.decode(packed, points: &points)
                    total += points.count
                }
            }
            // A fiftieth of the passes takes as long.
            let few = max(1, passes / 50)
            let foundation = try clock.measure {
                for _ in 0..<few { total += try decoder.decode(FoundationMessage.self, from: data).d.count }
            }
            fastest.own = min(fastest.own, own / passes)
            fastest.binary = min(fastest.binary, binary / passes)
            fastest.foundation = min(fastest.foundation, foundation / few)
        }
        precondition(total > 0)
        func add(_ name: String, _ time: Duration, _ bytes: Int) {
            report.add("\(count) points, \(name): bytes", Double(bytes))
            report.add("\(count) points, \(name): µs", time / .microseconds(1))
            report.add("\(count) points, \(name): MB/s", Double(bytes) / 1e6 / (time / .seconds(1)))
        }
        add("JSON", fastest.own, text.count)
        add("Foundation", fastest.foundation, text.count)
        add("binary", fastest.binary, packed.count)
        report.add("\(count) points, JSON: times as fast as Foundation", fastest.foundation / fastest.own)
        report.add("\(count) points, binary: times as fast as JSON", fastest.own / fastest.binary)
    }

    private func measureJoin(_ messages: RoomMessages, _ report: inout BenchReport) throws {
        let (room, count) = try messages.board(strokes: strokes)
        guard let catchUp = room.catchUp(JoinRequest(), cohort: .main) else { throw ExitCode.failure }
        report.add("join: strokes", Double(room.head.visible.count))
        report.add("join: points a stroke", Double(count) / Double(strokes))
        for encoding in WireEncoding.allCases {
            var bytes: [UInt8] = []
            let writing = fastest { bytes = catchUp.encoded(palette: .standard, style: "smooth", as: encoding) }
            let reading = try fastest {
                let reply = try encoding == .json ? JoinReply(decoding: bytes) : JoinReply(binary: bytes)
                precondition(reply.index == room.head.index)
            }
            report.add("join, \(encoding): MB", Double(bytes.count) / 1e6)
            report.add("join, \(encoding): ms to write", writing / .milliseconds(1))
            report.add("join, \(encoding): ms to read", reading / .milliseconds(1))
        }
    }

    private func fastest(_ body: () throws -> Void) rethrows -> Duration {
        var fastest = Duration.seconds(1000)
        for _ in 0..<rounds { fastest = min(fastest, try ContinuousClock().measure(body)) }
        return fastest
    }
}

extension RoomMessages {
    /// A room with so many strokes, all released, and the number of their points.
    fileprivate func board(strokes count: Int) throws -> (room: Room, points: Int) {
        var now = Instant(nanoseconds: 0)
        var room = Room(configuration: Self.configuration, at: now)
        var effects = RoomEffects()
        var round = 0
        while room.head.visible.count < count {
            let before = room.head.visible.count
            for bytes in messages where room.head.visible.count < count {
                now = now + .milliseconds(10)
                room.receive(
                    IncomingMessage(author: author, session: "round-\(round)", bytes: bytes, loggedAt: now),
                    incarnation: { "bench" }, at: now, into: &effects)
                room.advance(to: now, into: &effects)
                effects.removeAll()
            }
            guard room.head.visible.count > before else { throw ValidationError("the room takes no more strokes") }
            round += 1
        }
        return (room, room.head.visible.reduce(0) { $0 + $1.pointCount })
    }
}

/// The message as a program without Lectern's decoder reads it.
private struct FoundationMessage: Decodable {
    struct Point: Decodable {
        let x, y: Double
        let f, i, z, m: Double?
    }

    let n: Int64
    let c, s, o, e, a: Int?
    let l, w, h: Double?
    let t: Int64?
    let d: [Point]
}
