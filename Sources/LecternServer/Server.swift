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

    public func run() async throws {
        let floor = WorkFloor(configuration, connection, logger)
        if let settings = configuration.journal {
            try await runDurable(floor, settings)
        } else {
            try await runVolatile(floor)
        }
    }

    /// Nothing survives: what comes over core NATS is the journal.
    private func runVolatile(_ floor: WorkFloor) async throws {
        let journal = VolatileJournal(
            root: configuration.root, partitions: configuration.partitions, logger: logger)
        let ends = floor.start(journal, keeper: nil)
        for partition in 0..<configuration.partitions {
            floor.workers.postToAll(.partition(.open(partition, prefix: journal.incarnationPrefix, stored: [:])))
            floor.workers.postToAll(.partition(.caughtUp(partition)))
        }
        try journal.read(from: connection, now: MonotonicClock.now) { [workers = floor.workers] record in
            workers[record.room].post(.record(record))
        }
        try floor.listen()
        onScrape(floor.loadMetrics(misaddressed: { journal.misaddressedCount }).report)
        await connect()
        onServing()
        logger.info("serving", metadata: ["root": "\(configuration.root)"])
        try? await gracefulShutdown()
        logger.info("draining")
        await floor.stop(ends)
    }

    /// The journal is JetStream's; other daemons may share the partitions.
    private func runDurable(_ floor: WorkFloor, _ settings: JournalSettings) async throws {
        let journal = JetStreamJournal(
            root: configuration.root, partitions: configuration.partitions, settings: settings,
            connection: connection, logger: logger)
        let store = CheckpointStore(
            root: configuration.root, partitions: configuration.partitions, connection: connection, logger: logger)
        let keeper = CheckpointKeeper(
            store: store, journal: journal, configuration: configuration, metrics: floor.metrics, logger: logger)
        let opener = PartitionOpener(
            journal: journal, store: store, keeper: keeper, workers: floor.workers, logger: logger)
        let ownership = Ownership(
            configuration: configuration, connection: connection, partitions: opener, workers: floor.workers,
            metrics: floor.metrics, logger: logger
        ) { [onServing, logger, configuration] in
            onServing()
            logger.info(
                "serving", metadata: ["root": "\(configuration.root)", "member": "\(configuration.name)"])
        }
        let ends = floor.start(journal, keeper: keeper) { ownership.report($0) }
        try floor.listen()
        onScrape(floor.loadMetrics(misaddressed: { journal.misaddressedCount }).report)
        await connect()
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

    /// The daemon may be started before its NATS server: it goes on trying.
    private func connect() async {
        do {
            try await connection.connect(keepTrying: true)
            try await connection.flush()
        } catch {
            logger.warning("no NATS server yet, trying on", metadata: ["error": "\(error)"])
        }
    }
}
