import Locking
public import Logging
public import NATSClient
public import StrokeWire
import Synchronization
public import Whiteboard

/// The journal of `journal.mode: none`: messages of core NATS in the order of arrival. Nothing survives the process.
///
/// Safe to use from any thread. Records are delivered on the thread that reads the connection's socket. Messages keep
/// their order of arrival. A decision may come before or after messages that arrive with it.
public final class VolatileJournal: Sendable {
    /// The prefix of the rooms' incarnations, different in each process.
    public let incarnationPrefix: String

    private let root: String
    private let subjects: Locked<InboundSubjectCache>
    private let partitions: Int
    private let logger: Logger
    private let sequence = Atomic<UInt64>(0)
    private let misaddressed = Atomic<Int>(0)

    /// - Parameters:
    ///   - root: the first tokens of all subjects.
    ///   - partitions: the number of partitions, all of which this journal reads.
    public init(root: String, partitions: Int, logger: Logger) {
        self.root = root
        subjects = Locked(InboundSubjectCache(root: root))
        self.partitions = partitions
        self.logger = logger
        incarnationPrefix = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Messages so far on subjects that no client derives from a room's address; they are skipped.
    public var misaddressedCount: Int { misaddressed.load(ordering: .relaxed) }

    /// Reads from now on, until the connection closes.
    /// - Parameters:
    ///   - now: the time of the rooms' clock.
    ///   - deliver: called for each record; must not block.
    public func read(
        from connection: NATSConnection, now: @escaping @Sendable () -> Instant,
        deliver: @escaping @Sendable (JournalRecord) -> Void
    ) throws(NATSError) {
        for subject in ["\(root).*.*.in.*", "\(root).*.*.ctl"] {
            _ = try connection.subscribe(subject, on: .connection) { [weak connection] message in
                self.receive(message, of: connection, at: now(), deliver)
            }
        }
    }

    /// Makes a decision a record at once: no other daemon shares this journal.
    public func append(_ record: ControlRecord, room: RoomID, at now: Instant) -> JournalRecord? {
        JournalRecord(
            partition: RoomAddress.partition(of: room, among: partitions), room: room, content: .control(record),
            sequence: nextSequence(), loggedAt: now)
    }

    private func receive(
        _ message: borrowing NATSMessage, of connection: NATSConnection?, at now: Instant,
        _ deliver: @Sendable (JournalRecord) -> Void
    ) {
        let subject = message.withSubject { bytes in subjects.withLock { $0.subject(bytes) } }
        guard let subject, subject.address.isCanonical(among: partitions)
        else {
            misaddressed.add(1, ordering: .relaxed)
            connection?.refuse(message, on: subject, among: partitions)
            return
        }
        do {
            guard let content = try JournalRecord.Content(message, on: subject) else { return }
            deliver(
                JournalRecord(
                    partition: subject.address.partition, room: subject.address.room, content: content,
                    sequence: nextSequence(), loggedAt: now))
        } catch {
            logger.warning(
                "control record refused", metadata: ["room": "\(subject.address.room)", "error": "\(error)"])
        }
    }

    private func nextSequence() -> UInt64 {
        sequence.add(1, ordering: .relaxed).newValue
    }
}
