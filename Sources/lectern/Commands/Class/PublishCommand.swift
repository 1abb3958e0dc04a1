import ArgumentParser
import ConnectionOptions
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// `lectern publish`: publishes a lesson as a teacher.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a lesson into a room, as a teacher client does.",
        discussion: """
            The command publishes every message at its time, reads the service's feedback, sends missing messages again, and \
            waits at the end until every operation is applied or rejected. It sends the points of each stroke while the pen \
            is down, too: in cohorts with `ink: progressive` it grows on the students' screens as it grew under the pen. \
            Those updates are lost without harm, and --no-wet leaves them out. It never sends more than 200 messages or 1 MiB \
            a second, at any speed: that is what the service takes from one author, beside the updates.

            With a journal (JetStream), messages are sent in order until they are acknowledged, also after lost \
            connections, restarts of NATS or of the service, and a full journal; repeats are stored once. No new \
            message is sent while none gets through, or while 16,384 operations or 64 MiB are open.

            With --outbox, the command may be ended at any moment. Started again with the same file, it continues the \
            session, and sends what was not acknowledged again. A finished lesson is not sent again; remove the file \
            to publish it anew.

            Times count on the time line of the room's video. By default they are the time at the teacher when the strokes \
            are drawn, where the clock of the room's video tells it, and else those of the lesson; so they stay with another \
            --speed and with --outbox, and with --time media. With --time live, utc or since-start the lesson begins when publishing starts, and its strokes get the times at which they are \
            drawn again; so a lesson that was recorded in UTC can be played, too. With --gateway UTC is that of the \
            gateway, which may be more right than this machine's. These play at --speed 1, without --outbox, which keeps \
            messages as they are.

            A session ends when its author begins another one, as a second publish under the same name does: the \
            service ignores the old session, and its command ends with an error.

            Progress goes to standard error, the summary to standard output. SIGINT (Ctrl-C) or SIGTERM ends the \
            publishing with the summary; a second one ends the command at once.

            Exit codes: 0 when every operation was applied; 1 when one was rejected, given up, or did not arrive, when \
            the session is over, or when this NATS user may not publish; 2 when NATS or the gateway cannot be reached; 3 when all of \
            them are in the journal, and the service has not answered for each; 130 after SIGINT, 143 after SIGTERM.

            EXAMPLES
              lectern publish demo --room lesson-7 --author ann
              lectern publish lesson.ndjson --room lesson-7 --author ann --speed 4
              lectern publish demo --room trial --author ann --lose 0.1 --shuffle --json
              lectern publish lesson.ndjson --room lesson-7 --author ann --outbox ann.outbox
              lectern publish demo --room lesson-7 --author ann --time utc --gateway http://127.0.0.1:8080
            """)

    @OptionGroup var lesson: LessonOptions
    @OptionGroup var room: RoomOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var timeLine: TimeLineOptions

    @Option(help: "The author: 1 to 64 characters of a-z, 0-9, _ and -.", transform: authorID)
    var author: AuthorID

    @Option(help: "Seconds of the lesson that are published per second, 0.001 to 1000.")
    var speed = 1.0

    @Flag(inversion: .prefixedNo, help: "Send strokes while they are being drawn, every 33 ms.")
    var wet = true

    @Option(help: ArgumentHelp("Share of the messages that are not sent the first time, 0 to 1.", valueName: "share"))
    var lose = 0.0

    @Flag(help: "Let messages overtake each other by up to eight places.")
    var shuffle = false

    @Option(help: "Seed of the demo lesson's handwriting, and of --lose and --shuffle, 0 or more.")
    var seed: UInt64 = 1

    @Option(
        help: "Name of the session, in which operations are numbered: 1 to 64 visible characters. Default: a new one.")
    var session: String?

    @Option(
        help: ArgumentHelp("File that records what was sent, to continue from there. Default: none.", valueName: "file")
    )
    var outbox: String?

    @OptionGroup var publishing: PublishingOptions

    func validate() throws {
        guard speed >= 0.001, speed <= 1000 else { throw ValidationError("--speed is 0.001 to 1000") }
        guard 0...1 ~= lose else { throw ValidationError("--lose is 0 to 1") }
        guard timeLine.line == .media || timeLine.line == .auto || speed == 1 && outbox == nil else {
            throw ValidationError("--time \(timeLine.line.rawValue) goes with --speed 1 and without --outbox")
        }
        let isVisible = session?.utf8.allSatisfy { 0x21...0x7e ~= $0 } ?? true
        guard isVisible, 1...64 ~= session?.utf8.count ?? 1 else {
            throw ValidationError("--session takes 1 to 64 visible characters")
        }
    }

    func run() async throws {
        let faults = PublishPlan.Faults(lose: lose, shuffle: shuffle ? 8 : 0, seed: seed)
        let loaded = try lesson.load(seed: seed)
        let file = try openOutbox()
        let nats = try await connection.connect(as: "lectern publish")
        let teacher = Teacher(
            connection: nats, address: room.address, author: author, logger: connection.logger)
        let interrupts = await InterruptHandler()
        let origin: Int64?
        do {
            origin = try await interrupts.run {
                try await timeLine.origin(of: room.address, over: nats, mayMove: speed == 1 && outbox == nil)
            }
        } catch {
            await nats.close()
            throw interrupts.exitCode ?? error
        }
        let plan = PublishPlan(origin.map(loaded.moved) ?? loaded, speed: speed, faults: faults)
        let start = ContinuousClock.now
        let report: TeacherReport
        do {
            report = try await interrupts.run { try await publish(plan, as: teacher, file) }
        } catch {
            await nats.close()
            throw ExitCode.failed("\(error)")
        }
        await nats.drain()
        let summary = PublishSummary(report: report, duration: start.duration(to: .now))
        try summary.endCommand(asJSON: publishing.json, interrupts, room) { session in
            """
            the session \(session) is over: \(author) has begun another one since. Publish again without --session and with \
            a new --outbox.
            """
        }
    }

    private func publish(
        _ plan: PublishPlan, as teacher: Teacher, _ outbox: OutboxFile?
    ) async throws -> TeacherReport {
        var progress = PublishProgress(isQuiet: publishing.quiet)
        defer { progress.end() }
        return try await teacher.publish(
            plan, session: session ?? Teacher.newSession(), outbox: outbox, wetInk: wet,
            answerTimeout: publishing.answerTimeout
        ) { progress.show($0) }
    }

    private func openOutbox() throws -> OutboxFile? {
        guard let outbox else { return nil }
        return try endingCommand {
            try OutboxFile(path: outbox, address: room.address, author: author, session: session)
        }
    }
}
