import Logging
import NATSClient
import Synchronization
import Whiteboard

/// A partition's log while it is read.
public final class PartitionReader: Sendable {
    private struct Progress {
        var clock = LogClock()
        var isCaughtUp = false
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

    /// The sequence of the last record delivered or skipped; before the first, one before where reading begins. Any
    /// thread.
    public var position: UInt64 { delivered.load(ordering: .acquiring) }

    /// Ends reading. A call to `deliver` that has begun may still go on when this returns. Any thread.
    public func cancel() {
        consumer.withLock { $0 }?.cancel()
    }

    func start(from sequence: UInt64) {
        var settings = OrderedConsumerSettings(
            stream: PartitionStreams(root: journal.root, partition: partition).log, start: .sequence(sequence))
        settings.heartbeat = journal.settings.heartbeat
        settings.startTimeout = journal.settings.timeout
        do throws(NATSError) {
            let started = try journal.jetStream.read(
                settings, logger: journal.logger, clock: { [now] in now().nanoseconds },
                onEvent: { self.receive($0) }, onMessage: { self.receive($0, $1) })
            consumer.withLock { $0 = started }
        } catch {
            journal.logger.error("log not read", metadata: ["partition": "\(partition)", "error": "\(error)"])
        }
    }

    private func receive(_ event: OrderedConsumerEvent) {
        switch event {
        case .began(let start): began(start)
        case .caughtUp:
            progress.withLock { $0.isCaughtUp = true }
            deliver(.caughtUp)
        case .barrier(let barrier): deliver(.barrier(JournalBarrier { barrier.pass() }))
        case .rewound(let last): deliver(.rewound(lastRead: last))
        }
    }

    private func began(_ start: ConsumerStart) {
        let ahead = progress.withLock { progress in
            progress.clock.answer(
                serverTime: start.serverTime, askedAt: start.askedAt, answeredAt: start.answeredAt)
        }
        if let ahead { deliver(.logClock(ahead: ahead)) }
        skip(to: start.first)
    }

    /// The next record is this one: those between went before they were read.
    private func skip(to next: UInt64) {
        let expected = position + 1
        guard next > expected else { return }
        deliver(.missing(from: expected, through: next - 1))
        delivered.store(next - 1, ordering: .releasing)
    }

    private func receive(_ message: borrowing NATSMessage, _ metadata: DeliveryMetadata) {
        let ahead: Duration? = progress.withLock { progress in
            guard progress.isCaughtUp, metadata.pending == 0 else { return nil }
            return progress.clock.record(loggedAt: metadata.time, receivedAt: now().nanoseconds)
        }
        if let ahead { deliver(.logClock(ahead: ahead)) }
        skip(to: metadata.streamSequence)
        if let record = journal.record(message, metadata, of: partition) { deliver(.record(record)) }
        delivered.store(metadata.streamSequence, ordering: .releasing)
    }
}
