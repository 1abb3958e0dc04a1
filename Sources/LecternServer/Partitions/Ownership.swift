import Hosting
import Journal
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Agrees with the other daemons on the partitions that this one serves; opens and closes them.
actor Ownership {
    private let configuration: ServerConfiguration
    private let members: MemberChannel
    private let peers: StartupCheck.Peers
    private let partitions: PartitionOpener
    private let workers: RoomWorkers
    private let metrics: ServerMetrics
    private let readiness: Readiness
    private let incompatiblePeers: IncompatiblePeerLog
    private let logger: Logger
    private let onServing: @Sendable () -> Void
    private nonisolated let inbox = OwnershipInbox()

    private var membership: Membership
    private var works: [Int: PartitionWork] = [:]
    /// Partitions that are opened again since their logs were found to have lost their ends.
    private var rewound: Set<Int> = []
    /// The partitions whose streams are gone: nothing of them is acknowledged or saved.
    private var lost: Set<Int> = []
    private var assignment = ServingAssignment()
    private var hasServed = false
    private var hasEnded = false
    private var alarm: Task<Void, Never>?
    private var isHandingOver = false
    private var whenDone: [CheckedContinuation<Void, Never>] = []
    private var hasReportedDuplicateName = false

    private static let renewal = Duration.milliseconds(500)

    /// - Parameter peers: the daemons found at startup.
    init(
        configuration: ServerConfiguration, members: MemberChannel, peers: StartupCheck.Peers,
        partitions: PartitionOpener, workers: RoomWorkers, metrics: ServerMetrics, readiness: Readiness,
        logger: Logger, onServing: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.members = members
        self.peers = peers
        self.partitions = partitions
        self.workers = workers
        self.metrics = metrics
        self.readiness = readiness
        incompatiblePeers = IncompatiblePeerLog(root: configuration.root, metrics: metrics, logger: logger)
        self.logger = logger
        self.onServing = onServing
        membership = Membership(
            name: configuration.name, partitions: configuration.partitions,
            journal: configuration.commonSettings.journal, at: peers.since)
    }

    /// Takes a worker's progress. Safe from any thread.
    nonisolated func report(_ progress: PartitionProgress) {
        inbox.put(.progress(progress))
    }

    /// Runs until the task is cancelled.
    func run() async throws(NATSError) {
        _ = try members.listen { [inbox] message in inbox.receive(message) }
        for message in peers.messages { receive(message) }
        step()
        let watch = StreamWatch(
            journal: partitions.journal, recreates: configuration.journal?.recreatesStreams ?? false, logger: logger,
            onRenewed: { [inbox] in inbox.put(.lacks($0, .records)) }, onMissing: { [inbox] in inbox.put(.lost($0)) })
        let damage = DamageWatch(
            journal: partitions.journal, logger: logger, onDamaged: { [inbox] in inbox.put(.lacks($0, .end)) })
        let survey = StreamSurvey(journal: partitions.journal, interval: configuration.upkeepInterval * 5)
        let tasks: [Task<Void, Never>] = [
            Task { await reportPositions() },
            Task { await watch.run { openPartitions } },
            Task { await damage.run { openPartitions } },
            Task {
                await survey.run {
                    openPartitions
                } position: {
                    works[$0]?.position
                }
            },
            Task {
                for await message in inbox.messages {
                    receive(message)
                    step()
                }
            },
        ]
        defer { for task in tasks { task.cancel() } }
        for await event in inbox.events {
            switch event {
            case .progress(.ready(let partition)): workerIsReady(with: partition)
            case .progress(.closed(let partition, let isWhole)): workerHasClosed(partition, isWhole: isWhole)
            case .lacks(let partition, .records): close(partition, saving: .nothing)
            case .lacks(let partition, .end):
                rewound.insert(partition)
                // Checkpoints lie on the same disk.
                close(partition, saving: .everything)
            case .lost(let partitions): lost = partitions
            }
            step()
        }
        hasEnded = true
        alarm?.cancel()
    }

    /// Hands the partitions over to other daemons and saves the rest.
    /// - Parameter timeout: bound on each of the two.
    func leave(within timeout: Duration) async {
        membership.leave(at: BootClock.now())
        step()
        if membership.hasSuccessor {
            logger.info("handing over", metadata: ["partitions": "\(works.count)"])
            isHandingOver = true
            await waitUntilDone(timeout)
            isHandingOver = false
        }
        for partition in works.keys { close(partition) }
        await waitUntilDone(timeout)
        if !works.isEmpty {
            logger.error(
                "not all rooms could be saved; the next daemon rebuilds them from the journal",
                metadata: ["partitions": "\(works.count)"])
        }
        for work in works.values { work.close() }
    }

    private func receive(_ message: PeerMessage) {
        let member = message.announcement.member
        if member == configuration.name, message.isForeign, !hasReportedDuplicateName {
            hasReportedDuplicateName = true
            logger.error(
                "another daemon has this one's name: both serve all partitions; give each its own node.id",
                metadata: ["member": "\(member)"])
        }
        switch membership.receive(message.announcement, at: BootClock.now()) {
        case .known: break
        case .newcomer: logger.info("another daemon has joined", metadata: ["member": "\(member)"])
        case .incompatible(let conflicts): incompatiblePeers.report(member, conflicts)
        }
    }

    /// Carries out the membership's actions that are due, and schedules the next call.
    private func step() {
        // A task that notes a partition's coverage may call this after the end.
        guard !hasEnded else { return }
        let before = membership.members
        for action in membership.advance(to: BootClock.now()) {
            switch action {
            case .announce(let announcement): members.announce(announcement)
            case .open(let partition): open(partition)
            case .close(let partition): close(partition)
            case .abandon(let partition):
                logger.warning(
                    "the daemon was suspended; reopening the partition", metadata: ["partition": "\(partition)"])
                close(partition, saving: .nothing)
            }
        }
        for member in Set(before).subtracting(membership.members) {
            logger.warning("a daemon has left or failed", metadata: ["member": "\(member)"])
        }
        updateAssignment()
        // If all daemons are ending, none takes over.
        if works.isEmpty || isHandingOver && !membership.hasSuccessor {
            for continuation in whenDone { continuation.resume() }
            whenDone = []
        }
        alarm?.cancel()
        let pause = max(.milliseconds(1), membership.nextWake - BootClock.now())
        alarm = Task {
            try? await Task.sleep(for: pause)
            if !Task.isCancelled { step() }
        }
    }

    private func open(_ partition: Int) {
        let hasLostEnd = rewound.remove(partition) != nil
        works[partition] = partitions.open(partition, hasLostEnd: hasLostEnd) { [inbox] in
            inbox.put(.lacks(partition, $0))
        }
    }

    private func workerIsReady(with partition: Int) {
        guard let work = works[partition], work.countReady() else { return }
        membership.opened(partition, at: BootClock.now())
        metrics.record(recovery: work.recovery.duration, records: work.recovery.records)
        logger.info("partition open", metadata: work.figures)
    }

    private func close(_ partition: Int, saving: ClosingSave = .unsaved) {
        guard let work = works[partition], !work.isClosing else { return }
        work.close()
        workers.postToAll(.partition(.close(partition, saving: saving)))
    }

    private func workerHasClosed(_ partition: Int, isWhole: Bool) {
        guard let work = works[partition], work.countClosed(isWhole: isWhole) else { return }
        // In a task: without a JetStream leader it takes seconds, and messages must be handled meanwhile.
        Task {
            await partitions.finish(partition, covered: work.covered)
            works[partition] = nil
            membership.closed(partition, at: BootClock.now())
            logger.info(
                "partition closed", metadata: ["partition": "\(partition)", "all_saved": "\(work.covered != nil)"])
            step()
        }
    }

    private var openPartitions: [Int] {
        works.filter { $1.isReady && !$1.isClosing }.keys.sorted()
    }

    /// Asks again and again how far the checkpoints of each partition have come.
    private func reportPositions() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: configuration.upkeepInterval)
            for (partition, work) in works where work.isReady && !work.isClosing {
                partitions.askCoverage(of: partition, work)
            }
        }
    }

    private func updateAssignment() {
        let now = membership.assignment
        metrics.setPartitions(
            serving: now.serving.subtracting(lost).count, opening: works.values.count { !$0.isReady && !$0.isClosing },
            members: membership.members.count)
        // Renewed before it expires.
        if !now.hasSamePartitions(as: assignment) || now.validUntil - assignment.validUntil >= Self.renewal {
            assignment = now
            workers.postToAll(.partition(.assignment(now)))
        }
        let isWhole = lost.isDisjoint(with: now.serving)
        readiness.set(!isWhole ? .streamsLost : membership.isSettled ? .serving : .opening)
        if !hasServed, membership.isSettled {
            hasServed = true
            onServing()
        }
    }

    private func waitUntilDone(_ timeout: Duration) async {
        guard !works.isEmpty else { return }
        let deadline = Task {
            try? await Task.sleep(for: timeout)
            // Cancelled, also when the sleep had just ended: it must not end the wait of somebody else.
            guard !Task.isCancelled else { return }
            for continuation in whenDone { continuation.resume() }
            whenDone = []
        }
        await withCheckedContinuation { whenDone.append($0) }
        deadline.cancel()
    }
}

/// The inputs of ``Ownership``: messages of other daemons, and events of this daemon's partitions. Any thread puts; one
/// task takes from each stream.
struct OwnershipInbox: Sendable {
    enum Event: Sendable {
        case progress(PartitionProgress)
        case lacks(Int, JournalLoss)
        /// The partitions whose streams are gone.
        case lost(Set<Int>)
    }

    /// Messages that may wait; beyond, the oldest are dropped: they are repeated every second.
    static let messageBound = 16_384

    let messages: AsyncStream<PeerMessage>
    /// Never dropped, since events are not repeated; bounded by the number of partitions and workers.
    let events: AsyncStream<Event>
    private let messageInlet: AsyncStream<PeerMessage>.Continuation
    private let eventInlet: AsyncStream<Event>.Continuation

    init() {
        (messages, messageInlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.messageBound))
        (events, eventInlet) = AsyncStream.makeStream()
    }

    func receive(_ message: PeerMessage) { messageInlet.yield(message) }

    func put(_ event: Event) { eventInlet.yield(event) }
}
