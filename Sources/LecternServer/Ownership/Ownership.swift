import Hosting
import Journal
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Decides together with the other daemons which partitions this one works on, opens and closes them.
actor Ownership {
    private let configuration: ServerConfiguration
    private let connection: NATSConnection
    private let partitions: PartitionOpener
    private let workers: RoomWorkers
    private let metrics: ServerMetrics
    private let logger: Logger
    private let onServing: @Sendable () -> Void
    private let events: AsyncStream<Event>
    private nonisolated let inlet: AsyncStream<Event>.Continuation

    private var membership: Membership
    private var works: [Int: PartitionWork] = [:]
    private var duties = Duties()
    private var hasServed = false
    private var alarm: Task<Void, Never>?
    private var isHandingOver = false
    private var whenDone: [CheckedContinuation<Void, Never>] = []
    private var namesake = Namesake()

    private enum Event: Sendable {
        case heard(Announcement, run: String?)
        case progress(PartitionProgress)
        case rewound(Int)
    }

    /// Beyond so many events that wait, the oldest are dropped: what they said is said again within a second.
    private static let eventBound = 16_384
    private static let positionInterval = Duration.seconds(1)

    init(
        configuration: ServerConfiguration, connection: NATSConnection, partitions: PartitionOpener,
        workers: RoomWorkers, metrics: ServerMetrics, logger: Logger, onServing: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.connection = connection
        self.partitions = partitions
        self.workers = workers
        self.metrics = metrics
        self.logger = logger
        self.onServing = onServing
        (events, inlet) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.eventBound))
        membership = Membership(
            name: configuration.name, partitions: configuration.partitions, at: MonotonicClock.now())
    }

    /// What a worker has done with its share of a partition. Any thread.
    nonisolated func report(_ progress: PartitionProgress) {
        inlet.yield(.progress(progress))
    }

    /// Runs until the task is cancelled.
    func run() async throws(NATSError) {
        _ = try connection.subscribe("\(configuration.root).members.*") { [inlet] message in
            if let announcement = Announcement(decoding: message.copyPayload()) {
                inlet.yield(.heard(announcement, run: message.header(Namesake.header)))
            }
        }
        let positions = Task { await reportPositions() }
        let watch = StreamWatch(journal: partitions.journal, logger: logger) { [inlet] in inlet.yield(.rewound($0)) }
        let streams = Task { await watch.run { openPartitions } }
        defer {
            positions.cancel()
            streams.cancel()
        }
        step()
        for await event in events {
            switch event {
            case .heard(let announcement, let run): hear(announcement, run: run)
            case .progress(.ready(let partition)): workerIsReady(with: partition)
            case .progress(.closed(let partition, let isWhole)): await workerHasClosed(partition, isWhole: isWhole)
            case .rewound(let partition): close(partition, discarding: true)
            }
            step()
        }
        alarm?.cancel()
    }

    /// Hands over to the others what this daemon works on, saves the rest, and ends.
    /// - Parameter patience: for either.
    func leave(within patience: Duration) async {
        membership.leave(at: MonotonicClock.now())
        step()
        if membership.hasSuccessor {
            logger.info("handing over", metadata: ["partitions": "\(works.count)"])
            isHandingOver = true
            await waitUntilDone(patience)
            isHandingOver = false
        }
        for partition in works.keys { close(partition) }
        await waitUntilDone(patience)
        if !works.isEmpty {
            logger.error(
                "not everything could be saved; the next daemon makes it from the journal",
                metadata: ["partitions": "\(works.count)"])
        }
        for work in works.values { work.close() }
    }

    private func hear(_ announcement: Announcement, run: String?) {
        if announcement.member == configuration.name, namesake.isNoticed(run: run) {
            logger.error(
                "another daemon has this one's name: both work on everything; give each a node.id of its own",
                metadata: ["member": "\(configuration.name)"])
        }
        if membership.receive(announcement, at: MonotonicClock.now()) {
            logger.info("another daemon is there", metadata: ["member": "\(announcement.member)"])
        }
    }

    /// Does what is due, and sets the alarm for what comes next.
    private func step() {
        let before = membership.members
        for action in membership.advance(to: MonotonicClock.now()) {
            switch action {
            case .announce(let announcement): announce(announcement)
            case .open(let partition): open(partition)
            case .close(let partition): close(partition)
            }
        }
        for member in Set(before).subtracting(membership.members) {
            logger.warning("a daemon is gone", metadata: ["member": "\(member)"])
        }
        tellDuties()
        // All of them may be ending at the same time: then nobody takes over.
        if works.isEmpty || isHandingOver && !membership.hasSuccessor {
            for continuation in whenDone { continuation.resume() }
            whenDone = []
        }
        alarm?.cancel()
        let pause = max(.milliseconds(1), membership.nextWake - MonotonicClock.now())
        alarm = Task {
            try? await Task.sleep(for: pause)
            if !Task.isCancelled { step() }
        }
    }

    private func announce(_ announcement: Announcement) {
        // While there is no connection nobody can hear it.
        try? connection.publish(
            announcement.encoded(), to: "\(configuration.root).members.\(announcement.member)",
            headers: [Namesake.header: namesake.run])
    }

    private func tellDuties() {
        let now = Duties(serving: membership.serving, servedByOthers: membership.servedByOthers)
        metrics.setPartitions(serving: now.serving.count, members: membership.members.count)
        if now != duties {
            duties = now
            workers.postToAll(.partition(.duties(now)))
        }
        if !hasServed, membership.isSettled {
            hasServed = true
            onServing()
        }
    }

    // MARK: Partitions

    private func open(_ partition: Int) {
        works[partition] = partitions.open(partition) { [inlet] in inlet.yield(.rewound(partition)) }
    }

    private func workerIsReady(with partition: Int) {
        guard let work = works[partition], work.countReady() == workers.all.count else { return }
        membership.opened(partition, at: MonotonicClock.now())
        logger.info("partition open", metadata: work.figures)
    }

    private func close(_ partition: Int, discarding: Bool = false) {
        guard let work = works[partition], !work.isClosing else { return }
        work.close()
        workers.postToAll(.partition(.close(partition, discarding: discarding)))
    }

    private func workerHasClosed(_ partition: Int, isWhole: Bool) async {
        guard let work = works[partition], work.countClosed(isWhole: isWhole) == workers.all.count else { return }
        await partitions.finish(partition, covered: work.covered)
        works[partition] = nil
        membership.closed(partition, at: MonotonicClock.now())
        logger.info("partition closed", metadata: ["partition": "\(partition)"])
    }

    private var openPartitions: [Int] {
        works.filter { $1.isReady && !$1.isClosing }.keys.sorted()
    }

    /// Every second: how far the checkpoints of each partition have come.
    private func reportPositions() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.positionInterval)
            for (partition, work) in works where work.isReady && !work.isClosing {
                partitions.askCoverage(of: partition, work)
            }
        }
    }

    private func waitUntilDone(_ patience: Duration) async {
        guard !works.isEmpty else { return }
        let deadline = Task {
            try? await Task.sleep(for: patience)
            for continuation in whenDone { continuation.resume() }
            whenDone = []
        }
        await withCheckedContinuation { whenDone.append($0) }
        deadline.cancel()
    }
}
