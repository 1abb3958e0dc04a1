import ArgumentParser
import LecternClient
import NATSClient
import StrokeWire

/// `lectern close`: ends a room's life.
struct CloseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract: "End the life of a room: its board is empty then.",
        discussion: """
            The board, what could be undone, the log and the authors' numbers are forgotten by the service and by all \
            who follow the room, at once, whatever the video of a cohort has reached. What was not released yet is \
            not released any more. The next message to the room begins another life of it, with index 1. It cannot be \
            undone.

            The decision is published on the room's `.ctl`: into its journal where there is one, so that it holds \
            after a restart, too. The user must be allowed to publish there, as the service's own is.

            The status is 0 when the room is closed; 1 when there is no such room, no service, no permission, or no \
            sign that it was done; 2 when NATS cannot be reached; 3 when the decision is in the journal, and the service has not come \
            to it yet.

            EXAMPLES
              lectern close lesson-7
            """)

    @Argument(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @OptionGroup var subjects: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let nats = try await connection.connect(as: "lectern close")
        let closing: (outcome: RoomClosing, known: RoomSummary)?
        do {
            closing = try await close(over: nats)
        } catch {
            await nats.close()
            StandardError.write("lectern: \(error)")
            throw ExitCode.failed
        }
        await nats.close()
        guard let (outcome, known) = closing else {
            StandardError.write("lectern: nobody has written to the room \(room): there is nothing to close")
            throw ExitCode.failed
        }
        let strokes = known.visible.map { " and \($0) strokes on the board" } ?? ""
        let life = "\(address), with \(known.index) operations\(strokes)"
        switch outcome {
        case .closed(let sequence?):
            StandardOutput.write("closed \(life); in the journal at \(sequence)")
        case .closed(nil):
            StandardOutput.write("closed \(life)")
        case .logged(let sequence):
            StandardOutput.write("to be closed: \(life); in the journal at \(sequence), the service has yet to read it")
            throw ExitCode.unanswered
        case .unconfirmed:
            StandardError.write(
                "lectern: no sign that \(life) is closed; may this user publish on \(address.subject(.control))?")
            throw ExitCode.failed
        }
    }

    private var address: RoomAddress { subjects.address(of: room) }

    /// - Returns: nil for a room that nobody has written to.
    private func close(over nats: NATSConnection) async throws -> (outcome: RoomClosing, known: RoomSummary)? {
        let directory = RoomDirectory(connection: nats, root: subjects.root)
        // Of a room that was closed a moment ago there is no life to end.
        guard let known = try await directory.room(at: address), known.incarnation != "" else { return nil }
        return (try await directory.close(address, known: known), known)
    }
}
