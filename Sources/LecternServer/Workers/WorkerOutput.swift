import Hosting
import Logging
import StrokeWire
import Whiteboard

/// What the host of one worker does to the world: publishes, writes decisions, asks for rooms to be fetched and saved.
/// Confined to the worker's thread.
final class WorkerOutput: HostOutput {
    private let configuration: ServerConfiguration
    private let fanout: Fanout
    private let journal: any DecisionJournal
    private let keeper: CheckpointKeeper?
    private let metrics: ServerMetrics
    private let places: Budget
    private let worker: RoomWorker
    private let onPartition: @Sendable (PartitionProgress) -> Void
    private let logger: Logger
    private var gauges = RoomGauges()
    private var opened: [RoomID] = []
    private var whole: Set<Int> = []

    init(
        configuration: ServerConfiguration, fanout: Fanout, journal: any DecisionJournal, keeper: CheckpointKeeper?,
        metrics: ServerMetrics, places: Budget, worker: RoomWorker,
        onPartition: @escaping @Sendable (PartitionProgress) -> Void, logger: Logger
    ) {
        self.configuration = configuration
        self.fanout = fanout
        self.journal = journal
        self.keeper = keeper
        self.metrics = metrics
        self.places = places
        self.worker = worker
        self.onPartition = onPartition
        self.logger = logger
    }

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        fanout.perform(effect, address: room.address, incarnation: room.incarnation, metrics)
    }

    func append(_ record: ControlRecord, to room: HostedRoom, id: String, at now: Instant) -> JournalRecord? {
        journal.append(record, room: room.address, id: id, at: now)
    }

    func refuse(_ record: JournalRecord) {
        guard case .message(let author, _, let bytes) = record.content else { return }
        let rejection = Rejection(
            code: .roomFull, field: nil, message: "The server has as many rooms as it may.")
        let known: (number: Int64?, order: Int?)
        do {
            let header = try StrokeMessage(decoding: bytes, limits: configuration.room.intake.wire)
            known = (header.number, header.shardOrder)
        } catch {
            known = (error.number, error.order)
        }
        metrics.reject(rejection.code)
        let feedback = Feedback.rejected(number: known.number, order: known.order, rejection)
        _ = fanout.publish(feedback, to: author, at: address(of: record.room))
    }

    func takePlace() -> Bool { places.take() }
    func giveBackPlace() { places.giveBack() }

    func fetch(_ room: RoomID, _ stored: StoredRoom) {
        keeper?.fetch(room, stored) { [worker] restoration in worker.post(.restored(room, restoration)) }
    }

    func save(_ request: SaveRequest) {
        keeper?.save(request) { [worker] outcome in
            switch outcome {
            case .saved: worker.post(.saved(request.room, isSaved: true))
            case .failed: worker.post(.saved(request.room, isSaved: false))
            case .superseded: worker.post(.superseded(request.room))
            }
        }
    }

    func settled(_ room: HostedRoom, _ counts: RoomCounts) {
        metrics.add(counts)
        gauges.report(room, metrics)
    }

    func opened(_ room: HostedRoom) {
        opened.append(room.id)
    }

    func left(_ room: HostedRoom) {
        gauges.forget(room, metrics)
    }

    func forgotten(_ room: RoomID) { keeper?.forget(room) }
    func ready(_ partition: Int) { onPartition(.ready(partition)) }
    func closed(_ partition: Int) {
        onPartition(.closed(partition, isWhole: whole.remove(partition) != nil))
    }

    /// A partition is about to be closed.
    /// - Parameter isWhole: whether all that was given to the host until now will have been saved by then.
    func willClose(_ partition: Int, isWhole: Bool) {
        if isWhole { whole.insert(partition) }
    }

    /// Rooms that have come into memory since the last call.
    func takeOpened() -> [RoomID] {
        guard !opened.isEmpty else { return [] }
        defer { opened = [] }
        return opened
    }

    /// Something to go on with when what else has come is done.
    func postAgain(_ item: InboundItem) { worker.post(item) }

    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: configuration.root, room: room, partitions: configuration.partitions)
    }
}

/// What a worker has done with its share of a partition.
enum PartitionProgress: Sendable {
    case ready(Int)
    /// Whether it has saved all that it was given before.
    case closed(Int, isWhole: Bool)
}
