import ArgumentParser
import Foundation
import LecternClient
import LecternConfiguration
import Locking
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// `lectern demo`: plays a lesson from teacher to student, with everything that is needed for it.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play a lesson from teacher to student, and draw the board.",
        discussion: """
            The demo starts a NATS server and the service, publishes a lesson as a teacher, publishes a video clock with a \
            latency, and follows the room as a student, on whose board strokes grow point by point as the video reaches \
            them, also while their pen is still down (`ink: progressive`). It shows the numbers of messages sent and of operations logged, \
            held and released, and how long after the video operations and points arrived. At the end the student's board is \
            compared with the lesson, and its picture is written.

            The lesson is on slides: a PDF of three pages is made and imported, as `lectern import` does, and the teacher \
            writes on it, turns its pages, and moves a part of a slide with the ink on it by a lasso. --lesson plays another \
            one on blank paper; `demo` is longer and fills two boards with handwriting.

            The demo prints the addresses of the room's pages: anybody with a browser on this machine may follow the lesson, or \
            draw in it. With --keep the video goes on after the lesson, and so does the class, until SIGINT (Ctrl-C).

            Samples of the video clock have a rate of 2 at most. At a higher --speed most of the lateness comes from \
            the interval of the samples, not from the service.

            EXAMPLES
              lectern demo
              lectern demo --lesson lesson.ndjson --speed 20
              lectern demo --keep --port 8080

            Exit codes: 0 when the student saw every operation, and no point early; 1 otherwise. SIGINT (Ctrl-C) or SIGTERM \
            ends the lesson, without a picture, and everything that was started for it: exit code 130 or 143; a second \
            one ends the command at once.
            """)

    @Option(
        help: ArgumentHelp("\(LessonSource.help) Default: a lesson on slides.", valueName: "lesson"))
    var lesson: LessonSource?

    @Option(help: ArgumentHelp("Seconds of the lesson per second, 0.1 … 100.", valueName: "factor"))
    var speed = 1.0

    @Option(
        help: ArgumentHelp("Latency of the student's video, 0s … 60s. Default: 2s.", valueName: "duration"),
        transform: duration)
    var latency = Duration.seconds(2)

    @Option(
        help: ArgumentHelp(
            "Folder for board.png, pages.pdf, lesson.ndjson and slides.pdf; it is made if it does not exist.",
            valueName: "folder"))
    var output = "demo-out"

    @Option(help: ArgumentHelp("Port of the pages, 1 … 65535; 0 for any free one.", valueName: "port"))
    var port = 0

    @Flag(help: "Go on after the lesson, until a signal ends it.")
    var keep = false

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 … 65535.") }
        guard (0.1...100).contains(speed) else { throw ValidationError("--speed takes 0.1 … 100.") }
        guard latency <= .seconds(60) else { throw ValidationError("--latency takes 0s … 60s.") }
    }

    func run() async throws {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        var logger = Logger(label: "lectern")
        logger.logLevel = .error
        let given = try lesson?.load()
        try makeFolder()
        let interrupts = await InterruptHandler()
        let played: Played
        do {
            played = try await play(given, interrupts, logger) { outcome, lesson in
                guard keep, let picture = outcome.picture else { return }
                try report(outcome, lesson, picture)
                print("The class goes on until Ctrl-C.")
                fflush(nil)
                try? await Task.sleep(for: .seconds(1 << 30))
            }
        } catch {
            // An interrupt before the lesson has begun is not an error.
            let reason = interrupts.signal.map { "ended by \($0.name)" } ?? "\(error)"
            StandardError.write("lectern: \(reason)")
            throw interrupts.exitCode ?? .failed
        }
        let (outcome, lesson) = played
        let summary = DemoSummary(outcome: outcome, lesson: lesson, speed: speed)
        guard let picture = outcome.picture else {
            print(summary.text(endedBy: interrupts.signal?.name ?? ""))
            throw interrupts.exitCode ?? .failed
        }
        if !keep { try report(outcome, lesson, picture) }
        if !summary.isGood { throw ExitCode.failed }
    }

    /// What came of the lesson, and the lesson as the log has it.
    private typealias Played = (outcome: DemoRun.Outcome, lesson: Lesson)

    /// Says what is to come.
    private func introduce(_ lesson: Lesson, _ slides: DemoSlideImport?) {
        let statistics = LessonStatistics(lesson)
        let minutes = String(format: "%.1f", lesson.duration / .seconds(60) / speed)
        if let slides {
            let pages = slides.pages.map(String.init).joined(separator: ", ")
            print(
                "A PDF of \(slides.pages.count) slides was made and imported as the pages \(pages); page 0 is blank.\n"
                    + "The teacher writes on the title, marks a block in a diagram and moves it by a lasso, with its marks, draws\n"
                    + "the curve of a chart, notes homework on the blank page, and turns back to the diagram.")
        }
        print(
            "A lesson of \(statistics.operations) operations and \(statistics.points) points, about \(minutes) min; "
                + "the video is \((latency / .seconds(1)).formatted()) s behind.\n"
                + "Strokes grow on the student's board while they are drawn: each point appears when the video reaches it."
        )
    }

    /// Writes the picture, the pages and the lesson, and prints the summary.
    private func report(_ outcome: DemoRun.Outcome, _ lesson: Lesson, _ picture: [UInt8]) throws {
        try write(picture, to: "board.png")
        if let document = outcome.document { try write(document, to: "pages.pdf") }
        try write(lesson.ndjson, to: "lesson.ndjson")
        let summary = DemoSummary(outcome: outcome, lesson: lesson, speed: speed)
        print(summary.text(pictureAt: path(of: "board.png"), documentAt: path(of: "pages.pdf")))
    }

    /// Where the pages of the class are.
    private func addresses(port: Int) -> String {
        let room = "http://127.0.0.1:\(port)/rooms/demo"
        let seconds = (latency / .seconds(1)).formatted(.number.grouping(.never))
        return """
            student    \(room)
            teacher    \(room)/teach?latency=\(seconds)
            monitor    http://127.0.0.1:\(port)/monitor
            These pages are there until the lesson ends\(keep ? ", and then until Ctrl-C" : "; with --keep they stay")
            """
    }

    /// - Parameter given: nil for the lesson on slides.
    private func play(
        _ given: Lesson?, _ interrupts: InterruptHandler, _ logger: Logger,
        afterwards: @escaping @Sendable (DemoRun.Outcome, Lesson) async throws -> Void
    ) async throws -> Played {
        guard let room = RoomID("demo"), let author = AuthorID("teacher") else { throw DemoFailure.notAnswered }
        let environment = try await DemoEnvironment.start(room: room, logger: logger)
        let display = StatusLine()
        defer { display.end() }
        // Everything that was started is ended in order, however the lesson ends.
        return try await environment.withService(port: port) { port in
            try await interrupts.run {
                let slides = given == nil ? try await bringSlides(to: environment, by: author, logger) : nil
                let lesson = try given ?? slides?.lesson() ?? Lesson([])
                let recorded = slides?.recorded(lesson) ?? lesson
                introduce(lesson, slides)
                print(addresses(port: port))
                fflush(nil)
                let run = DemoRun(
                    environment: environment, lesson: lesson, speed: speed, latency: latency, author: author,
                    logger: logger)
                let outcome = try await run.run(
                    afterwards: { try await afterwards($0, recorded) }, tell: { display.tell($0) }
                ) { state, elapsed in
                    display.show(state.line(elapsed: elapsed))
                }
                return (outcome, recorded)
            }
        }
    }

    private func bringSlides(
        to environment: DemoEnvironment, by author: AuthorID, _ logger: Logger
    ) async throws -> DemoSlideImport {
        let nats = try await environment.connect("demo import")
        let slides = try await DemoSlideImport(into: environment.address, by: author, over: nats, logger: logger)
        await nats.close()
        try write(slides.pdf, to: "slides.pdf")
        return slides
    }

    private func path(of name: String) -> String { "\(output)/\(name)" }

    /// Called before the lesson: afterwards is too late for an error about the output folder.
    private func makeFolder() throws {
        try endingCommand { try OutputFile(output).makeFolder() }
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try endingCommand { try OutputFile(path(of: name)).write(bytes) }
    }
}

