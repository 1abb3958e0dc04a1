import ArgumentParser
import Foundation
import LecternClient
import NATSClient

/// `lectern rooms`: what the services have.
struct RoomsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms",
        abstract: "List the rooms of all services.",
        discussion: """
            Asks the services of the root, and gathers their answers for half a second. A room that two of them report, \
            while it changes hands, is shown once, as the one who is further has it.

            INDEX is the room's last operation. Of each cohort, R is the last operation released to it, `held` how \
            many wait for its video, V the video's time in seconds. A room that has left memory shows `-` for its \
            strokes; it comes back when somebody writes or joins. With --json a line is one room: `room`, `address`, \
            `incarnation`, `index`, `visible`, `authors`, `asleep`, and `cohorts` with `cohort`, `index`, `held` and \
            `v` in milliseconds.

            The status is 0 when a service answered, even without a room; 1 when none did, or this NATS user may not \
            ask; 2 when NATS cannot be reached.

            EXAMPLES
              lectern rooms
              lectern rooms --json | jq -r 'select(.index > 100).room'
            """)

    @Option(
        help: "First part of all subjects, as in the service's configuration: 1 to 64 characters of a-z, 0-9, _ and -.",
        transform: subjectToken)
    var root = "ink"

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "A line of JSON for each room.")
    var json = false

    func run() async throws {
        let nats = try await connection.connect(as: "lectern rooms")
        let rooms: [RoomSummary]
        do throws(RoomDirectoryError) {
            rooms = try await RoomDirectory(connection: nats, root: root).rooms()
        } catch {
            await nats.close()
            StandardError.write("lectern: \(error)\(error == .nobody ? " at \(root).rooms" : "")")
            throw ExitCode.failed
        }
        await nats.close()
        guard json else { return StandardOutput.write(RoomTable(rooms).text) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for room in rooms { StandardOutput.write(bytes: Array(try encoder.encode(room))) }
    }
}
