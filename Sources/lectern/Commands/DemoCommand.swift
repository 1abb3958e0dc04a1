import ArgumentParser
import Foundation
import LecternClient
import Logging
import StrokeWire

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

            Samples of the video clock tell a rate of 2 at most. At a higher --speed the lateness is that of the \
            clock's samples more than that of the service.

            Examples:
              lectern demo
              lectern demo --lesson lesson.ndjson --speed 20

            Exit codes: 0 when the student saw everything, nothing early; 1 otherwise. SIGINT (Ctrl-C) or SIGTERM ends \
            the lesson where it is, without a picture, and everything that was started for it: exit code 130 or 143; a \
            second one ends the command at once.
            """)

    @Option(help: ArgumentHelp(LessonSource.help, valueName: "lesson"))
    var lesson = LessonSource.demo

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
        let lesson = try lesson.load()
        try makeFolder()
        let interruption = await Interruption()
        let statistics = LessonStatistics(lesson)
        let minutes = String(format: "%.1f", lesson.duration / .seconds(60) / speed)
        print(
            "A lesson of \(statistics.operations) operations and \(statistics.points) points, about \(minutes) min; "
                + "the video is \((latency / .seconds(1)).formatted()) s behind.")
        let outcome: DemoPerformance.Outcome
        do {
            outcome = try await perform(lesson, interruption, logger)
        } catch {
            // What is interrupted before it has begun is no failure.
            let reason = interruption.signal.map { "ended by \($0.name)" } ?? "\(error)"
            StandardError.write("lectern: \(reason)")
            throw interruption.exitCode ?? .failed
        }
        let summary = DemoSummary(outcome: outcome, lesson: lesson, speed: speed)
        guard let picture = outcome.picture else {
            print(summary.text(endedBy: interruption.signal?.name ?? ""))
            throw interruption.exitCode ?? .failed
        }
        try write(picture, to: "board.png")
        try write(lesson.ndjson, to: "lesson.ndjson")
        print(summary.text(pictureAt: path(of: "board.png")))
        if !summary.isGood { throw ExitCode.failed }
    }

    private func perform(
        _ lesson: Lesson, _ interruption: Interruption, _ logger: Logger
    ) async throws -> DemoPerformance.Outcome {
        guard let room = RoomID("demo") else { throw DemoFailure.notAnswered }
        let stage = try await DemoStage.open(room: room, logger: logger)
        let performance = DemoPerformance(
            stage: stage, lesson: lesson, speed: speed, latency: latency, logger: logger)
        let display = StatusLine()
        defer { display.end() }
        // What was started for it is ended in order, whatever ends the lesson.
        return try await stage.perform {
            try await interruption.run {
                try await performance.run { state, elapsed in display.show(state.line(elapsed: elapsed)) }
            }
        }
    }

    private func path(of name: String) -> String { "\(output)/\(name)" }

    /// Before the lesson is played: afterwards is too late to learn that the picture has no place.
    private func makeFolder() throws {
        do throws(OutputError) {
            try OutputFile(output).makeFolder()
        } catch {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        do throws(OutputError) {
            try OutputFile(path(of: name)).write(bytes)
        } catch {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
    }
}
