import DequeModule
import Foundation
import Hosting
import StrokeWire
import Whiteboard

/// A thread that runs a share of the rooms: it takes items from its mailbox, passes them to the rooms and publishes the
/// resulting effects.
///
/// Posting is safe from any thread; everything else happens on the worker's own.
final class RoomWorker: Sendable {
    private let mailbox: Mailbox<InboundItem>

    /// - Parameter capacity: bytes that the mailbox may hold.
    init(capacity: Int) {
        mailbox = Mailbox(capacity: capacity)
    }

    /// Posts an item; it is dropped and counted if the mailbox is full.
    func post(_ item: InboundItem) {
        mailbox.post(item, cost: item.cost, mustNotBeLost: item.cost == 0)
    }

    /// Posts a record with the time of its arrival.
    /// - Parameter mustNotBeLost: for a journal that waits at barriers and so bounds its backlog itself.
    func deliver(_ record: JournalRecord, mustNotBeLost: Bool) {
        let item = InboundItem.record(record, arrivedAt: MonotonicClock.now())
        mailbox.post(item, cost: item.cost, mustNotBeLost: mustNotBeLost)
    }

    /// Bytes in the mailbox, and items dropped so far.
    var load: (bytes: Int, dropped: Int) { mailbox.load }

    /// Starts the thread, which runs until it takes `.stop`; returns at once.
    /// - Parameter makeLoop: makes the event loop, on the worker's thread.
    /// - Returns: a stream that finishes when the thread has ended.
    func start(name: String, _ makeLoop: @escaping @Sendable () -> RoomEventLoop) -> AsyncStream<Never> {
        let (ended, continuation) = AsyncStream.makeStream(of: Never.self)
        let thread = Thread { [mailbox] in
            let loop = makeLoop()
            var batch: Deque<InboundItem> = []
            repeat {
                mailbox.take(into: &batch, until: loop.nextWake)
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
    case request(RoomRequest)
    /// Lists the worker's rooms, or those that remain; nil for all.
    case scan(RoomScan, remaining: ArraySlice<RoomID>?)
    /// Whether messages can be published.
    case output(isOpen: Bool)
    /// Whether the NATS server has received everything published before it was asked.
    case confirmed(Bool)
    case partition(PartitionItem)
    /// A requested room has been fetched.
    case restored(RoomID, RestoredRoom)
    /// A room's checkpoint has been acknowledged, or not.
    case saved(RoomID, isSaved: Bool)
    /// Another daemon has stored a newer checkpoint of the room.
    case superseded(RoomID)
    case stop

    /// Bytes that it occupies in the mailbox.
    var cost: Int {
        switch self {
        case .record(let record, _): record.cost
        case .clock(let sample): sample.bytes.count + 256
        case .request(let request): request.cost
        case .scan, .output, .confirmed, .partition, .restored, .saved, .superseded, .stop: 0
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
    /// Reports how far checkpoints hold the records through `sequence`, all of which were posted before.
    case position(Int, sequence: UInt64, report: @Sendable (UInt64) -> Void)
    /// The partitions whose requests are answered.
    case assignment(ServingAssignment)
    case close(Int, discarding: Bool)
}

/// The partitions whose requests a daemon answers.
struct ServingAssignment: Sendable, Equatable {
    /// Partitions that it serves.
    var serving: Set<Int> = []
    /// Partitions that another daemon serves, though this one may have them open, too.
    var servedByOthers: Set<Int> = []
    /// When the assignment expires: a daemon that was suspended must not answer from outdated rooms.
    var validUntil = Instant.distantPast

    func hasSamePartitions(as other: ServingAssignment) -> Bool {
        serving == other.serving && servedByOthers == other.servedByOthers
    }

    func answers(_ partition: Int) -> Bool {
        serving.contains(partition) || !servedByOthers.contains(partition)
    }
}
