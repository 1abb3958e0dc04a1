import DequeModule
import Foundation
import Hosting
import NATSClient
import StrokeWire
import Whiteboard

/// A thread with a share of the rooms, and its mailbox.
///
/// Posting is safe from any thread. Its ``RoomEventLoop`` runs on the worker's own thread, or at the end of a round on the thread that
/// delivers messages: on one at a time.
final class RoomWorker: Sendable {
    private let mailbox: Mailbox<InboundItem>
    /// Set before the mailbox gives out its first batch, and used by whoever handles one.
    nonisolated(unsafe) private var loop: RoomEventLoop?
    /// The batch of a round. The deliverer's.
    nonisolated(unsafe) private var roundBatch: Deque<InboundItem> = []

    /// - Parameter capacity: bytes that the mailbox may hold.
    init(capacity: Int) {
        mailbox = Mailbox(capacity: capacity)
    }

    /// Posts an item; it is dropped and counted if the mailbox is full.
    /// - Parameter mustNotBeLost: for a journal that waits at barriers and so bounds its backlog itself.
    func post(_ item: InboundItem, mustNotBeLost: Bool = false) {
        let cost = item.cost
        mailbox.post(
            item, cost: cost, mustNotBeLost: mustNotBeLost || cost == 0, isBrief: item.isBrief,
            isDispensable: item.isDispensable, isRequest: item.isRequest)
    }

    /// Posts a record with the time of its arrival.
    func deliver(_ record: JournalRecord, mustNotBeLost: Bool) {
        post(.record(record, arrivedAt: MonotonicClock.now()), mustNotBeLost: mustNotBeLost)
    }

    /// Bytes in the mailbox, and items dropped so far.
    var load: (bytes: Int, dropped: Int) { mailbox.load }

    /// What is posted from now on waits for the end of the round.
    func openRound() { mailbox.openRound() }

    /// Handles what was posted, or has the worker's thread do so. On the thread that has opened the round.
    /// - Parameter mayHandle: whether there is time to handle it here.
    /// - Returns: the processor time that it took.
    func closeRound(mayHandle: Bool) -> Duration {
        let now = MonotonicClock.now()
        guard mailbox.closeRound(into: &roundBatch, mayHandle: mayHandle, at: now), let loop else { return .zero }
        let began = ThreadClock.now()
        _ = loop.run(&roundBatch)
        let duration = ThreadClock.now() - began
        mailbox.handled(nextWake: loop.nextWake, in: duration, at: now)
        return duration
    }

    /// Starts the thread, which runs until it takes `.stop`; returns at once.
    /// - Parameter makeLoop: makes the event loop, on the worker's thread.
    /// - Returns: a stream that finishes when the thread has ended.
    func start(name: String, _ makeLoop: @escaping @Sendable () -> RoomEventLoop) -> AsyncStream<Never> {
        let (ended, continuation) = AsyncStream.makeStream(of: Never.self)
        let thread = Thread { [self] in
            let loop = makeLoop()
            self.loop = loop
            var batch: Deque<InboundItem> = []
            repeat {
                mailbox.take(into: &batch, nextWake: loop.nextWake)
            } while loop.run(&batch)
            continuation.finish()
        }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
        return ended
    }
}

/// An item in a worker's mailbox.
enum InboundItem: Sendable {
    case record(JournalRecord, arrivedAt: Instant)
    case clock(IncomingSample)
    /// An update of a stroke being drawn.
    case wet(IncomingWetUpdate)
    case request(RoomRequest)
    /// Lists the worker's rooms, or those that remain; nil for all.
    case scan(RoomScan, remaining: ArraySlice<RoomID>?)
    /// Whether messages can be published.
    case output(isOpen: Bool)
    /// Whether the NATS server has received everything published before it was asked.
    case confirmed(Bool)
    case partition(PartitionItem)
    /// A requested room has been fetched; `stay` is that in which it was requested, see ``WorkerOutput/isAwaited(_:stay:)``.
    case restored(RoomID, stay: UInt64, RestoredRoom)
    /// What became of a room's checkpoint.
    case saved(RoomID, stay: UInt64, CheckpointKeeper.SaveOutcome)
    case probe(WorkerProbe, worker: Int)
    /// Looks at the worker's rooms in memory, or at those that remain; nil for all.
    case survey(SurveyTurn)
    case stop

    /// Whether it takes microseconds, as a message does: many of them come together.
    var isBrief: Bool {
        switch self {
        case .record, .clock, .wet, .confirmed, .saved, .partition(.level): true
        case .request, .scan, .output, .partition, .restored, .probe, .survey, .stop: false
        }
    }

    /// Whether it is dropped before anything else where the mailbox fills up.
    var isDispensable: Bool {
        if case .wet = self { true } else { false }
    }

    /// Whether it waits behind all other items and earlier requests. `stop` does: a worker answers first.
    var isRequest: Bool {
        switch self {
        case .request, .stop: true
        default: false
        }
    }

    /// Bytes that it occupies in the mailbox.
    var cost: Int {
        switch self {
        case .record(let record, _): record.cost
        case .clock(let sample): sample.bytes.count + 256
        case .wet(let update): update.bytes.count + 256
        case .request(let request): request.cost
        case .scan, .output, .confirmed, .partition, .restored, .saved, .probe, .survey, .stop: 0
        }
    }
}

/// An event of a whole partition. It is posted to every worker, for each has a share of the partition's rooms.
enum PartitionItem: Sendable {
    case open(Int, prefix: String, stored: [RoomID: StoredRoom], kept: Duration?)
    case logClock(Int, ahead: Duration)
    /// `pass` is called once everything posted before is applied, or waits within bounds.
    case barrier(pass: @Sendable () -> Void)
    /// The journal has been read up to the end that it had at the start.
    case caughtUp(Int)
    /// The journal counts as read to its end until then.
    case level(Int, until: Instant)
    /// Reports how far checkpoints hold the records through `sequence`, all of which were posted before.
    case position(Int, sequence: UInt64, report: @Sendable (UInt64) -> Void)
    /// Rooms are saved before it is due: checkpoints are to hold all that was posted before.
    case saveSoon(Int)
    /// The partitions whose requests are answered.
    case assignment(ServingAssignment)
    case close(Int, saving: ClosingSave)
}
