import ArgumentParser
import ConnectionOptions
import Foundation
import Journal
import LecternConfiguration
import Logging
import NATSClient

/// `lectern repartition`: moves all rooms to another number of partitions.
struct RepartitionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repartition",
        abstract: "Move all rooms to another number of partitions, while no daemon runs.",
        discussion: """
            Rooms keep their incarnations, indices, digests, boards, undo history, assets and replays. Records keep \
            their times. What teachers publish meanwhile is not acknowledged: their clients keep it and send it again.

            1. Make a backup: lectern backup DIR.
            2. Stop all daemons and gateways of the root. The command refuses to start beside daemons, \
            and beside another run of it.
            3. Run it. The server first copies all streams, which takes their space a second time.
            4. Set subjects.partitions in the settings of all daemons and gateways, and start them.
            5. Where users have permissions for rooms, put in the new addresses: lectern address ROOM --partitions N.

            Interrupted before all is copied, it leaves everything as it was when it is run again with the old number. \
            Later, run it again with any number: it goes on from the copies. Daemons refuse to serve meanwhile. Where \
            JetStream has no space for the new logs, nothing is moved; a log that records would not fit in gets a \
            higher max_bytes.

            EXAMPLES
              lectern repartition 4 --nats nats://10.0.0.5:4222 --user admin

            Exit codes: 0 when all rooms are moved; 1 when not; 2 when NATS cannot be reached.
            """)

    @Argument(help: "The new number of partitions, 1 to 1024.")
    var partitions: Int

    @OptionGroup var subjects: RootOptions

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print no progress.")
    var quiet = false

    func validate() throws {
        let allowed = DaemonConfiguration.Subjects.allowedPartitions
        guard allowed ~= partitions else {
            throw ValidationError("The number of partitions is \(allowed.lowerBound) to \(allowed.upperBound)")
        }
    }

    func run() async throws {
        try await connection.run(as: "lectern repartition") { nats in
            let moving = Repartitioning(
                root: subjects.root, partitions: partitions, connection: nats,
                logger: Logger(label: "lectern.repartition"))
            try await moving.run { show($0) }
        }
    }

    private func show(_ progress: Repartitioning.Progress) {
        switch progress {
        case .finished(let partitions):
            StandardOutput.write("an earlier move to \(partitions) partitions was interrupted, and is finished now")
        case .undone(let partitions):
            StandardOutput.write(
                "an earlier move was interrupted, and is undone: the number of partitions is \(partitions)")
        case .copying(let stream, let bytes):
            say("\(stream): the server copies \(String(format: "%.1f MB", Double(bytes) / 1e6))")
        case .measuring(let copy): say("\(copy): sizes of its records")
        case .raised(let stream, let maxBytes):
            StandardError.write("lectern: \(stream) gets max_bytes \(maxBytes), so that what is moved fits")
        case .copied: say("everything is copied; if this is interrupted now, run it again")
        case .moving(let copy, let records): say("\(copy): \(records) records to move")
        case .unreadable(let room):
            StandardError.write("lectern: a checkpoint of \(room) cannot be read; the room is made from its log")
        case .done(let summary):
            StandardOutput.write(
                "moved to \(partitions) partitions: \(summary.records) records, \(summary.checkpoints) checkpoints")
        }
    }

    private func say(_ text: String) {
        if !quiet { StandardError.write(text) }
    }
}
