import ArgumentParser
import Foundation
import LecternClient

/// Which lesson, and how its strokes are cut.
struct LessonOptions: ParsableArguments {
    @Argument(
        help:
            "A file with one compact message a line, `-` for standard input, or `demo` for the lesson that comes with Lectern."
    )
    var lesson: String

    @Option(
        help: ArgumentHelp(
            "Cut strokes anew into shards of so many points. Default: as they are in the lesson.", valueName: "points"))
    var shardPoints: Int?

    @Option(help: "Seed of everything random: the demo lesson's hand, and what --lose and --shuffle hit.")
    var seed: UInt64 = 1

    func validate() throws {
        if let shardPoints, shardPoints < 1 { throw ValidationError("--shard-points is at least 1") }
    }

    /// Reads the lesson, or ends the command with status 1 and the line at fault.
    func load() throws -> Lesson {
        do {
            let lesson = try read()
            return try shardPoints.map { try lesson.cut(pointsPerShard: $0) } ?? lesson
        } catch let error as LessonFileError {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        } catch {
            StandardError.write("lectern: \(lesson): \(error)")
            throw ExitCode.failed
        }
    }

    private func read() throws -> Lesson {
        switch lesson {
        case "demo":
            try DemoLesson.make(seed: seed)
        case "-":
            try Lesson(ndjson: Array(FileHandle.standardInput.readToEnd() ?? Data()))
        default:
            try Lesson(contentsOfFile: lesson)
        }
    }
}
