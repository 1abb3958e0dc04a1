import ArgumentParser
import Foundation
import LecternClient
import LecternServer
import Logging
import StrokeWire
import Whiteboard

/// Shows the whole chain with nothing else running.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play a lesson from teacher to student, and draw the board.",
        discussion: """
            Starts a NATS server of its own and the service, plays a lesson as a teacher, runs a video clock that is \
            behind, follows as a student, and shows how much was sent, logged, held and released, and how long after \
            the video each operation arrived. At the end the student's board is checked against the lesson, and the \
            picture of the board is written.

            Examples:
              lectern demo
              lectern demo --lesson lesson.ndjson --speed 20

            Exit codes: 0 when the student saw everything, nothing early; 1 otherwise.
            """)

    @Option(help: ArgumentHelp("A lesson file. Default: the lesson that comes with the program.", valueName: "file"))
    var lesson: String?

    @Option(help: ArgumentHelp("How many times as fast as it was written, 0.1 … 100.", valueName: "factor"))
    var speed = 1.0

    @Option(
        help: ArgumentHelp("How far the student's video is behind, 0s … 60s. Default: 2s.", valueName: "duration"),
        transform: duration)
    var latency = Duration.seconds(2)

    @Option(help: ArgumentHelp("The folder for the picture and the lesson.", valueName: "folder"))
    var output = "demo-out"

    func validate() throws {
        guard (0.1...100).contains(speed) else { throw ValidationError("--speed takes 0.1 … 100.") }
        guard latency <= .seconds(60) else { throw ValidationError("--latency takes 0s … 60s.") }
    }

    func run() async throws {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var logger = Logger(label: "lectern")
        logger.logLevel = .error
        let lesson = try load()
        let folder = try makeFolder()
        let statistics = LessonStatistics(lesson)
        let minutes = String(format: "%.1f", lesson.duration / .seconds(60) / speed)
        print(
            "A lesson of \(statistics.operations) operations and \(statistics.points) points, about \(minutes) min; "
                + "the video is \((latency / .seconds(1)).formatted()) s behind.")
        guard let room = RoomID("demo") else { throw ExitCode.failure }
        let stage = try await DemoStage.open(room: room, logger: logger)
        let performance = DemoPerformance(
            stage: stage, lesson: lesson, speed: speed, latency: latency, logger: logger)
        let display = StatusLine()
        let outcome = try await stage.perform {
            try await performance.run { state, elapsed in display.show(state.line(elapsed: elapsed)) }
        }
        display.end()
        try Data(outcome.picture).write(to: folder.appendingPathComponent("board.png"))
        try Data(lesson.ndjson).write(to: folder.appendingPathComponent("lesson.ndjson"))
        let isGood = summarise(outcome.state, outcome.session, lesson, stage)
        if !isGood { throw ExitCode.failure }
    }

    private func load() throws -> Lesson {
        guard let path = lesson else { return try DemoLesson.make() }
        do throws(LessonFileError) {
            return try Lesson(contentsOfFile: path)
        } catch {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
    }

    /// Before the lesson is played: afterwards is too late to learn that the picture has no place.
    private func makeFolder() throws -> URL {
        let folder = URL(fileURLWithPath: output, isDirectory: true)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            StandardError.write("lectern: \(output): the folder cannot be made")
            throw ExitCode.failed
        }
        return folder
    }

    /// Says what happened, and whether it is what should have.
    private func summarise(
        _ state: DemoBoard.State, _ session: StudentSession, _ lesson: Lesson, _ stage: DemoStage
    ) -> Bool {
        guard let teacher = state.teacher else { return false }
        let expected = BoardFold(
            lesson.messages.map(\.bytes), configuration: stage.configuration.room, through: nil
        ).board
        let sees = session.board.digest
        func quantile(_ share: Double) -> String {
            state.skew.quantile(share).map { String(format: "%.1f", $0) } ?? "–"
        }
        print(
            """

            sent       \(teacher.published) messages, \(teacher.resent) again
            applied    \(teacher.applied) operations, \(teacher.rejections) rejected
            released   \(state.released) operations to the student, \(state.skew.early) early
            lateness   p50 \(quantile(0.5)) ms, p99 \(quantile(0.99)) ms behind the video
            board      \(expected.visible.count) strokes, digest \(sees) \(sees == expected.digest ? "as in the lesson" : "but the lesson has \(expected.digest)")
            picture    \(output)/board.png
            """)
        for problem in state.problems.prefix(10) { print("problem    \(problem)") }
        return teacher.isComplete && state.released == expected.index && sees == expected.digest
            && state.skew.early == 0 && session.report.isSound
    }
}