/// A status line: overwritten on a terminal, a new line every two seconds elsewhere.
private final class StatusLine: Sendable {
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let shown = Locked(0)

    /// Shows the line; called twice a second.
    func show(_ line: String) {
        let count = shown.withLock { shown in
            shown += 1
            return shown
        }
        if isTerminal {
            print("\r\u{1B}[K\(line)", terminator: "")
        } else if count % 4 == 1 {
            print(line)
        }
        fflush(nil)
    }

    /// Prints a line that stays.
    func tell(_ line: String) {
        print(isTerminal ? "\r\u{1B}[K\(line)" : line)
        fflush(nil)
    }

    func end() {
        if isTerminal { print("") }
    }
}

private struct DemoSummary {
    /// The greatest rate of a video clock's samples.
    private static let greatestRate = 2.0

    private let outcome: DemoRun.Outcome
    private let speed: Double
    /// The board at the end of the lesson.
    private let expected: Board

    init(outcome: DemoRun.Outcome, lesson: Lesson, speed: Double) {
        self.outcome = outcome
        self.speed = speed
        let configuration = DemoEnvironment.demoConfiguration.serverConfiguration
        expected = BoardFold(lesson.messages.map(\.bytes), configuration: configuration, through: nil).board
    }

    private var state: DemoProgress.State { outcome.state }
    private var digest: BoardDigest { outcome.session.board.digest }

