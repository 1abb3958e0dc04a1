import ArgumentParser
import LecternClient
import NATSClient
import StrokeWire

/// `lectern watch`: a student.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow a cohort of a room, as a student client does, and check everything.",
        discussion: """
            Joins the cohort, prints each released operation as one line of JSON, and asks for what is missing. Joins \
            again after a reconnect and when the room begins anew. With --head it follows the ungated feed instead, \
            from the next operation on. Goes on until --until-index or --for, or until SIGINT (Ctrl-C) or SIGTERM ends \
            it with the summary; a second one ends it at once.

            A line has the operation's `index`, the `room`'s incarnation, the `author`, the `ref` of an undo or redo, \
            `late` where it was, the `digest` of the board after it, `at` in milliseconds since the start, and the \
            `message`. A join prints a line with `"event":"joined"`.

            Problems go to standard error. The status is 1 when the student saw something that must never happen: a \
            digest that does not match, an index twice with other content, a message that cannot be read; or when \
            it never joined, saw no operation at all with --head, may not follow the room, or --until-index was not \
            reached. Losses that were mended do not count. It is 2 when NATS cannot be reached, else 0, also after a \
            signal.

            EXAMPLES
              lectern watch --room lesson-7
              lectern watch --room lesson-7 --cohort hls --until-index 300 --for 2m
              lectern watch --room lesson-7 --head | jq .index
            """)

    @OptionGroup var room: RoomOptions
    @OptionGroup var connection: ConnectionOptions

    @Option(help: "The cohort to follow. Default: main.", transform: cohortName)
    var cohort = CohortName.main

    @Flag(help: "Follow the head feed: operations as soon as they are applied.")
    var head = false

    @Option(help: ArgumentHelp("Stop when this operation is there. Default: go on.", valueName: "index"))
    var untilIndex: UInt64?

    @Option(name: .customLong("for"), help: "Stop after this time. Default: go on.", transform: duration)
    var limit: Duration?

    @Flag(help: "No summary.")
    var quiet = false

    func run() async throws {
        let nats = try await connection.connect(as: "lectern watch")
        let interruption = await Interruption()
        let (output, report): (WatchOutput, StudentReport)
        do {
            (output, report) = try await interruption.run { try await follow(over: nats) }
        } catch {
            await nats.close()
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
        let absence = await whyNothingCame(output, report, over: nats)
        await nats.close()
        if !quiet { StandardError.write(output.summary(of: report)) }
        if let absence {
            StandardError.write("lectern: \(absence)")
            throw ExitCode.failed
        }
        guard report.isSound, output.isReached else { throw ExitCode.failed }
    }

    private func follow(over nats: NATSConnection) async throws -> (WatchOutput, StudentReport) {
        var output = WatchOutput(untilIndex: untilIndex)
        if head {
            let feed = HeadFeed(connection: nats, address: room.address)
            let report = try await feed.follow(for: limit) { event, _ in output.show(event) }.report
            return (output, report)
        }
        let student = Student(connection: nats, address: room.address, cohort: cohort, logger: connection.logger)
        let report = try await student.follow(for: limit) { event, _ in output.show(event) }.report
        return (output, report)
    }

    /// - Returns: nil when something came.
    private func whyNothingCame(
        _ output: WatchOutput, _ report: StudentReport, over nats: NATSConnection
    ) async -> String? {
        if !head { return report.joins > 0 ? nil : "never joined: \(output.refusal ?? room.unanswered)" }
        guard report.applied == 0, report.isSound else { return nil }
        let feed = room.address.subject(.head)
        // Nobody can tell from the feed alone whether there is nobody to draw, or nobody to serve.
        do throws(RoomDirectoryError) {
            _ = try await RoomDirectory(connection: nats, root: room.subjects.root).room(at: room.address)
            return "no operation came on \(feed): nobody drew in this time"
        } catch .nobody {
            return "no operation came on \(feed), and \(room.unanswered)"
        } catch {
            return "no operation came on \(feed): \(error)"
        }
    }
}
