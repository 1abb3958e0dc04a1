import ArgumentParser
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// `lectern publish`: a teacher who gives a recorded lesson.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a lesson into a room, as a teacher client does.",
        discussion: """
            Publishes every message at its time, listens to what the service says, sends again what it misses, and \
            waits at the end until every operation is applied or rejected. Never sends more than 200 messages or 1 MiB \
            a second, whatever the speed: that is what the service takes from one author.

            With a journal (JetStream), messages are sent until they are acknowledged, in their order, over lost \
            connections, restarts of NATS or of the service, and a full journal; what is sent again is stored once. \
            Nothing new goes out while nothing gets through, or while 16,384 operations or 64 MiB are open.

            With --outbox, the command itself may be ended at any moment: started again with the same file, it goes \
            on with the same session where it was, and sends again what was not acknowledged. A lesson that was \
            finished is not sent again. Remove the file to publish it anew.

            Progress goes to standard error, the summary to standard output. The status is 0 when every operation was \
            applied; 1 when one was rejected, given up, or did not arrive, or this NATS user may not publish; 2 when \
            NATS cannot be reached; 3 when all of them are in the journal, and the service has not said what became of \
            each. SIGINT (Ctrl-C) or SIGTERM ends the publishing, with the summary and status 130 or 143; a second one \
            ends the command at once.

            EXAMPLES
              lectern publish demo --room lesson-7 --author ann
              lectern publish lesson.ndjson --room lesson-7 --author ann --speed 4
              lectern publish demo --room trial --author ann --lose 0.1 --shuffle --json
              lectern publish lesson.ndjson --room lesson-7 --author ann --outbox lesson-7.outbox
            """)

    @OptionGroup var lesson: LessonOptions
    @OptionGroup var room: RoomOptions
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "Who draws: 1 to 64 characters of a-z, 0-9, _ and -.", transform: authorID)
    var author: AuthorID

    @Option(help: "How many seconds of the lesson go out a second.")
    var speed = 1.0

    @Option(help: ArgumentHelp("Share of the messages whose first sending is left out, 0 to 1.", valueName: "share"))
    var lose = 0.0

    @Flag(help: "Let messages overtake each other by up to eight places.")
    var shuffle = false

    @Option(help: "Seed of everything random: the demo lesson's hand, and what --lose and --shuffle hit.")
    var seed: UInt64 = 1

    @Option(help: "Name of this count of operations. Default: a new one.")
    var session: String?

    @Option(help: ArgumentHelp("Where to write down what is sent, to go on from there.", valueName: "file"))
    var outbox: String?

    @Option(
        help: "How long to wait for answers at the end, or while nothing gets through. Default: 10s.",
        transform: duration)
    var patience = Duration.seconds(10)

    @Flag(help: "No progress.")
    var quiet = false

    @Flag(help: "The summary as one line of JSON.")
    var json = false

    func validate() throws {
        guard speed >= 0.001, speed <= 1000 else { throw ValidationError("--speed is 0.001 to 1000") }
        guard 0...1 ~= lose else { throw ValidationError("--lose is 0 to 1") }
        let isVisible = session?.utf8.allSatisfy { 0x21...0x7e ~= $0 } ?? true
        guard isVisible, 1...64 ~= session?.utf8.count ?? 1 else {
            throw ValidationError("--session takes 1 to 64 visible characters")
        }
    }

    func run() async throws {
        let trial = PublishPlan.Trial(lose: lose, shuffle: shuffle ? 8 : 0, seed: seed)
        let plan = PublishPlan(try lesson.load(seed: seed), speed: speed, trial: trial)
        let file = try openOutbox()
        let nats = try await connection.connect(as: "lectern publish")
        let teacher = Teacher(
            connection: nats, address: room.address, author: author, logger: connection.logger)
        let start = ContinuousClock.now
        let interruption = await Interruption()
        let report: TeacherReport
        do {
            report = try await interruption.run { try await publish(plan, as: teacher, file) }
        } catch {
            await nats.close()
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
        await nats.drain()
        let summary = PublishSummary(report: report, duration: start.duration(to: .now))
        StandardOutput.write(json ? summary.json : summary.text)
        guard let code = summary.exitCode else { return }
        if let signal = interruption.signal {
            StandardError.write("lectern: ended by \(signal.name)")
        } else if report.isUnheard {
            StandardError.write("lectern: \(room.unanswered)")
        }
        throw interruption.exitCode ?? code
    }

    private func publish(
        _ plan: PublishPlan, as teacher: Teacher, _ outbox: OutboxFile?
    ) async throws -> TeacherReport {
        var progress = PublishProgress(isQuiet: quiet)
        defer { progress.end() }
        return try await teacher.publish(
            plan, session: session ?? Teacher.newSession(), outbox: outbox, patience: patience
        ) { progress.show($0) }
    }

    private func openOutbox() throws -> OutboxFile? {
        do throws(OutboxFileError) {
            guard let outbox else { return nil }
            return try OutboxFile(path: outbox, address: room.address, author: author, session: session)
        } catch {
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
    }
}
