import DequeModule
import Locking
public import Logging
public import NATSClient
public import StrokeWire
import Synchronization
public import Whiteboard

/// Reads and writes the logs of rooms: one JetStream stream a partition. It captures what authors publish, also while no
/// daemon runs; every daemon reads it in the same order.
///
/// Safe to use from any thread. Events are delivered on the thread that reads the connection's socket.
public final class JetStreamJournal: Sendable {
    let root: String
    let partitions: Int
    let settings: JournalSettings
    let jetStream: JetStream
    let logger: Logger
    private let misaddressed = Atomic<Int>(0)
    private let stalls = Locked<[DeliveryStall: Int]>([:])
    private let subjects: Locked<InboundSubjectCache>
    /// The partitions whose streams this process has seen.
    let known = Locked<Set<Int>>([])

    /// - Parameters:
    ///   - root: the first tokens of all subjects.
    ///   - partitions: the number of partitions.
    public init(
        root: String, partitions: Int, settings: JournalSettings, connection: NATSConnection, logger: Logger
    ) {
        self.root = root
        subjects = Locked(InboundSubjectCache(root: root))
        self.partitions = partitions
        self.settings = settings
        self.logger = logger
        jetStream = JetStream(connection, timeout: settings.timeout)
    }

    /// Records so far on subjects that no client derives from a room's address; they are skipped.
    public var misaddressedCount: Int { misaddressed.load(ordering: .relaxed) }

    /// How often the delivery of logs has stalled so far, by cause.
    public var stallCounts: [DeliveryStall: Int] { stalls.withLock { $0 } }

    func count(_ stall: DeliveryStall) { stalls.withLock { $0[stall, default: 0] += 1 } }

    /// The incarnation prefix of the log that a room's records are in.
    public func log(of room: RoomID) async throws(JournalError) -> String {
        try await jetStream.identity(ofLog: log(RoomAddress.partition(of: room, among: partitions)))
    }

    /// Writes a decision, without waiting for it. It takes effect when it comes back through the log; if it is lost, it
    /// must be written again.
    ///
    /// It has no `Nats-Msg-Id`: an author could publish a message with a guessed one first, and the log would then drop
    /// the decision as a duplicate. A decision that is in the log twice counts once.
    public func append(_ record: ControlRecord, room: RoomID) {
        let address = RoomAddress(root: root, room: room, partitions: partitions)
        do {
            try jetStream.connection.publish(record.encoded(), to: address.subject(.control))
        } catch {
            logger.debug("decision not written", metadata: ["room": "\(room)", "error": "\(error)"])
        }
    }

    /// Writes a decision that somebody has asked for, and waits until the log has it.
    ///
    /// - Parameter id: of the request; it cannot be guessed, and the log keeps one decision of each.
    /// - Returns: its sequence in the partition's log.
    /// - Throws: `.stream`; it may be in the log all the same.
    public func write(_ record: ControlRecord, room: RoomID, id: String) async throws(JournalError) -> UInt64 {
        try await jetStream.write(record, to: RoomAddress(root: root, room: room, partitions: partitions), id: id)
    }

    /// Reads a partition's log from a sequence on, and what is written to it later, until cancelled. It continues after
    /// losses of the connection and of servers, also when nobody holds the reader.
    ///
    /// - Parameters:
    ///   - sequence: the first one to be read.
    ///   - now: the time of the rooms' clock.
    ///   - deliver: called for each event, in order; must not block. Before a barrier is passed
    ///     the server delivers a bounded amount: 2 MiB at first, at most 32 MiB.
    public func read(
        _ partition: Int, from sequence: UInt64, now: @escaping @Sendable () -> Instant,
        deliver: @escaping @Sendable (PartitionEvent) -> Void
    ) -> PartitionReader {
        let reader = PartitionReader(of: partition, in: self, from: sequence, now: now, deliver: deliver)
        reader.start(from: sequence)
        return reader
    }

    /// The records of one room after a sequence of its partition's log, up to the log's present end: for a room whose
    /// newest checkpoint cannot be read. Returns them all in memory.
    /// - Throws: as ``read(_:after:_:)``.
    public func records(of room: RoomID, after sequence: UInt64) async throws(JournalError) -> [JournalRecord] {
        var found: [JournalRecord] = []
        try await read(room, after: sequence) { found.append($0) }
        return found
    }

