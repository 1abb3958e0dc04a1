import AssetOpener
import Hosting
import Journal
import Locking
public import Logging
public import NATSClient
public import ServiceLifecycle
import StrokeWire
import Whiteboard

/// The whiteboard service: rooms between teachers who publish and students who follow, over two NATS connections.
///
/// Operations have a connection of their own. What may be large, and need not be in time, goes over another one: requests,
/// their replies, and checkpoints. So a release never waits for the megabytes of a reply.
///
/// Runs until graceful shutdown. Messages that have arrived by then are handled, published and saved before it returns.
public struct Server: Service {
    private let configuration: ServerConfiguration
    /// For operations, clocks and members.
    private let connection: NATSConnection
    /// For requests, replies and checkpoints.
    private let bulkConnection: NATSConnection
    private let logger: Logger
    private let onScrape: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let onServing: @Sendable () -> Void
    /// Its connections to NATS, by what they are for.
    public var connections: [(name: String, connection: NATSConnection)] {
        [("operations", connection), ("requests", bulkConnection)]
    }
    /// Replaces the sink for replies, in tests.
    var replySink: @Sendable (ReplySink) -> ReplySink = { $0 }
    /// Whether the server is serving; valid before and after ``run()``, too.
    public let readiness: Readiness
    private let probe = WorkerProbe()

    /// - Parameters:
    ///   - connection: not connected yet; the server connects it and drains it at the end, and another one with the same
    ///     settings.
    ///   - onScrape: registers a closure to call before metrics are read.
    ///   - onServing: called once, when the service serves its partitions.
    public init(
        configuration: ServerConfiguration, connection: NATSConnection, logger: Logger,
        onScrape: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { _ in },
        onServing: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        self.connection = connection
        var settings = connection.settings
        settings.name += " requests"
        bulkConnection = NATSConnection(settings, logger: logger)
        self.logger = logger
        self.onScrape = onScrape
        self.onServing = onServing
        readiness = Readiness(
            connections: [connection, bulkConnection], configuration: configuration, probe: probe)
    }

    /// - Throws: `SettingsConflict` if another daemon on the root has incompatible settings; `PayloadLimitTooLow` if the
    ///   NATS server takes too small messages; `JournalError` if the root's streams are of another number of partitions.
    public func run() async throws {
        let sink = replySink(ReplySender(connection: bulkConnection, logger: logger).sink)
        let pool = WorkerPool(configuration, connection, bulkConnection, replies: sink, probe: probe, logger)
        let members = MemberChannel(root: configuration.root, connection: connection)
        if let settings = configuration.journal {
            try await runDurable(pool, members, settings, replies: sink)
        } else {
            try await runVolatile(pool, members, replies: sink)
        }
    }

    /// Without a journal: rooms are fed from core NATS and do not survive the process.
    private func runVolatile(
        _ pool: WorkerPool, _ members: MemberChannel, replies sink: ReplySink
    ) async throws {
        let journal = VolatileJournal(
            root: configuration.root, partitions: configuration.partitions, logger: logger)
        onScrape(pool.loadMetrics(misaddressed: { journal.misaddressedCount }).report)
        guard try await connectAndCheck(members) != nil else { return await drain() }
        let threads = pool.start(journal, keeper: nil)
        defer { threads.watching.cancel() }
        for partition in 0..<configuration.partitions {
            pool.workers.postToAll(
                .partition(.open(partition, prefix: journal.incarnationPrefix, stored: [:], kept: nil)))
            pool.workers.postToAll(.partition(.caughtUp(partition)))
        }
        try journal.read(from: connection, now: MonotonicClock.now) { [workers = pool.workers] record in
            workers[record.room].deliver(record, mustNotBeLost: false)
        }
        let (commands, commanding, revoking) = try listen(pool, journal: nil, library: nil, replies: sink)
        defer { revoking.cancel() }
        let incompatiblePeers = IncompatiblePeerLog(root: configuration.root, metrics: pool.metrics, logger: logger)
        let heartbeat = StandaloneHeartbeat(
            configuration: configuration, members: members, incompatiblePeers: incompatiblePeers)
        let beating = Task { await heartbeat.run() }
        try? await connection.flush()
        try? await bulkConnection.flush()
        readiness.set(.serving)
        onServing()
        logger.info("serving", metadata: ["root": "\(configuration.root)"])
        try? await gracefulShutdown()
        readiness.set(.stopping)
        logger.info("draining")
        beating.cancel()
        await end(commands, commanding)
        // Messages still buffered by libnats and the server exist nowhere else: they go to the workers before these stop.
        await connection.endSubscriptions()
        await bulkConnection.endSubscriptions()
        await pool.stop(threads)
    }

