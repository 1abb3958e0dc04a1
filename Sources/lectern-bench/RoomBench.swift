import ArgumentParser
import Foundation
import LecternClient
import StrokeWire
import Whiteboard

/// From bytes in to released bytes out, without a network.
struct RoomBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "room",
        abstract: "Decode, order, log, pack and release a lesson, on one thread.",
        discussion: """
            Plays the messages of a lesson into a room again and again, each time as a new count, and takes out what \
            is released. The decoder alone is measured in the same run, for scale.
            """)

    @Option(help: ArgumentHelp("A lesson file instead of the one that comes with the program.", valueName: "file"))
    var lesson: String?

    @Option(help: "How often the lesson is played.")
    var rounds = 200

    @Flag(help: "One JSON object instead of a table.")
    var json = false

    func run() throws {
        let lesson = try self.lesson.map { try Lesson(contentsOfFile: $0) } ?? DemoLesson.make()
        let messages = lesson.messages.map(\.bytes)
        let points = lesson.messages.reduce(0) { $0 + $1.header.points.count }
        let decoding = try measureDecoding(messages)
        let (room, released) = try measureRoom(messages)
        report(
            messages: messages.count * rounds, points: points * rounds,
            bytes: messages.reduce(0) { $0 + $1.count } * rounds, released: released, decoding: decoding, room: room)
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
        var configuration = RoomConfiguration()
        configuration.cohorts.defaults.gate = .none
        configuration.intake.messagesPerSecond = 1_000_000
        configuration.intake.bytesPerSecond = 1 << 30
        configuration.intake.boardPoints = .max
        var room = Room(configuration: configuration, at: Instant(nanoseconds: 0))
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

    private func report(
        messages: Int, points: Int, bytes: Int, released: Int, decoding: Duration, room: Duration
    ) {
        let seconds = (decoding: decoding / .seconds(1), room: room / .seconds(1))
        if json {
            print(
                #"{"messages":\#(messages),"points":\#(points),"bytes":\#(bytes),"released_bytes":\#(released),"#
                    + #""decode_seconds":\#(seconds.decoding),"room_seconds":\#(seconds.room)}"#)
            return
        }
        func line(_ name: String, _ seconds: Double) -> String {
            let label = name.padding(toLength: 34, withPad: " ", startingAt: 0)
            return label
                + String(
                    format: "%9.0f messages/s  %7.1f MB/s  %6.1f ns a point", Double(messages) / seconds,
                    Double(bytes) / seconds / 1e6, seconds * 1e9 / Double(points))
        }
        print("\(messages) messages, \(points) points, \(bytes) bytes")
        print(line("decode", seconds.decoding))
        print(line("decode, order, log, pack, release", seconds.room))
        print(String(format: "the whole takes %.1f times as long as decoding alone", seconds.room / seconds.decoding))
    }
}
