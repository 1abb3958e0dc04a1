import Hosting
import Journal
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Decides together with the other daemons which partitions this one works on, opens and closes them.
actor Ownership {
    private let configuration: ServerConfiguration
    private let members: MemberChannel
    private let others: Admission.Others
    let partitions: PartitionOpener
    let workers: RoomWorkers
    private let metrics: ServerMetrics
    private let strangers: StrangerLog
    let logger: Logger
    private let onServing: @Sendable () -> Void
    private let events: AsyncStream<Event>
    nonisolated let inlet: AsyncStream<Event>.Continuation

    var membership: Membership
    var works: [Int: PartitionWork] = [:]
    private var duties = Duties()
    private var hasServed = false
    private var hasEnded = false
    private var alarm: Task<Void, Never>?
    private var isHandingOver = false
    private var whenDone: [CheckedContinuation<Void, Never>] = []
    private var knowsNamesake = false

    enum Event: Sendable {
        case heard(MemberChannel.Word)
        case progress(PartitionProgress)
        case rewound(Int)
    }

    /// Beyond so many events that wait, the oldest are dropped: what they said is said again within a second.
    private static let eventBound = 16_384
    static let positionInterval = Duration.seconds(1)
    private static let renewal = Duration.milliseconds(500)

    /// - Parameter others: those that were there before.
    init(
        configuration: ServerConfiguration, members: MemberChannel, others: Admission.Others,
        partitions: PartitionOpener, workers: RoomWorkers, metrics: ServerMetrics, logger: Logger,
        onServing: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.members = members
        self.others = others
        self.partitions = partitions
        self.workers = workers
        self.metrics = metrics
        strangers = StrangerLog(root: configuration.root, metrics: metrics, logger: logger)
        self.logger = logger
        self.onServing = onServing
        (events, inlet) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.eventBound))
        membership = Membership(
            name: configuration.name, partitions: configuration.partitions,
            journal: configuration.commonSettings.journal, at: others.since)
    }

    /// What a worker has done with its share of a partition. Any thread.
    nonisolated func report(_ progress: PartitionProgress) {
        inlet.yield(.progress(progress))
    }

    /// Runs until the task is cancelled.
    func run() async throws(NATSError) {
        _ = try members.listen { [inlet] word in inlet.yield(.heard(word)) }
        let positions = Task { await reportPositions() }
        let watch = StreamWatch(journal: partitions.journal, logger: logger) { [inlet] in inlet.yield(.rewound($0)) }
        let streams = Task { await watch.run { openPartitions } }
        defer {
            positions.cancel()
            streams.cancel()
        }
        for word in others.words { hear(word) }
        step()
        for await event in events {
            switch event {
            case .heard(let word): hear(word)
            case .progress(.ready(let partition)): workerIsReady(with: partition)
            case .progress(.closed(let partition, let isWhole)): workerHasClosed(partition, isWhole: isWhole)
            case .rewound(let partition): close(partition, discarding: true)
            }
            step()
        }
        hasEnded = true
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

    private func hear(_ word: MemberChannel.Word) {
        let member = word.announcement.member
        if member == configuration.name, word.isForeign, !knowsNamesake {
            knowsNamesake = true
            logger.error(
                "another daemon has this one's name: both work on everything; give each a node.id of its own",
                metadata: ["member": "\(member)"])
        }
        switch membership.receive(word.announcement, at: MonotonicClock.now()) {
        case .known: break
        case .newcomer: logger.info("another daemon is there", metadata: ["member": "\(member)"])
        case .stranger(let conflicts): strangers.tell(of: member, conflicts)
        }
    }

    /// Does what is due, and sets the alarm for what comes next.
    func step() {
        // What was still being noted may come to an end later.
        guard !hasEnded else { return }
        let before = membership.members
        for action in membership.advance(to: MonotonicClock.now()) {
            switch action {
            case .announce(let announcement): members.announce(announcement)
            case .open(let partition): open(partition)
            case .close(let partition): close(partition)
            case .abandon(let partition):
                logger.warning(
                    "stood still; beginning anew with the partition", metadata: ["partition": "\(partition)"])
                close(partition, discarding: true)
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

    private func tellDuties() {
        let now = Duties(
            serving: membership.serving, servedByOthers: membership.servedByOthers,
            validUntil: membership.answersUntil)
        metrics.setPartitions(serving: now.serving.count, members: membership.members.count)
        // Told again in good time, so that they never run out by themselves.
        if !now.saysTheSame(as: duties) || now.validUntil - duties.validUntil >= Self.renewal {
            duties = now
            workers.postToAll(.partition(.duties(now)))
        }
        if !hasServed, membership.isSettled {
            hasServed = true
            onServing()
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
