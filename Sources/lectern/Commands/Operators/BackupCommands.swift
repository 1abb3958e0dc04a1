import ArgumentParser
import ConnectionOptions
import Foundation
import Journal
import NATSClient
import StrokeWire

/// `lectern backup`: copies all streams of a root to a folder.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the logs, checkpoints and assets of all rooms to a folder.",
        discussion: """
            Daemons and classes go on meanwhile, and the copy is consistent: restored, every room is as it was at one \
            moment of the backup, with the same indices, digests and boards. Streams are copied whole, as the NATS \
            server keeps them. The folder gets a file for each stream and backup.json, which is written last, with \
            their hashes.

            The user needs $JS.API.STREAM.NAMES, .INFO, .SNAPSHOT and .MSG.GET, and what the server's acknowledgements go \
            to, $JS.SNAPSHOT.ACK.>.

            EXAMPLES
              lectern backup /backup/2026-03-01
              lectern backup /backup/monday --nats nats://10.0.0.5:4222 --user backup --root ink

            Exit codes: 0 when the backup is whole; 1 when it is not; 2 when NATS cannot be reached.
            """)

    @Argument(help: "Folder for the backup. It is made, or has to be empty.")
    var folder: String

    @OptionGroup var subjects: RootOptions

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print no progress.")
    var quiet = false

    func run() async throws {
        let display = BackupDisplay(isQuiet: quiet)
        try await connection.run(as: "lectern backup") { nats in
            let backup = StreamBackup(root: subjects.root, folder: URL(fileURLWithPath: folder), connection: nats)
            try await backup.make { display.show($0) }
        }
        StandardOutput.write("\(folder): \(display.summary)")
    }
}

/// `lectern restore`: makes the streams of a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make the streams of a backup on a NATS server.",
        discussion: """
            The command checks every file by its hash first; --check does only that, and connects to nothing. Then it makes the \
            streams, logs last. Where streams of the root exist it does nothing, unless --replace is given: then all of them \
            are deleted first. Stop the daemons before that. Those that wait because their streams are gone may run, and go on \
            with the new ones.

            EXAMPLES
              lectern restore /backup/2026-03-01
              lectern restore /backup/2026-03-01 --check
              lectern restore /backup/2026-03-01 --replace

            Exit codes: 0 when all streams are there; 1 when the backup is damaged or a stream of the root exists; 2 when NATS \
            cannot be reached.
            """)

    @Argument(help: "Folder with the backup.")
    var folder: String

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Check the files alone; restore nothing.")
    var check = false

    @Flag(help: "Delete all streams of the root first, whatever is in them. No daemon may run.")
    var replace = false

    @Flag(help: "Print no progress.")
    var quiet = false

    func run() async throws {
        let display = BackupDisplay(isQuiet: quiet)
        let place = URL(fileURLWithPath: folder)
        if check {
            let streams = try endingCommand { try StreamBackup.verify(place) }
            return StandardOutput.write("\(folder): whole; \(streams.joined(separator: ", "))")
        }
        try await connection.run(as: "lectern restore") { nats in
            // The list has the names of the streams, whatever the root.
            let backup = StreamBackup(root: "", folder: place, connection: nats)
            try await backup.restore(replacing: replace) { display.show($0) }
        }
        StandardOutput.write("\(folder): \(display.summary)")
    }
}

/// Says on standard error how far a backup is.
private final class BackupDisplay {
    private let isQuiet: Bool
    private var streams = 0
    private var messages: UInt64 = 0
    private var told = ContinuousClock.now

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    var summary: String { "\(streams) streams, \(messages) messages" }

    func show(_ progress: StreamBackup.Progress) {
        switch progress {
        case .began(let stream, let bytes): say("\(stream): \(Self.megabytes(bytes)) to copy")
        case .went(let stream, let bytes):
            guard ContinuousClock.now - told > .seconds(1) else { return }
            say("\(stream): \(Self.megabytes(bytes)) copied, compressed")
        case .done(let stream, let count):
            streams += 1
            messages += count
            say("\(stream): \(count) messages")
        case .again(let stream):
            say("\(stream) has given records back meanwhile; it is copied again with its checkpoints")
        }
    }

    private func say(_ text: String) {
        told = .now
        if !isQuiet { StandardError.write(text) }
    }

    private static func megabytes(_ bytes: UInt64) -> String { String(format: "%.1f MB", Double(bytes) / 1e6) }
}
