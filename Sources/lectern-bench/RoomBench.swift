import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import StrokeWire
import Whiteboard

/// `lectern-bench room`: from message bytes to released bytes, without a network.
struct RoomBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "room",
        abstract: "Decode, order, log, pack and release a lesson, on one thread.",
        discussion: """
            The benchmark plays the messages of a lesson into a room again and again, each time in a new session, and reads what is \
            released. The decoder alone is measured in the same run, for comparison. Then the updates of a pen: alone, \
            beside strokes of others, and the worst that the rules allow.

            EXAMPLES
              lectern-bench room
              lectern-bench room --lesson lesson.ndjson --rounds 50
            """)

    @OptionGroup var lesson: LessonInput

    @Option(help: "Number of times that the lesson is played, 1 or more.")
    var rounds = 200

    @OptionGroup var output: OutputForm

    func run() throws {
        let lesson = try self.lesson.load()
        let messages = lesson.messages.map(\.bytes)
        let points = lesson.messages.reduce(0) { $0 + $1.header.points.count }
        let decoding = try measureDecoding(messages)
        let (room, released) = try measureRoom(messages)
        var report = BenchReport(json: output.json)
        add(
            to: &report,
            messages: messages.count * rounds, points: points * rounds,
            bytes: messages.reduce(0) { $0 + $1.count } * rounds, released: released, decoding: decoding, room: room)
        try WetCosts.report(into: &report)
        report.print()
    }

    private func measureDecoding(_ messages: [[UInt8]]) throws -> Duration {
        var total = 0
        let time = try ContinuousClock().measure {
            for _ in 0..<rounds {
                for bytes in messages { total += try StrokeMessage(decoding: bytes).points.count }
            }
        }
        precondition(total > 0 || messages.isEmpty)
        return time
    }

    private func measureRoom(_ messages: [[UInt8]]) throws -> (Duration, Int) {
        guard let author = AuthorID("bench") else { throw ExitCode.failure }
        var room = Room(configuration: RoomMessages.configuration, at: Instant(nanoseconds: 0))
        var effects = RoomEffects()
        var released = 0
        var now = Instant(nanoseconds: 0)
        let time = ContinuousClock().measure {
            for round in 0..<rounds {
                let session = "round-\(round)"
                for bytes in messages {
                    now = now + .milliseconds(10)
                    room.receive(
                        IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: now),
                        incarnation: { "bench" }, at: now, into: &effects)
                    room.advance(to: now, into: &effects)
                    for case .release(_, let operation, _, _) in effects.list {
                        released += operation.message.count
                    }
                    effects.removeAll()
                }
            }
        }
        return (time, released)
    }

    private func add(
        to report: inout BenchReport, messages: Int, points: Int, bytes: Int, released: Int, decoding: Duration,
        room: Duration
    ) {
        let (decode, whole) = (decoding / .seconds(1), room / .seconds(1))
        report.add("messages", Double(messages))
        report.add("points", Double(points))
        report.add("bytes", Double(bytes))
        report.add("released bytes", Double(released))
        report.add("decode: messages a second", Double(messages) / decode)
        report.add("decode: nanoseconds a point", decode * 1e9 / Double(points))
        report.add("decode, order, log, pack, release: messages a second", Double(messages) / whole)
        report.add("decode, order, log, pack, release: nanoseconds a point", whole * 1e9 / Double(points))
        report.add("the whole, times decoding alone", whole / decode)
    }
}
