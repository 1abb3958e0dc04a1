import ArgumentParser
import Foundation
import LecternClient
import LecternDemo
import StrokeWire

/// `lectern lesson`: checks a lesson file and counts its contents.
struct LessonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lesson",
        abstract: "Check a lesson file and list its contents.",
        discussion: """
            A lesson is a file with one compact stroke message on each line, in the order in which a teacher publishes \
            them. Every line is checked as in a room with the default configuration. After the first fault, printed \
            with its line, the command ends with exit code 1.

            EXAMPLES
              lectern lesson demo
              lectern lesson demo --messages > demo.ndjson
              lectern lesson demo.ndjson --shard-points 20 --messages | head
            """)

    @OptionGroup var options: LessonOptions

    @Option(help: "Seed of the demo lesson's handwriting, 0 or more.")
    var seed: UInt64 = 1

    @Flag(help: "Print the messages instead of the list, one a line.")
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

/// Options for a lesson and the cutting of its strokes into shards.
struct LessonOptions: ParsableArguments {
    @Argument(help: ArgumentHelp(LessonSource.help))
    var lesson: LessonSource

    @Option(
        help: ArgumentHelp(
            "Cut strokes anew into shards of this many points, 1 or more. Default: as in the lesson.",
            valueName: "points"))
    var shardPoints: Int?

    func validate() throws {
        if let shardPoints, shardPoints < 1 { throw ValidationError("--shard-points is at least 1") }
    }

    /// Reads the lesson, or ends the command with status 1 and the faulty line.
    ///
    /// - Parameter seed: of the demo lesson's handwriting.
    func load(seed: UInt64) throws -> Lesson {
        let read = try lesson.load(seed: seed)
        guard let shardPoints else { return read }
        do throws(LessonError) {
            return try read.cut(pointsPerShard: shardPoints)
        } catch {
            throw ExitCode.failed("\(lesson.name): \(error)")
        }
    }
}

/// Where a lesson comes from: a file, standard input, or the program itself.
struct LessonSource: ExpressibleByArgument, Equatable {
    /// The help of every such argument.
    static let help = """
        A file with one compact message a line, `-` for standard input, or `demo` for the lesson that comes with \
        Lectern.
        """

    static let standardInput = LessonSource(argument: "-")
    static let demo = LessonSource(argument: "demo")

    /// The argument as given.
    let name: String

    init(argument: String) {
        name = argument
    }

    var defaultValueDescription: String { name }

    /// Reads the lesson, or ends the command with status 1, the error and the faulty line.
    ///
    /// - Parameter seed: of the demo lesson's handwriting.
    func load(seed: UInt64 = 1) throws -> Lesson {
        try readingLesson {
            switch self {
            case .demo: try DemoLesson.make(seed: seed, hasTimes: true)
            case .standardInput: try Lesson(ndjson: Array(FileHandle.standardInput.readToEnd() ?? Data()))
            default: try Lesson(contentsOfFile: name)
            }
        }
    }

    /// The lesson of bytes that were read already; errors as of ``load(seed:)``.
    func load(ndjson bytes: [UInt8]) throws -> Lesson { try readingLesson { try Lesson(ndjson: bytes) } }

    private func readingLesson(_ read: () throws -> Lesson) throws -> Lesson {
        do {
            return try read()
        } catch {
            throw ExitCode.failed(error is LessonFileError ? "\(error)" : "\(name): \(error)")
        }
    }
}
