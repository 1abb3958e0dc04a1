import ArgumentParser
import ConnectionOptions
import LecternClient
import NATSClient
import StrokeWire

/// `lectern erase`: deletes all that is stored of a room.
struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Delete all that is stored of a room, for good.",
        discussion: """
            The service ends the room as `lectern close` does. Then it deletes the room's records up to there from the log, its \
            checkpoints, and the files that were brought to it or shown in it and that no other room has, and has the NATS \
            server overwrite them on disk. What is written to the room after the decision is a new room, and stays. This \
            cannot be undone: type the room's name when it is asked for, or give --yes.

            It takes about a millisecond for each record, and before that some seconds, two minutes at most, until \
            checkpoints hold the decision and what the other rooms have. The service erases two rooms at a time; others \
            wait. If it fails or is cut off the room has ended, and erasing it again deletes what is left, with what was \
            written since.

            Not deleted: the entry in the audit log that the room was erased, by whom; backups, exports, recordings and \
            outbox files; mirrors of the streams; copies in students' browsers. NATS servers of a cluster keep messages some \
            minutes longer in a log of their own. See the guide for operators, "Erase a room".

            Exit codes: 0 when nothing is left; 1 when it was not confirmed, when there is no service or no permission, or \
            when something is left; 2 when NATS cannot be reached.

            EXAMPLES
              lectern erase lesson-7
              lectern erase lesson-7 --yes --for "request 4711 of the school office"
            """)

    @Argument(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @Flag(help: "Do not ask for the room's name.")
    var yes = false

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        if !yes {
            StandardError.write("All of the room \(room) will be deleted for good. Type its name to go on:")
            guard readLine() == room.text else {
                throw ExitCode.failed("not erased: that is not its name")
            }
        }
        let reply = try await options.connection.run(as: "lectern erase") { nats in
            var last = ""
            return try await options.commands(over: nats).give(.erase(room)) { progress in
                let count = progress.made.map { made in " \(made)" + (progress.total.map { " of \($0)" } ?? "") } ?? ""
                let line = "\(progress.detail)\(count)"
                if line != last { StandardError.write(line) }
                last = line
            }
        }
        let place = reply.sequence.map { "; in the journal at \($0)" } ?? ""
        let detail = reply.detail.map { ": \($0)" } ?? ""
        StandardOutput.write("erased \(room)\(detail)\(place)")
    }
}
