import ArgumentParser
import ConnectionOptions
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// `lectern address`: prints the address of a room.
struct AddressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "address",
        abstract: "Print the address of a room.",
        discussion: """
            The address is the prefix of all subjects of a room: the root, the room's partition, the room. Clients \
            treat it as opaque. The subjects append to it: `.in.AUTHOR` for an author's messages, `.out.COHORT` for \
            what a cohort sees, `.head` for every operation at once.

            --root and --partitions must be as in the service. A running service also gives the address of a room at \
            GET /api/rooms/ROOM.

            EXAMPLES
              lectern address lesson-7
              nats sub "$(lectern address lesson-7).out.main"
            """)

    @Argument(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -.", transform: roomID)
    var room: RoomID

    @OptionGroup var subjects: SubjectOptions

    func run() async throws {
        StandardOutput.write(subjects.address(of: room).description)
    }
}

/// `lectern rooms`: lists the rooms of all services.
struct RoomsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms",
        abstract: "List the rooms of all services.",
        discussion: """
            The command asks all services of the root. An answer may be two seconds old. A room that moves from one service to \
            another may be in both answers; it is shown once, with the higher index. When not all of them answer \
            within a second, those that do are shown, and standard error has the partitions of which rooms may be \
            missing: a service has stopped or is starting. Others take its rooms over within 4 seconds.

            INDEX is the room's last operation. For each cohort, R is the last operation released to it, `held` the \
            number of operations that wait for its video, V the video's time in seconds. A room that has left memory \
            shows `-` for its strokes; it is loaded when somebody writes or joins. With --json each line is one room: \
            `room`, `address`, `incarnation`, `index`, `digest`, `board` with `w` and `h`, `visible`, `authors`, \
            `muted` with the names of muted authors, `assembling`, `asleep`, and `cohorts` with `cohort`, `index`, `held` and `v` in milliseconds.

            Exit codes: 0 when all services answered, even without rooms; 1 when none did, or when this NATS user may \
            not ask; 2 when NATS cannot be reached; 3 when rooms may be missing.

            EXAMPLES
              lectern rooms
              lectern rooms --json | jq -r 'select(.index > 100).room'
            """)

    @OptionGroup var subjects: RootOptions

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print a line of JSON for each room.")
    var json = false

    func run() async throws {
        let list = try await connection.run(as: "lectern rooms") { nats in
            do throws(RoomDirectoryError) {
                return try await RoomDirectory(connection: nats, root: subjects.root).rooms()
            } catch .noReply {
                throw ExitCode.failed("\(RoomDirectoryError.noReply) at \(subjects.root).rooms")
            }
        }
        if json {
            for room in list.rooms { StandardOutput.write(bytes: room.encoded()) }
        } else {
            StandardOutput.write(RoomTable(rooms: list.rooms).text)
        }
        guard list.isComplete else {
            let missing = list.missing.map { " for partition \($0.map(String.init).joined(separator: ", "))" } ?? ""
            StandardError.write("lectern: rooms may be missing: no service has answered\(missing)")
            throw ExitCode.unanswered
        }
    }
}

/// Rooms as a table, one line each.
private struct RoomTable {
    let rooms: [RoomSummary]

    var text: String {
        guard !rooms.isEmpty else { return "no rooms" }
        return TextTable(["ROOM", "ADDRESS", "INDEX", "STROKES", "AUTHORS", "COHORTS"], rooms.map(row)).text
    }

    private func row(_ room: RoomSummary) -> [String] {
        [
            room.room, room.address, "\(room.index)", room.visible.map { "\($0)" } ?? "-",
            room.isHibernated == true ? "-" : room.authors.map { "\($0)" } ?? "-",
            room.cohorts.map(cohort).joined(separator: ", "),
        ]
    }

    private func cohort(_ cohort: RoomSummary.Cohort) -> String {
        let video = cohort.video.map { String(format: "%.1f", $0 / 1000) } ?? "-"
        return "\(cohort.cohort) R=\(cohort.index) held=\(cohort.held) V=\(video)"
    }
}