    /// Reads the records of one room after a sequence of its partition's log, up to the log's present end.
    ///
    /// The server refuses a filter wider than one of the stream's subjects. So records that were moved to the log, which
    /// come before all others, are read first; then the room's decisions, which are few, and its messages with the
    /// decisions among them. All up to the same sequence.
    /// - Parameter body: called for each record, in the order of the log, in the caller's task. The server waits for it.
    /// - Throws: `.stream`, also when nothing came for half a minute before the end.
    public func read(
        _ room: RoomID, after sequence: UInt64, _ body: (JournalRecord) -> Void
    ) async throws(JournalError) {
        let partition = RoomAddress.partition(of: room, among: partitions)
        let streams = PartitionStreams(root: root, partition: partition)
        let stream = streams.log
        let address = RoomAddress(root: root, partition: partition, room: room)
        var decisions: Deque<JournalRecord> = []
        try await onStream(stream) { () throws(JetStreamError) in
            let info = try await jetStream.streamInfo(stream)
            let end = info.lastSequence
            func read(_ subject: String, _ take: (JournalRecord) -> Void) async throws(JetStreamError) {
                let settings = OrderedConsumerSettings(
                    stream: stream, start: sequence &+ 1, filterSubject: subject)
                try await jetStream.readToEnd(
                    settings, logger: logger, timeout: .seconds(30),
                    decode: { message, metadata in
                        metadata.streamSequence <= end ? self.record(message, metadata, of: partition) : nil
                    }, take: take)
            }
            if info.configuration.subjects.contains(streams.moved) {
                try await read("\(streams.moved(of: room))>", body)
            }
            try await read(address.subject(.control)) { decisions.append($0) }
            try await read("\(address).in.*") { record in
                while let decision = decisions.popFirst(before: record.sequence) { body(decision) }
                body(record)
            }
        }
        for decision in decisions { body(decision) }
    }

    /// Decodes a message of the log; nil, and counted, when it is not a room's record.
    func record(
        _ message: borrowing NATSMessage, _ metadata: DeliveryMetadata, of partition: Int
    ) -> JournalRecord? {
        let subject = message.withSubject { bytes in subjects.withLock { $0.subject(bytes) } }
        // The cache has no moved records: those that are there are read once.
        var moved: MovedRecord?
        if subject == nil {
            let streams = PartitionStreams(root: root, partition: partition)
            moved = MovedRecord(message, streams)
            if moved?.isMark == true || message.subject == streams.logFiller { return nil }
        }
        guard let subject = subject ?? moved?.subject, subject.address.partition == partition,
            subject.address.isCanonical(among: partitions)
        else {
            countMisaddressed(message.subject, partition)
            // JetStream has acknowledged it.
            jetStream.connection.refuse(message, on: subject, among: partitions)
            return nil
        }
        do {
            guard let content = try JournalRecord.Content(message, on: subject) else { return nil }
            return JournalRecord(
                partition: partition, room: subject.address.room, content: content, sequence: metadata.streamSequence,
                loggedAt: Instant(nanoseconds: moved?.time ?? metadata.time), origin: moved?.origin)
        } catch {
            logger.warning(
                "control record refused", metadata: ["room": "\(subject.address.room)", "error": "\(error)"])
            return nil
        }
    }

    /// Counts a misaddressed record and logs the first, the second, the fourth and so on.
    private func countMisaddressed(_ subject: String, _ partition: Int) {
        let count = misaddressed.add(1, ordering: .relaxed).newValue
        guard count & (count - 1) == 0 else { return }
        logger.warning(
            """
            skipped a message on a subject of no room: a name has other characters than a-z, 0-9, _ and -, or its \
            sender has another number of partitions
            """,
            metadata: ["subject": "\(subject)", "partitions": "\(partitions)", "count": "\(count)"])
    }
}

extension NATSConnection {
    /// Tells an author whose client has an old address of the room, or names that are none; passes over what is no message
    /// of an author.
    /// - Parameter subject: nil for one that is no room's.
    func refuse(_ message: borrowing NATSMessage, on subject: InboundSubject?, among partitions: Int) {
        var tokens = message.subject.split(separator: ".", omittingEmptySubsequences: false)
        guard tokens.count == 5, tokens[3] == "in" else { return }
        tokens[3] = "feedback"
        let right = subject.map {
            RoomAddress(root: $0.address.root, room: $0.address.room, partitions: partitions)
        }
        let (number, order) = StrokeMessage.identity(of: message.copyPayload())
        let feedback = Feedback.rejected(number: number, order: order, .misaddressed(to: right))
        let session = HeaderName.validSession(message.header(HeaderName.session))
        try? publish(feedback.encoded(session: session), to: tokens.joined(separator: "."))
    }
}

/// Decisions that somebody has asked for.
extension JetStream {
    /// The `Nats-Msg-Id` of one.
    static func messageID(of request: String, _ room: RoomID) -> String { "\(room)/command/\(request)" }

    /// Writes one to a room's log, with more headers; see ``JetStreamJournal/write(_:room:id:)``.
    func write(
        _ record: ControlRecord, to address: RoomAddress, id: String, headers: NATSHeaders = [:]
    ) async throws(JournalError) -> UInt64 {
        var headers = headers
        headers.append(HeaderName.msgID, Self.messageID(of: id, address.room))
        let log = PartitionStreams(root: address.root, partition: address.partition).log
        return try await onStream(log) { () throws(JetStreamError) in
            try await publish(record.encoded(), to: address.subject(.control), headers: headers).sequence
        }
    }
}

