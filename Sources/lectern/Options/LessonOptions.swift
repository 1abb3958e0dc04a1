import ArgumentParser
import LecternClient

/// Which lesson, and how its strokes are cut.
struct LessonOptions: ParsableArguments {
    @Argument(help: ArgumentHelp(LessonSource.help))
    var lesson: LessonSource

    @Option(
        help: ArgumentHelp(
            "Cut strokes anew into shards of so many points. Default: as they are in the lesson.", valueName: "points"))
    var shardPoints: Int?

    func validate() throws {
        if let shardPoints, shardPoints < 1 { throw ValidationError("--shard-points is at least 1") }
    }

    /// Reads the lesson, or ends the command with status 1 and the line at fault.
    ///
    /// - Parameter seed: of the demo lesson's hand.
    func load(seed: UInt64) throws -> Lesson {
        let read = try lesson.load(seed: seed)
        guard let shardPoints else { return read }
        do throws(LessonError) {
            return try read.cut(pointsPerShard: shardPoints)
        } catch {
            StandardError.write("lectern: \(lesson.name): \(error)")
            throw ExitCode.failed
        }
    }
}
