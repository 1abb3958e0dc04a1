import ArgumentParser
import Foundation
import LecternClient
import StrokeWire

/// `lectern lesson`: what a lesson consists of.
struct LessonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lesson",
        abstract: "Check a lesson file and say what is in it.",
        discussion: """
            A lesson is a file with one compact stroke message a line, in the order in which a teacher publishes them. \
            Every line is checked as a room with the default configuration checks it; the first fault is told with its \
            line, and the command ends with status 1.

            EXAMPLES
              lectern lesson demo
              lectern lesson demo --messages > demo.ndjson
              lectern lesson demo.ndjson --shard-points 20 --messages | head
            """)

    @OptionGroup var options: LessonOptions

    @Option(help: "Seed of the demo lesson's hand.")
    var seed: UInt64 = 1

    @Flag(help: "Write the messages, one a line, instead.")
    var messages = false

    func run() async throws {
        let lesson = try options.load(seed: seed)
        if messages {
            StandardOutput.write(bytes: Array(lesson.ndjson.dropLast()))
        } else {
            StandardOutput.write(Self.describe(LessonStatistics(lesson)))
        }
    }

    private static func describe(_ lesson: LessonStatistics) -> String {
        let elements = Element.allCases.map { "\($0) \(lesson.elements[$0] ?? 0)" }
        let commands = Action.allCases.dropFirst().map { "\($0) \(lesson.commands[$0] ?? 0)" }
        return """
            messages    \(lesson.messages), \(lesson.bytes) bytes
            operations  \(lesson.operations)
            strokes     \(lesson.strokes): \(elements.joined(separator: ", ")); in shards \(lesson.shardedStrokes)
            commands    \(commands.joined(separator: ", "))
            points      \(lesson.points)
            duration    \(lesson.duration.formatted(.time(pattern: .minuteSecond(padMinuteToLength: 1))))
            """
    }
}
