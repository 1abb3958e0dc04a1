public import ArgumentParser
import ConnectionOptions
import LecternClient
import NATSClient
public import StrokeWire

/// `lectern watch`: follows a room as a student.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow a cohort of a room, as a student client does, and check everything.",
        discussion: """
            The command joins the cohort, prints each released operation as one line of JSON, and requests what is missing. It joins \
            again after a reconnect, and when a new incarnation of the room begins. With --head it joins the end of \
            the log instead, and follows the ungated feed. It goes on until --until-index or --for, or until SIGINT \
            (Ctrl-C) or SIGTERM ends it with the summary; a second one ends it at once.

            A line has the operation's `index`, the `room`'s incarnation, the `author`, the `page`, the `ref` of an undo or \
            redo, \
            `late` when it was released late, the `digest` of the board after it, `at` in milliseconds since the \
            start, and the `message`. A join prints a line with `"event":"joined"`.

            With --wet, the points of strokes that are being drawn are printed as they come, a line with \
            `"event":"wet"` for each message, which is in `release`. They come at the head, and in cohorts with \
            `ink: progressive` as their video reaches them; the operation replaces them.

            Problems go to standard error.

            Exit codes: 0, also after a signal; 1 when the student saw what must never happen (a digest that does not \
            match, an index twice with different content, a message that cannot be read), never joined, may not join or \
            follow the room, or did not reach --until-index; 2 when NATS cannot be reached. Repaired losses do not \
            count.

            EXAMPLES
              lectern watch --room lesson-7
              lectern watch --room lesson-7 --cohort hls --until-index 300 --for 2m
              lectern watch --room lesson-7 --head | jq .index
              lectern watch --room lesson-7 --wet | jq -c 'select(.event == "wet") | .release.d'
            """)

    @OptionGroup var room: RoomOptions
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "The cohort to follow. Default: main.", transform: cohortName)
    var cohort = CohortName.main

    @Flag(help: "Follow the head of the log instead: operations as soon as they are applied.")
    var head = false

    @Flag(help: "Also print the points of strokes that are being drawn.")
    var wet = false

    @Option(help: "Form of the replies to joins, json or binary. Operations are read in both forms.")
    var encoding = WireEncoding.json

    @Option(
        help: ArgumentHelp("Stop after the operation with this index, 1 or more. Default: never.", valueName: "index"))
    var untilIndex: UInt64?

    @Option(
        name: .customLong("for"), help: "Stop after this time: 500ms, 90s, 2m, 1h; 1000h at most. Default: never.",
        transform: duration)
    var limit: Duration?

    @Flag(help: "Print no summary.")
    var quiet = false

    func run() async throws {
        let (output, report) = try await connection.run(as: "lectern watch") { nats in
            try await InterruptHandler().run { try await follow(over: nats) }
        }
        if !quiet { StandardError.write(output.summary(of: report)) }
        if report.joins == 0 {
            throw ExitCode.failed("never joined: \(output.refusal ?? room.unanswered)")
        }
        guard report.isSound, output.isReached else { throw ExitCode.failed }
    }

    private func follow(over nats: NATSConnection) async throws -> (WatchOutput, StudentReport) {
        var output = WatchOutput(untilIndex: untilIndex, unanswered: room.unanswered)
        let student = Student(
            connection: nats, address: room.address, feed: head ? .head : .cohort(cohort), encoding: encoding,
            wetInk: wet, logger: connection.logger)
        let report = try await student.follow(for: limit) { event, _ in output.show(event) }.report
        return (output, report)
    }
}

extension WireEncoding: ExpressibleByArgument {}

/// The output of `lectern watch`: a line of JSON for each operation and each join, and problems as text.
private struct WatchOutput {
    private let untilIndex: UInt64?
    private let unanswered: String
    private let start = ContinuousClock.now
    private var index: UInt64 = 0
    /// Whether the last join request had no answer.
    private var isUnanswered = false
    /// The service's last reason to refuse a join.
    private(set) var refusal: String?

    /// - Parameters:
    ///   - untilIndex: the index of the last operation to show; nil to go on.
    ///   - unanswered: the error where no service answers.
    init(untilIndex: UInt64?, unanswered: String) {
        self.untilIndex = untilIndex
        self.unanswered = unanswered
    }

    /// Whether the last operation to show has come.
    var isReached: Bool { untilIndex.map { index >= $0 } ?? true }

    /// Prints an event.
    /// - Returns: whether the watch goes on.
    mutating func show(_ event: StudentEvent) -> Bool {
        switch event {
        case .problem(let problem):
            show(problem)
            return true
        case .wet(let release):
            var line = JSONLine()
            line.add("event", "wet")
            line.add("at", at)
            line.add("release", json: release.encoded())
            StandardOutput.write(bytes: line.closed)
            return true
        case .joined(let room, let index, let digest, let visible):
            self.index = index
            isUnanswered = false
            var line = JSONLine()
            line.add("event", "joined")
            line.add("index", index)
            line.add("room", room)
            line.add("digest", digest.description)
            line.add("visible", visible)
            line.add("at", at)
            StandardOutput.write(bytes: line.closed)
        case .applied(let operation, let room, let digest):
            index = operation.index
            var line = JSONLine()
            line.add("index", operation.index)
            line.add("room", room)
            line.add("author", operation.author.text)
            line.add("page", operation.page)
            if let reference = operation.reference { line.add("ref", reference) }
            if operation.isLate { line.add("late", true) }
            line.add("digest", digest.description)
            line.add("at", at)
            line.add("message", json: operation.bytes)
            StandardOutput.write(bytes: line.closed)
        }
        return untilIndex == nil || !isReached
    }

    /// Requests without an answer are repeated every few seconds: the first one alone is printed, with its likely cause.
    private mutating func show(_ problem: StudentProblem) {
        if case .joinFailed(.unanswered) = problem {
            guard !isUnanswered else { return }
            isUnanswered = true
            StandardError.write("\(at) ms: \(problem)")
            return StandardError.write("lectern: \(unanswered) Trying again.")
        }
        if case .joinFailed(.refused(let why)) = problem {
            refusal = why
            isUnanswered = false
        }
        StandardError.write("\(at) ms: \(problem)")
    }

    /// The summary in one line.
    func summary(of report: StudentReport) -> String {
        "index \(index): applied \(report.applied), late \(report.late), joins \(report.joins), "
            + "rejoins \(report.rejoins), failed joins \(report.failedJoins), gaps \(report.gaps), "
            + "repeats \(report.repeats), divergences \(report.divergences), conflicts \(report.conflicts), "
            + "malformed \(report.malformed), overflows \(report.overflows)"
    }

    private var at: Int { Int(start.duration(to: .now) / .milliseconds(1)) }
}