extension Deque<JournalRecord> {
    /// Removes and returns the first record if it comes before a sequence.
    fileprivate mutating func popFirst(before sequence: UInt64) -> JournalRecord? {
        first.map { $0.sequence < sequence } == true ? removeFirst() : nil
    }
}

extension JournalRecord.Content {
    /// Decodes a message on a room's subject; nil when the journal does not keep this kind of subject.
    /// - Throws: why a control record cannot be decoded.
    init?(_ message: borrowing NATSMessage, on subject: InboundSubject) throws(Rejection) {
        switch subject.kind {
        case .input(let author):
            self = .message(
                author: author, session: HeaderName.validSession(message.header(HeaderName.session)),
                bytes: message.copyPayload())
        case .control:
            self = .control(try ControlRecord(decoding: message.copyPayload()))
        default:
            return nil
        }
    }
}

extension RoomAddress {
    /// Whether the partition is the room's; clients always derive it from the room.
    public func isCanonical(among partitions: Int) -> Bool {
        partition == RoomAddress.partition(of: room, among: partitions)
    }
}

/// How the streams of a journal are created and read.
public struct JournalSettings: Sendable, Equatable {
    /// The number of servers with a copy, 1 to 5.
    public var replicas = 1
    /// How long the log and the checkpoints are kept: a room without records for so long is forgotten.
    public var maxAge: Duration = .seconds(30 * 86_400)
    /// Bytes of one partition's log; -1: no limit. A full log refuses what teachers publish; above 80 % of the limit,
    /// records that are in checkpoints are deleted.
    public var maxBytes: Int64 = -1
    /// How long a `Nats-Msg-Id` is remembered; not above `maxAge`.
    public var duplicateWindow: Duration = .seconds(120)
    /// The size of the server's store in bytes, which the server does not tell; -1: unknown.
    public var storeBytes: Int64 = -1
    /// Whether streams that existed and are gone are created again, empty.
    public var recreatesStreams = false
    /// The time limit of one request to JetStream.
    public var timeout: Duration = .seconds(5)
    /// The interval of the server's heartbeats while nothing is written. After twice that without a sign of the server
    /// reading restarts.
    public var heartbeat: Duration = .seconds(1)

    /// Settings with the defaults above.
    public init() {}
}

/// Names the stream in the errors of what is done with it.
@discardableResult
func onStream<Value>(
    _ name: String, _ body: () async throws(JetStreamError) -> Value
) async throws(JournalError) -> Value {
    do throws(JetStreamError) {
        return try await body()
    } catch {
        throw .stream(name: name, error)
    }
}

/// Why the journal could not be read or written.
public enum JournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// An error of one of the partition's streams.
    case stream(name: String, JetStreamError)
    /// A state of this size needs more parts than a checkpoint may have.
    case checkpointTooLarge(bytes: Int)
    /// A state that was to be saved cannot be read back.
    case unreadable(String)
    /// The room's manifest was damaged: one was written behind it, and the room is to be saved once more.
    case damaged(room: RoomID)
    /// A checkpoint is intact, but was written by a newer release.
    case newer(stream: String, what: String)
    /// Streams existed and are gone, by name; they may be being restored.
    case streamsMissing([String])
    /// The root's logs are of another number of partitions than `subjects.partitions` says here.
    case otherPartitions(root: String, there: Int, here: Int)
    /// The connection was lost before the server confirmed the operations released on it.
    case unconfirmed
    /// Another daemon has saved the room meanwhile, through this record.
    case superseded(room: RoomID, by: UInt64)

    public var description: String {
        switch self {
        case .stream(let name, let error): "\(name): \(error)"
        case .checkpointTooLarge(let bytes): "a checkpoint of \(bytes) bytes is too large"
        case .unreadable(let why): "a state that was to be saved cannot be read back (\(why)); the log keeps the room"
        case .damaged(let room): "the checkpoint of \(room) was damaged; all of the room is saved again"
        case .newer(let stream, let what): "\(stream) has checkpoints of a newer release: \(what)"
        case .streamsMissing(let names):
            "\(names.joined(separator: " and ")) existed and \(names.count == 1 ? "is" : "are") gone"
        case .otherPartitions(let root, let there, let here):
            """
            the streams of the root "\(root)" are of \(there) partitions, and subjects.partitions is \(here) here; set it to \
            \(there), or stop all daemons and move the rooms: lectern repartition \(here)
            """
        case .unconfirmed: "the NATS server has not confirmed the released operations"
        case .superseded(let room, let sequence): "another daemon has saved \(room) through \(sequence) meanwhile"
        }
    }
}
