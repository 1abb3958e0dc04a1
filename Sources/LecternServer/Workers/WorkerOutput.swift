import Hosting
import Journal
import Locking
import Metrics
import NATSClient
import StrokeWire
import Whiteboard

/// Performs the effects of one worker's room host: publishes, writes decisions, has rooms fetched and saved. Used as its
/// ``RoomEventLoop``: by one thread at a time.
final class WorkerOutput: HostOutput {
    private let configuration: ServerConfiguration
    private let connection: NATSConnection
    private let fanout: Fanout
    private let journal: any DecisionJournal
    private let keeper: CheckpointKeeper?
    private let assetUse: AssetUse
    private let metrics: ServerMetrics
    private let storedRooms: StoredRoomCounts
    private let worker: RoomWorker
    private let onPartition: @Sendable (PartitionProgress) -> Void
    private var opened: [RoomID] = []
    /// Not yet added to the metrics.
    private var counts = RoomCounts()
    /// Numbers the stays of rooms in memory in which they have asked for something.
    private var stays: [RoomID: UInt64] = [:]
    private var lastStay: UInt64 = 0
    /// The connection to publish on. Messages buffered by a lost connection are published again before new ones go out on
    /// the next.
    private var generation: UInt64

    init(
        configuration: ServerConfiguration, connection: NATSConnection, fanout: Fanout, journal: any DecisionJournal,
        keeper: CheckpointKeeper?, assetUse: AssetUse, metrics: ServerMetrics, storedRooms: StoredRoomCounts,
        worker: RoomWorker, onPartition: @escaping @Sendable (PartitionProgress) -> Void
    ) {
        self.configuration = configuration
        self.connection = connection
        self.fanout = fanout
        self.journal = journal
        self.keeper = keeper
        self.assetUse = assetUse
        self.metrics = metrics
        self.storedRooms = storedRooms
        self.worker = worker
        self.onPartition = onPartition
        generation = connection.generation
    }

    /// Publishes on the newest connection from now on.
    /// - Returns: whether it has changed.
    func takeNewestConnection() -> Bool {
        let newest = connection.generation
        defer { generation = newest }
        return newest != generation
    }

    func confirm() {
        flush()
        let (connection, worker, generation) = (connection, worker, generation)
        Task {
            let answered = try? await connection.confirmPublished()
            worker.post(.confirmed(answered == generation))
        }
    }

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        if case .head(let operation) = effect, let asset = operation.asset {
            assetUse.note(CollectionOfOne(asset))
        }
        return fanout.perform(effect, state(of: room), incarnation: room.incarnation, on: generation, metrics)
    }

    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? {
        journal.append(record, room: room.id, at: now)
    }

    func countNew(_ partition: Int) -> Bool { storedRooms.take(partition) }
    func countStored(_ change: Int, of partition: Int) { storedRooms.add(change, to: partition) }

    func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) {
        // One that is restored while it is being saved must not take the answer for that to its next save.
        stays[room] = nil
        let stay = stay(of: room)
        keeper?.fetch(room, stored, restoration) { [worker] restoration in
            worker.post(.restored(room, stay: stay, restoration))
        }
    }

    func save(_ request: SaveRequest) {
        flush()
        let (room, stay) = (request.room, stay(of: request.room))
        keeper?.save(request, publishedOn: generation) { [worker] in worker.post(.saved(room, stay: stay, $0)) }
    }

    private func stay(of room: RoomID) -> UInt64 {
        if let known = stays[room] { return known }
        lastStay += 1
        stays[room] = lastStay
        return lastStay
    }

    /// Whether a room is in memory still that has asked in this stay.
    func isAwaited(_ room: RoomID, stay: UInt64) -> Bool { stays[room] == stay }

    func settled(_ room: HostedRoom, _ counts: RoomCounts) {
        self.counts += counts
        guard room.room != nil else { return }
        let state = state(of: room)
        room.withRoom { state.gauges.report(&$0, metrics) }
    }

    func count(_ outcome: WetOutcome) { counts.wetUpdates[outcome, default: 0] += 1 }

    /// Has the socket written with all that was published so far, and adds up what was counted.
    func flush() {
        fanout.flush()
        metrics.add(counts)
        counts = RoomCounts()
    }

    private func state(of room: HostedRoom) -> RoomOutput {
        if let state = room.outputState { return unsafeDowncast(state, to: RoomOutput.self) }
        let made = RoomOutput(room.address)
        room.outputState = made
        return made
    }

    func opened(_ room: HostedRoom) {
        opened.append(room.id)
    }

    func left(_ room: HostedRoom) {
        if room.outputState != nil { state(of: room).gauges.forget(metrics) }
        stays[room.id] = nil
        keeper?.evict(room.id)
    }

    func forgotten(_ room: RoomID) {
        metrics.forgotten.increment()
        keeper?.known.forget(room)
    }

    func ready(_ partition: Int) { onPartition(.ready(partition)) }
    func closed(_ partition: Int, isWhole: Bool) { onPartition(.closed(partition, isWhole: isWhole)) }

    /// Rooms loaded since the last call.
    func takeOpened() -> [RoomID] {
        guard !opened.isEmpty else { return [] }
        defer { opened = [] }
        return opened
    }

    /// Posts an item behind those already in the worker's mailbox.
    func postAgain(_ item: InboundItem) { worker.post(item) }

    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: configuration.root, room: room, partitions: configuration.partitions)
    }
}

/// Progress of a worker with its share of a partition.
enum PartitionProgress: Sendable {
    case ready(Int)
    /// `isWhole`: everything passed to the worker before was saved.
    case closed(Int, isWhole: Bool)
}

/// The journal as the destination of the rooms' decisions.
protocol DecisionJournal: Sendable {
    /// Appends a decision; it takes effect once, however often it stands in the journal.
    /// - Returns: the record, if the journal has it at once.
    func append(_ record: ControlRecord, room: RoomID, at now: Instant) -> JournalRecord?
}

extension VolatileJournal: DecisionJournal {}

extension JetStreamJournal: DecisionJournal {
    func append(_ record: ControlRecord, room: RoomID, at now: Instant) -> JournalRecord? {
        append(record, room: room)
        return nil
    }
}

/// Number of stored rooms of each partition, over all workers. Safe from any thread.
///
/// Each partition has a fixed share of the limit, so that every daemon comes to the same count for it.
final class StoredRoomCounts: Sendable {
    private let limit: Int
    private let counts: Locked<[Int]>

    /// - Parameter limit: rooms of all partitions together.
    init(limit: Int, partitions: Int) {
        self.limit = max(1, limit / max(1, partitions))
        counts = Locked(Array(repeating: 0, count: max(1, partitions)))
    }

    /// Counts one more room, if the partition's limit allows it.
    func take(_ partition: Int) -> Bool {
        counts.withLock { counts in
            guard counts[partition] < limit else { return false }
            counts[partition] += 1
            return true
        }
    }

    /// Adds rooms that exist already, beyond the limit if need be.
    func add(_ change: Int, to partition: Int) {
        counts.withLock { $0[partition] += change }
    }
}
