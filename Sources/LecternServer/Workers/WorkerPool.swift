import Dispatch
import Foundation
import Hosting
import Journal
import Locking
import Logging
import NATSClient
import StrokeWire
import Synchronization
import Whiteboard

/// The worker threads of a server, with the queues and metrics that they share.
struct WorkerPool: Sendable {
    let workers: RoomWorkers
    let metrics = ServerMetrics()
    let assetUse: AssetUse
    private let configuration: ServerConfiguration
    private let connection: NATSConnection
    private let bulkConnection: NATSConnection
    private let requests: RequestHandler
    private let listing: RoomListing
    private let probe: WorkerProbe
    private let logger: Logger

    /// - Parameters:
    ///   - connection: for operations and clocks.
    ///   - bulkConnection: for requests; that of `sink`.
    init(
        _ configuration: ServerConfiguration, _ connection: NATSConnection, _ bulkConnection: NATSConnection,
        replies sink: ReplySink, probe: WorkerProbe, _ logger: Logger
    ) {
        self.probe = probe
        self.configuration = configuration
        self.connection = connection
        self.bulkConnection = bulkConnection
        self.logger = logger
        let count =
            configuration.workers > 0 ? configuration.workers : max(1, ProcessInfo.processInfo.activeProcessorCount)
        assetUse = AssetUse(interval: configuration.assetUseInterval)
        workers = RoomWorkers(count: count, capacity: configuration.mailboxBytes)
        let joins = JoinQueue(
            configuration, budget: ReplyBudget(requests: configuration.replies, bytes: configuration.replyBytes),
            sink: sink)
        let renders = RenderQueue(
            configuration, budget: ReplyBudget(requests: configuration.pictures, bytes: configuration.replyBytes),
            sink: sink, metrics: metrics)
        requests = RequestHandler(
            configuration: configuration, sink: sink, joins: joins,
            infos: ReplyQueue(label: "lectern.infos", limit: configuration.replies, sink: sink),
            renders: renders, replays: ReplayQueue(configuration, sink: sink, logger: logger),
            assets: AssetPictures(requests: configuration.pictures, sink: sink, metrics: metrics), metrics: metrics)
        listing = RoomListing(
            service: configuration.name, partitions: configuration.partitions, sink: sink
        ) { [workers] found in
            workers.postToAll(.scan(RoomScan(workers: workers.all.count, whenDone: found), remaining: nil))
        }
    }

    struct Threads {
        /// For each worker a stream that finishes when its thread has ended.
        fileprivate let ended: [AsyncStream<Never>]
        /// Asks the workers whether they answer, and about their rooms. To be cancelled also where the service ends by an error.
        let watching: Task<Void, Never>
    }

    func start(
        _ journal: any DecisionJournal, keeper: CheckpointKeeper?,
        onPartition: @escaping @Sendable (PartitionProgress) -> Void = { _ in }
    ) -> Threads {
        let outputRetry = OutputRetry(connection, workers)
        workers.observeDelivery(of: connection)
        let storedRooms = StoredRoomCounts(limit: configuration.storedRooms, partitions: configuration.partitions)
        connection.onStateChange { [workers] state in
            workers.postToAll(.output(isOpen: state == .connected))
        }
        let ended = workers.all.enumerated().map { number, worker in
            worker.start(name: "lectern-room-\(number)") { [self] in
                let fanout = Fanout(
                    connection: connection, maxBytes: configuration.fanoutBytes, cohorts: configuration.room.cohorts,
                    logger: logger, retry: outputRetry.retrySoon)
                let output = WorkerOutput(
                    configuration: configuration, connection: connection, fanout: fanout, journal: journal,
                    keeper: keeper, assetUse: assetUse, metrics: metrics, storedRooms: storedRooms, worker: worker,
                    onPartition: onPartition)
                return RoomEventLoop(
                    configuration: configuration, host: configuration.host(worker: number, of: workers.all.count),
                    output: output, requests: requests,
                    isOutputOpen: connection.state == .connected)
            }
        }
        let watching = Task { [probe, workers] in
            async let probing: Void = probe.run(workers.all)
            await RoomSurveys().run(workers.all)
            await probing
        }
        return Threads(ended: ended, watching: watching)
    }

    /// Subscribes to clocks and requests.
    func listen() throws(NATSError) {
        let router = SubjectRouter(
            configuration: configuration, workers: workers, listing: listing, sink: requests.sink, metrics: metrics)
        try router.subscribeToClocks(on: connection)
        try router.subscribeToRequests(on: bulkConnection)
    }

