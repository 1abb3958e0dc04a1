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
            again after a reconnect and when the room begins anew. With --head it follows the ungated feed instead.

            A line has the operation's `index`, the `room`'s incarnation, the `author`, the `ref` of an undo or redo, \
            `late` where it was, the `digest` of the board after it, `at` in milliseconds since the start, and the \
            `message`. A join prints a line with `"event":"joined"`.

            Problems go to standard error. The status is 1 when the student saw something that must never happen: a \
            digest that does not match, an index twice with other content, a message that cannot be read; or when \
            it never joined, or --until-index was not reached. Losses that were mended do not count. It is 2 when NATS \
            cannot be reached.

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
        var output = WatchOutput(untilIndex: untilIndex)
        let report: StudentReport
        do throws(NATSError) {
            if head {
                let feed = HeadFeed(connection: nats, address: room.address)
                report = try await feed.follow(for: limit) { event, _ in output.show(event) }.report
            } else {
                let student = Student(
                    connection: nats, address: room.address, cohort: cohort, logger: connection.logger)
                report = try await student.follow(for: limit) { event, _ in output.show(event) }.report
            }
        } catch {
            await nats.close()
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
        await nats.close()
        if !quiet { StandardError.write(output.summary(of: report)) }
        if !head, report.joins == 0 {
            StandardError.write("lectern: never joined: \(output.refusal ?? room.unanswered)")
            throw ExitCode.failed
        }
        guard report.isSound, output.isReached else { throw ExitCode.failed }
    }
}