    /// With a JetStream journal; other daemons may share the partitions.
    private func runDurable(
        _ pool: WorkerPool, _ members: MemberChannel, _ settings: JournalSettings, replies sink: ReplySink
    ) async throws {
        let journal = JetStreamJournal(
            root: configuration.root, partitions: configuration.partitions, settings: settings,
            connection: connection, logger: logger)
        onScrape(
            pool.loadMetrics(misaddressed: { journal.misaddressedCount }, stalls: { journal.stallCounts }).report)
        guard let peers = try await connectAndCheck(members) else { return await drain() }
        let store = CheckpointStore(
            root: configuration.root, partitions: configuration.partitions, connection: bulkConnection,
            timeout: settings.timeout, logger: logger)
        let keeper = CheckpointKeeper(
            store: store, journal: journal, connection: connection, configuration: configuration,
            assetUse: pool.assetUse, metrics: pool.metrics, logger: logger)
        let opener = PartitionOpener(
            journal: journal, keeper: keeper, workers: pool.workers,
            rewinds: RewindRepair(
                journal: journal, store: store, audit: auditLog(settings), metrics: pool.metrics, logger: logger),
            trimmer: LogTrimmer(
                keeper, journal: journal, interval: configuration.upkeepInterval * 2, logger: logger),
            logger: logger)
        let ownership = Ownership(
            configuration: configuration, members: members, peers: peers, partitions: opener,
            workers: pool.workers, metrics: pool.metrics, readiness: readiness, logger: logger
        ) { [onServing, logger, configuration] in
            onServing()
            logger.info(
                "serving", metadata: ["root": "\(configuration.root)", "member": "\(configuration.name)"])
        }
        let threads = pool.start(journal, keeper: keeper) { ownership.report($0) }
        defer { threads.watching.cancel() }
        let assets = assetLibrary(settings, pool.metrics)
        pool.serve(
            assets,
            lessonsOf: JetStreamJournal(
                root: configuration.root, partitions: configuration.partitions, settings: settings,
                connection: bulkConnection, logger: logger))
        let keeping = Task { await assets.run(pool.assetUse) }
        let (commands, commanding, revoking) = try listen(pool, journal: journal, library: assets, replies: sink)
        defer { revoking.cancel() }
        let outcome = await serve(ownership, opener)
        readiness.set(.stopping)
        logger.info("draining")
        await end(commands, commanding)
        if case .success(let owning?) = outcome {
            await ownership.leave(within: Self.drainTimeout)
            owning.cancel()
        }
        keeping.cancel()
        keeper.stop()
        await pool.stop(threads)
        _ = try outcome.get()
    }

    /// Serves partitions until shutdown begins.
    /// - Returns: the task that still does; nil if shutdown began first; `.otherPartitions`.
    private func serve(
        _ ownership: Ownership, _ opener: PartitionOpener
    ) async -> Result<Task<Void, any Error>?, JournalError> {
        let check = await cancelWhenGracefulShutdown { await opener.checkPartitions() }
        guard case .success? = check else { return check?.map { nil } ?? .success(nil) }
        let owning = Task { try await ownership.run() }
        try? await gracefulShutdown()
        return .success(owning)
    }

    private func assetLibrary(_ settings: JournalSettings, _ metrics: ServerMetrics) -> AssetLibrary {
        if !AssetOpener.restrictsFiles {
            logger.warning("the kernel has no Landlock: a malicious PDF could read this user's files")
        }
        // Files that are uploaded, pages that are drawn on boards, and one that is shown alone have places of their own.
        var bounds = AssetOpener.Bounds()
        bounds.waiting = UploadReceiver.parallel + PageImageCache.parallel + 1
        return AssetLibrary(
            store: AssetStore(
                root: configuration.root, settings: settings, maxBytes: configuration.assetBytes,
                roomBytes: configuration.roomAssetBytes, connection: bulkConnection, logger: logger),
            opener: AssetOpener(bounds: bounds), sweepInterval: configuration.assetUseInterval, metrics: metrics,
            logger: logger)
    }

    private func auditLog(_ settings: JournalSettings) -> AuditLog {
        AuditLog(
            root: configuration.root, settings: settings, maxBytes: configuration.auditBytes,
            maxAge: configuration.auditAge, connection: bulkConnection, logger: logger)
    }

