import Foundation
import Hosting
import Journal
public import Logging
public import NATSClient
public import ServiceLifecycle
import StrokeWire
import Whiteboard

/// The whiteboard service: rooms between teachers who publish and students who follow, over one NATS connection.
///
/// Runs as a service until graceful shutdown: what has arrived by then is handled, published and saved before it
/// returns.
public struct Server: Service {
    private let configuration: ServerConfiguration
    private let connection: NATSConnection
    private let logger: Logger
    private let onScrape: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let onServing: @Sendable () -> Void

    /// - Parameters:
    ///   - connection: not connected yet; the server connects it and drains it at the end.
    ///   - onScrape: takes what is to be called before metrics are read.
    ///   - onServing: called once, when the service serves its partitions.
    public init(
        configuration: ServerConfiguration, connection: NATSConnection, logger: Logger,
        onScrape: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { _ in },
        onServing: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.connection = connection
        self.logger = logger
        self.onScrape = onScrape
        self.onServing = onServing
    }

    /// - Throws: `SettingsConflict` where a daemon is on the root whose settings do not go with this one's.
    public func run() async throws {
        let floor = WorkFloor(configuration, connection, logger)
        let members = MemberChannel(root: configuration.root, connection: connection)
        if let settings = configuration.journal {
            try await runDurable(floor, members, settings)
        } else {
            try await runVolatile(floor, members)
        }
    }

    /// Nothing survives: what comes over core NATS is the journal.
    private func runVolatile(_ floor: WorkFloor, _ members: MemberChannel) async throws {
        let journal = VolatileJournal(
            root: configuration.root, partitions: configuration.partitions, logger: logger)
        onScrape(floor.loadMetrics(misaddressed: { journal.misaddressedCount }).report)
        guard try await admitted(members) != nil else { return await connection.drain() }
        let ends = floor.start(journal, keeper: nil)
        for partition in 0..<configuration.partitions {
            floor.workers.postToAll(
                .partition(.open(partition, prefix: journal.incarnationPrefix, stored: [:], kept: nil)))
            floor.workers.postToAll(.partition(.caughtUp(partition)))
        }
        try journal.read(from: connection, now: MonotonicClock.now) { [workers = floor.workers] record in
            workers[record.room].post(.record(record))
        }
        try floor.listen()
        let strangers = StrangerLog(root: configuration.root, metrics: floor.metrics, logger: logger)
        let presence = LonePresence(configuration: configuration, members: members, strangers: strangers)
        let being = Task { await presence.run() }
        try? await connection.flush()
        onServing()
        logger.info("serving", metadata: ["root": "\(configuration.root)"])
        try? await gracefulShutdown()
        logger.info("draining")
        being.cancel()
        await floor.stop(ends)
    }

    /// The journal is JetStream's; other daemons may share the partitions.
    private func runDurable(
        _ floor: WorkFloor, _ members: MemberChannel, _ settings: JournalSettings
    ) async throws {
        let journal = JetStreamJournal(
            root: configuration.root, partitions: configuration.partitions, settings: settings,
            connection: connection, logger: logger)
        onScrape(floor.loadMetrics(misaddressed: { journal.misaddressedCount }).report)
        guard let others = try await admitted(members) else { return await connection.drain() }
        let store = CheckpointStore(
            root: configuration.root, partitions: configuration.partitions, connection: connection, logger: logger)
        let keeper = CheckpointKeeper(
            store: store, journal: journal, configuration: configuration, metrics: floor.metrics, logger: logger)
        let opener = PartitionOpener(
            journal: journal, store: store, keeper: keeper, workers: floor.workers, logger: logger)
        let ownership = Ownership(
            configuration: configuration, members: members, others: others, partitions: opener,
            workers: floor.workers, metrics: floor.metrics, logger: logger
        ) { [onServing, logger, configuration] in
            onServing()
            logger.info(
                "serving", metadata: ["root": "\(configuration.root)", "member": "\(configuration.name)"])
        }
        let ends = floor.start(journal, keeper: keeper) { ownership.report($0) }
        try floor.listen()
        let owning = Task { try await ownership.run() }
        try? await gracefulShutdown()
        logger.info("draining")
        await ownership.leave(within: Self.drainPatience)
        owning.cancel()
        keeper.stop()
        await floor.stop(ends)
    }

    /// How long a successor may take, and how long saving may take, at the end.
    private static let drainPatience = Duration.seconds(10)

    /// Connects, and finds out who is there.
    /// - Returns: nil where the daemon is to end before it has begun.
    private func admitted(_ members: MemberChannel) async throws -> Admission.Others? {
        do {
            return try await cancelWhenGracefulShutdown {
                await connect()
                return try await Admission(configuration: configuration, members: members).ask()
            }
        } catch {
            await connection.drain()
            throw error
        }
    }

    /// The daemon may be started before its NATS server: it goes on trying.
    private func connect() async {
        do {
            try await connection.connect(keepTrying: true)
        } catch .cancelled {
            // Told to end meanwhile.
        } catch {
            logger.warning("no NATS server yet, trying on", metadata: ["error": "\(error)"])
        }
    }
}