    /// Whether the student saw every operation, and none early.
    var isGood: Bool {
        state.teacher?.isComplete == true && (state.guests > 0 || isLesson) && state.lateness.early == 0
            && state.growth.early == 0 && outcome.session.report.isSound
    }

    /// Whether the student's board is that of the lesson, with nothing of others.
    private var isLesson: Bool { state.released == expected.index && digest == expected.digest }

    /// The summary of a lesson that was played to its end.
    func text(pictureAt path: String, documentAt document: String) -> String {
        let verdict =
            digest == expected.digest
            ? "as in the lesson" : state.guests > 0 ? "with what guests drew" : "but the lesson has \(expected.digest)"
        return lines(
            "board      \(outcome.session.board.visible.count) entries, digest \(digest) \(verdict)",
            "picture    \(path)", "pages      \(document)")
    }

    /// The summary of a lesson that a signal ended.
    func text(endedBy signal: String) -> String {
        let seconds = String(format: "%.1f", outcome.duration / .seconds(1))
        return lines("ended      by \(signal) after \(seconds) s; there is no picture")
    }

    private func lines(_ last: String...) -> String {
        var lines = [""]
        if let teacher = state.teacher {
            lines += [
                "sent       \(teacher.published) messages, \(teacher.resent) again",
                "applied    \(teacher.applied) operations, \(teacher.rejections) rejected",
            ]
        }
        lines.append("released   \(state.released) operations to the student, \(state.lateness.early) early")
        lines.append(
            "lateness   p50 \(state.lateness.quantile(0.5)), p99 \(state.lateness.quantile(0.99)) behind the video"
                + reservation)
        lines.append(
            "wet ink    \(state.growth.count) points of \(state.growth.strokes) strokes while they grew, "
                + "\(state.growth.early) early, p50 \(state.growth.quantile(0.5)), "
                + "p99 \(state.growth.quantile(0.99)) behind the video")
        return (lines + last + state.problems.prefix(10).map { "problem    \($0)" }).joined(separator: "\n")
    }

    private var reservation: String {
        speed > Self.greatestRate ? ", mostly the clock's: its samples have a rate of 2 at most" : ""
    }
}
