import ArgumentParser
import ConnectionOptions
import Foundation
import LecternClient
import NATSClient
import StrokeWire

/// `lectern audit`: lists who asked for what.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List the commands of operators, with their outcomes.",
        discussion: """
            The service records each command before it carries it out, and then its outcome: `done`, or `failed` with \
            the reason. `unknown` means that the outcome is missing: the command is under way, or the service ended \
            meanwhile and may have carried it out.

            WHO is the NATS user that gave the command, by the permissions of NATS; FOR is whom that user asked for, \
            as the user says: a gateway names the token and the address of the request. Times are UTC.

            Entries are kept for `audit.max_age` and within `audit.max_bytes`, of one room and user the last 2000 \
            commands. Without a journal (`journal.mode: none`) the audit log is in the daemon's own log alone.

            With --json each line is one command: `at` in milliseconds since 1970, `id`, `who`, `for`, `command`, \
            `room`, `target`, `outcome`, `detail`; what is not known is left out.

            Exit codes: 0 when the log was read; 1 when no service answers, or without a journal, or when this NATS \
            user may not ask on ROOT.audit; 2 when NATS cannot be reached.

            EXAMPLES
              lectern audit --since 1d
              lectern audit --room lesson-7 --json | jq -r .who
            """)

    @Option(help: "The room: 1 to 64 characters of a-z, 0-9, _ and -. Default: all.", transform: roomID)
    var room: RoomID?

    @Option(
        help: ArgumentHelp(
            "Only commands that are at most this old: 15m, 12h, 7d; 3650d at most. Default: all that are kept.",
            valueName: "age"),
        transform: age)
    var since: Duration?

    @Flag(help: "Print a line of JSON for each command.")
    var json = false

    @OptionGroup var subjects: RootOptions

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let entries = try await connection.run(as: "lectern audit") { nats in
            let from = since.map { Int64((Date().timeIntervalSince1970 - $0 / .seconds(1)) * 1000) }
            do throws(RoomDirectoryError) {
                return try await AuditReader(connection: nats, root: subjects.root).entries(room: room, since: from)
            } catch {
                guard case .noReply = error else { throw error }
                throw ExitCode.failed("\(error) at \(subjects.root).audit")
            }
        }
        if json {
            for entry in entries { StandardOutput.write(bytes: entry.encoded()) }
        } else {
            StandardOutput.write(Self.table(entries))
        }
    }

    private static func table(_ entries: [AuditEntry]) -> String {
        guard !entries.isEmpty else { return "no commands" }
        let head = ["AT", "WHO", "FOR", "COMMAND", "ROOM", "TARGET", "OUTCOME"]
        return TextTable(head, entries.map(row)).text
    }

    private static func row(_ entry: AuditEntry) -> [String] {
        let at = entry.time.map { Date(timeIntervalSince1970: Double($0) / 1000).formatted(.iso8601) }
        let outcome = entry.outcome?.rawValue ?? "unknown"
        return [
            at ?? "-", entry.who, entry.behalf ?? "-", entry.command, entry.room ?? "-", entry.target ?? "-",
            entry.detail.map { "\(outcome): \($0)" } ?? outcome,
        ]
    }
}