    /// Takes clocks, requests, files, revocations and commands.
    /// - Parameters:
    ///   - journal: has the list of revocations and the audit log beside it; nil where nothing is kept.
    ///   - library: nil where nothing is kept.
    private func listen(
        _ pool: WorkerPool, journal: JetStreamJournal?, library: AssetLibrary?, replies sink: ReplySink
    ) throws(NATSError) -> (commands: CommandReceiver, commanding: Task<Void, Never>, revoking: Task<Void, Never>) {
        try pool.listen()
        try pool.forgetErasedRooms(library)
        try UploadReceiver(configuration, connection: bulkConnection, library: library, metrics: pool.metrics).listen()
        let revocations = RevocationRegister(
            root: configuration.root, connection: bulkConnection,
            store: configuration.journal.map { settings in
                RevocationStore(
                    root: configuration.root, settings: settings, connection: bulkConnection, logger: logger)
            }, logger: logger)
        try revocations.listen()
        let revoking = Task {
            // Their stream shows that all logs have existed.
            await journal?.waitUntilProvisioned()
            await revocations.run()
        }
        let executor = CommandExecutor(
            root: configuration.root, partitions: configuration.partitions, journal: journal,
            connection: bulkConnection, revocations: revocations,
            erasure: configuration.journal.map { settings in
                RoomErasure(configuration, settings: settings, connection: bulkConnection, logger: logger)
            })
        let commands = CommandReceiver(
            root: configuration.root, connection: bulkConnection, executor: executor,
            audit: configuration.journal.map(auditLog), sink: sink, metrics: pool.metrics, logger: logger)
        try commands.listen()
        return (commands, Task { await commands.run() }, revoking)
    }

    /// Refuses the commands that wait, and finishes those being carried out, as far as there is time.
    private func end(_ commands: CommandReceiver, _ running: Task<Void, Never>) async {
        commands.close()
        let timeout = Task {
            guard (try? await Task.sleep(for: Self.drainTimeout)) != nil else { return }
            running.cancel()
        }
        await running.value
        timeout.cancel()
    }

    /// Bound on the handover to a successor, and again on saving, at shutdown.
    private static let drainTimeout = Duration.seconds(10)

    /// Connects, and checks the NATS server's limit and the settings of the other daemons.
    /// - Returns: nil if shutdown began first.
    private func connectAndCheck(_ members: MemberChannel) async throws -> StartupCheck.Peers? {
        do {
            return try await cancelWhenGracefulShutdown {
                await connect()
                let peers = try await StartupCheck(configuration: configuration, members: members).run()
                watchPayloadLimit()
                return peers
            }
        } catch {
            await drain()
            throw error
        }
    }

    /// Logs each reconnect to a server that takes too small messages.
    private func watchPayloadLimit() {
        for connection in [connection, bulkConnection] {
            connection.onStateChange { [weak connection, configuration, logger] _ in
                guard let fault = connection.flatMap({ PayloadLimitTooLow($0, configuration) }) else { return }
                logger.error("\(fault)")
            }
        }
    }

    private func drain() async {
        await connection.drain()
        await bulkConnection.drain()
    }

    /// Retries until connected: the daemon may be started before its NATS server.
    private func connect() async {
        await withDiscardingTaskGroup { group in
            for connection in [connection, bulkConnection] {
                group.addTask {
                    do throws(NATSError) {
                        try await connection.connect(keepTrying: true)
                    } catch .cancelled {
                        // Shutdown began.
                    } catch {
                        logger.warning(
                            "no NATS server yet, retrying",
                            metadata: [
                                "error": "\(error)", "servers": "\(connection.settings.place)",
                                "hint": "start nats-server -js there, or set nats.url to embedded",
                            ])
                    }
                }
            }
        }
    }
}

/// Whether this process's server is serving, for readiness probes. Safe from any thread.
public final class Readiness: Sendable {
    enum Phase: Sendable {
        case starting
        /// This daemon's partitions are being opened.
        case opening
        case serving
        /// Streams of partitions that this daemon serves are gone.
        case streamsLost
        case stopping
    }

    private let connections: [NATSConnection]
    private let configuration: ServerConfiguration
    private let probe: WorkerProbe
    private let phase = Locked(Phase.starting)

    /// - Parameter connections: the server's.
    init(connections: [NATSConnection], configuration: ServerConfiguration, probe: WorkerProbe) {
        self.connections = connections
        self.configuration = configuration
        self.probe = probe
    }

    /// How long the slowest thread of rooms has not answered: above a few seconds something is wrong with it.
    public var stall: Duration { probe.stall(at: MonotonicClock.now()) }

    /// A thread that has not answered for so long makes the service not ready.
    private static let longestStall = Duration.seconds(10)

    /// Why the server is not serving, one sentence; nil if it is.
    public var obstacle: String? {
        switch phase.withLock({ $0 }) {
        case .stopping: "The service is shutting down."
        case _ where connections.contains { $0.state != .connected }: "The service has no connection to NATS."
        case _ where connections.contains { PayloadLimitTooLow($0, configuration) != nil }:
            "The max_payload of the NATS server is below the \(configuration.neededPayload) bytes that the service needs."
        case .starting: "The service is starting."
        case .opening: "The service is opening its partitions."
        case .streamsLost: "Streams of the journal are gone: nothing is acknowledged or saved."
        case .serving where stall > Self.longestStall:
            "A thread of rooms has not answered for \(stall.components.seconds) seconds."
        case .serving: nil
        }
    }

    /// Nothing follows ``Phase/stopping``.
    func set(_ new: Phase) {
        phase.withLock { if $0 != .stopping { $0 = new } }
    }
}