    /// Answers requests for pictures of assets and for recorded lessons, and draws images on pictures of boards.
    /// - Parameter journal: on the connection for requests.
    func serve(_ assets: AssetLibrary, lessonsOf journal: JetStreamJournal) {
        requests.assets.start(with: assets, assetUse)
        requests.renders.drawImages(from: PageImageCache(assets, byteLimit: configuration.canvasBytes / 4))
        requests.replays.start(reading: journal)
    }

    /// Drops the pictures and lessons of rooms when they are erased.
    /// - Parameter library: nil where the service keeps no files.
    func forgetErasedRooms(_ library: AssetLibrary?) throws(NATSError) {
        let subject = ErasedRoom.subject(root: configuration.root)
        _ = try bulkConnection.subscribe(subject) { [requests] message in
            guard let erased = try? ErasedRoom(decoding: message.copyPayload()) else { return }
            requests.renders.forget(erased.room, erased.assets)
            requests.replays.forget(erased.room)
            library?.forget(erased.assets)
        }
    }

    func loadMetrics(
        misaddressed: @escaping @Sendable () -> Int,
        stalls: @escaping @Sendable () -> [DeliveryStall: Int] = { [:] }
    ) -> LoadMetrics {
        LoadMetrics(
            workers: workers.all, canvasBytes: configuration.canvasBytes,
            canvasUsage: { [renders = requests.renders] in renders.usage }, misaddressedCount: misaddressed,
            stallCounts: stalls)
    }

    /// Handles all messages that have arrived, finishes replies being made, and closes the connections.
    func stop(_ threads: Threads) async {
        threads.watching.cancel()
        workers.postToAll(.stop)
        for ended in threads.ended { for await _ in ended {} }
        requests.close()
        listing.close()
        await connection.drain()
        await bulkConnection.drain()
    }
}

/// Reopens the workers' output after the connection has refused a message without being lost, for example because its
/// buffer was full.
final class OutputRetry: Sendable {
    private static let pause = DispatchTimeInterval.milliseconds(10)

    private let connection: NATSConnection
    private let workers: RoomWorkers
    private let isAsked = Atomic(false)

    init(_ connection: NATSConnection, _ workers: RoomWorkers) {
        self.connection = connection
        self.workers = workers
    }

    /// Reopens the output once for all calls within the pause. Any thread.
    func retrySoon() {
        guard !isAsked.exchange(true, ordering: .acquiringAndReleasing) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.pause) { [self] in
            isAsked.store(false, ordering: .releasing)
            // A connection lost meanwhile reopens the output when it is back.
            if connection.state == .connected { workers.postToAll(.output(isOpen: true)) }
        }
    }
}

/// The workers, with the rooms divided among them.
struct RoomWorkers: Sendable {
    let all: [RoomWorker]
    private let delivery = Locked(DeliveryLoad())

    init(count: Int, capacity: Int) {
        all = (0..<count).map { _ in RoomWorker(capacity: capacity) }
    }

    /// The worker that a room is pinned to, by a hash of its name. Not the hash of partitions: the rooms of one partition
    /// have to spread over all workers.
    subscript(room: RoomID) -> RoomWorker { all[position(of: room)] }

    func position(of room: RoomID) -> Int { Int(FNV1a64.mixed(room.text.utf8) % UInt64(all.count)) }

    func postToAll(_ item: InboundItem) {
        for worker in all { worker.post(item) }
    }

    /// Has the connection's thread hand over, or handle, what it delivers at once.
    func observeDelivery(of connection: NATSConnection) {
        connection.onDelivery(
            begin: { [all] in for worker in all { worker.openRound() } },
            end: { [all, delivery] in
                let mayHandle = all.count == 1 || delivery.withLock { $0.hasTime(at: MonotonicClock.now()) }
                let duration = all.reduce(Duration.zero) { $0 + $1.closeRound(mayHandle: mayHandle) }
                if all.count > 1 { delivery.withLock { $0.add(duration) } }
            })
    }
}

/// How much of its time the connection's thread spends in rooms. Where that is most of it, and there are several workers,
/// they share the work instead.
private struct DeliveryLoad {
    private var began = Instant.distantPast
    private var spent = Duration.zero
    private var isBusyUntil = Instant.distantPast

    private static let span = Duration.milliseconds(10)
    private static let busy = Duration.milliseconds(6)
    private static let rest = Duration.milliseconds(200)

    mutating func hasTime(at now: Instant) -> Bool {
        if now - began >= Self.span {
            if spent >= Self.busy { isBusyUntil = now + Self.rest }
            spent = .zero
            began = now
        }
        return now >= isBusyUntil
    }

    mutating func add(_ duration: Duration) { spent += duration }
}
