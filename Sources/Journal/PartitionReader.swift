import Locking
import Logging
public import NATSClient
import Synchronization
public import Whiteboard

/// Reads a partition's log, in order, until cancelled.
public final class PartitionReader: Sendable {
    private struct Progress {
        var clockOffset = ClockOffsetEstimator()
        var isCaughtUp = false
        var levelUntil = Instant.distantPast
    }

    private let partition: Int
    private let journal: JetStreamJournal
    private let now: @Sendable () -> Instant
    private let deliver: @Sendable (PartitionEvent) -> Void
    private let progress = Locked(Progress())
    private let delivered: Atomic<UInt64>
    private let consumer = Locked<OrderedConsumer?>(nil)

    init(
        of partition: Int, in journal: JetStreamJournal, from sequence: UInt64, now: @escaping @Sendable () -> Instant,
        deliver: @escaping @Sendable (PartitionEvent) -> Void
    ) {
        self.partition = partition
        self.journal = journal
        self.now = now
        self.deliver = deliver
        delivered = Atomic(max(1, sequence) - 1)
    }

    /// The sequence of the last record delivered or skipped; before the first, one less than where reading begins. Any
    /// thread.
    public var position: UInt64 { delivered.load(ordering: .acquiring) }

    /// Ends reading. A call to `deliver` that has begun may still go on when this returns. Any thread.
    public func cancel() {
        consumer.withLock { $0 }?.cancel()
    }

    func start(from sequence: UInt64) {
        var settings = OrderedConsumerSettings(
            stream: PartitionStreams(root: journal.root, partition: partition).log, start: sequence)
        settings.heartbeat = journal.settings.heartbeat
        settings.startTimeout = journal.settings.timeout
        settings.thread = .connection
        settings.comparesLastMessage = true
        do throws(NATSError) {
            let started = try journal.jetStream.read(
                settings, logger: journal.logger, clock: { [now] in now().nanoseconds },
                onEvent: { self.receive($0) }, onMessage: { self.receive($0, $1) },
                onStall: { [journal] in journal.count($0) })
            consumer.withLock { $0 = started }
        } catch {
            journal.logger.error("cannot read the log", metadata: ["partition": "\(partition)", "error": "\(error)"])
        }
    }

    private func receive(_ event: OrderedConsumerEvent) {
        switch event {
        case .began(let start): began(start)
        case .caughtUp:
            progress.withLock { $0.isCaughtUp = true }
            deliver(.caughtUp)
        case .level(let since): extendLevel(since)
        case .interrupted:
            progress.withLock { $0.levelUntil = .distantPast }
            deliver(.level(until: .distantPast))
        case .barrier(let barrier): deliver(.barrier(barrier))
        case .rewound(let last): deliver(.rewound(lastRead: last))
        }
    }

    /// The log has been read to its end. A message that waited in this process or on its way tells of the time at which it
    /// was stored.
    private func extendLevel(_ since: Int64?) {
        let now = now()
        let until: Instant? = progress.withLock { progress in
            let stored = since.map { Instant(nanoseconds: $0 &- (progress.clockOffset.offset ?? 0)) }
            let until = min(now, stored ?? now) + journal.settings.heartbeat * 2
            guard until > progress.levelUntil else { return nil }
            progress.levelUntil = until
            return until
        }
        if let until { deliver(.level(until: until)) }
    }

    private func began(_ start: ConsumerStart) {
        let ahead = progress.withLock { progress in
            progress.clockOffset.answer(
                serverTime: start.serverTime, requestedAt: start.requestedAt, answeredAt: start.answeredAt)
        }
        if let ahead { deliver(.logClock(ahead: ahead)) }
        skip(to: start.first)
    }

    /// Reports the records before `next` that were not delivered: they were removed before they were read.
    private func skip(to next: UInt64) {
        let expected = position + 1
        guard next > expected else { return }
        deliver(.missing(from: expected, through: next - 1))
        delivered.store(next - 1, ordering: .releasing)
    }

    private func receive(_ message: borrowing NATSMessage, _ metadata: DeliveryMetadata) {
        let ahead: Duration? = progress.withLock { progress in
            guard progress.isCaughtUp, metadata.pending == 0 else { return nil }
            return progress.clockOffset.record(loggedAt: metadata.time, receivedAt: now().nanoseconds)
        }
        if let ahead { deliver(.logClock(ahead: ahead)) }
        skip(to: metadata.streamSequence)
        if let record = journal.record(message, metadata, of: partition) { deliver(.record(record)) }
        delivered.store(metadata.streamSequence, ordering: .releasing)
    }
}

/// An event of a partition's log; events come in order.
public enum PartitionEvent: Sendable {
    /// The next record. Its `loggedAt` is the log's time, in nanoseconds since 1970 by the server's clock.
    case record(JournalRecord)
    /// All records up to the log's end as of the start of reading have been delivered. Once.
    case caughtUp
    /// The log has been read to its end. That counts until then: the next such event comes before, unless records wait to be
    /// read. A time that has passed: reading was interrupted; it comes on any thread.
    case level(until: Instant)
    /// The offset of the log's time from the reader's `now`: before the first record, and when it has changed by more
    /// than 20 ms.
    case logClock(ahead: Duration)
    /// To be passed when everything before it is processed; until then only a bounded amount follows. Comes about once
    /// in every half of that amount, and whenever reading restarts.
    case barrier(FlowControlBarrier)
    /// Records that were removed before they were read, from the first to the last.
    case missing(from: UInt64, through: UInt64)
    /// The log ends before the last record that was read, or has another at its place: it was replaced, or the server has lost
    /// its end. No event follows. Rooms made from the log are more than it has.
    case rewound(lastRead: UInt64)
}
