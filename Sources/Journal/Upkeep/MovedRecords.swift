import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// A record that was moved to a log from another one: its bytes as its author sent them, on `<address>.moved.in.<author>`
/// or `<address>.moved.ctl`, with its first place and time in a header.
///
/// The header counts on these subjects alone, where no client may publish: nobody else can give a message another time.
struct MovedRecord {
    static let header = "Ink-Moved"
    /// Of a decision that somebody has asked for: its `Nats-Msg-Id` where it was logged first. A header of its own: JetStream
    /// drops a record that repeats a `Nats-Msg-Id`.
    static let requestHeader = "Ink-Moved-Request"

    /// The `Nats-Msg-Id` that a decision had where it was logged first; nil for one that nobody has asked for.
    static func request(of decision: borrowing NATSMessage) -> String? {
        decision.header(requestHeader) ?? decision.header(HeaderName.msgID)
    }

    /// Its subject before the move; nil for the first message of a moved log, which is no record.
    let subject: InboundSubject?
    let origin: LogPlace
    /// When it was logged first, in nanoseconds since 1970.
    let time: Int64

    /// Whether it is the first message of a log, and no record.
    var isMark: Bool { subject == nil }

    /// - Returns: nil for any other message.
    init?(_ message: borrowing NATSMessage, _ streams: PartitionStreams) {
        let text = message.subject
        guard text.hasPrefix(streams.root) else { return nil }
        let tokens = text.dropFirst(streams.root.count + 1).split(separator: ".")
        guard tokens.count >= 4, tokens[2] == "moved" else { return nil }
        if text == streams.movedMark {
            (subject, origin, time) = (nil, LogPlace(log: "", sequence: 0), 0)
            return
        }
        let parts = (message.header(Self.header) ?? "").split(separator: " ")
        let original = ([streams.root[...]] + tokens[..<2] + tokens[3...]).joined(separator: ".")
        guard parts.count == 2, let place = LogPlace(parts[0]), let time = Int64(parts[1]),
            let subject = InboundSubject(original, root: streams.root)
        else { return nil }
        (self.subject, origin, self.time) = (subject, place, time)
    }

    init(_ subject: InboundSubject, from origin: LogPlace, at time: Int64) {
        self.subject = subject
        self.origin = origin
        self.time = time
    }

    /// What follows the subject of the room's moved records.
    static func suffix(_ subject: InboundSubject) -> String { "\(subject.kind)" }

    var headerValue: String { "\(origin) \(time)" }
}

/// A record as it is written to a new log.
struct MovedMessage {
    let room: RoomID
    /// The room's new one.
    let partition: Int
    let subject: String
    let headers: NATSHeaders
    let payload: [UInt8]

    /// - Returns: nil for the mark of a log.
    init?(_ record: CopiedLogRecord, root: String, partitions: Int) {
        guard let subject = record.moved.subject else { return nil }
        room = subject.address.room
        partition = RoomAddress.partition(of: room, among: partitions)
        let streams = PartitionStreams(root: root, partition: partition)
        self.subject = streams.moved(of: room) + MovedRecord.suffix(subject)
        var headers: NATSHeaders = [MovedRecord.header: record.moved.headerValue]
        if let session = record.session { headers.append(HeaderName.session, session) }
        if let request = record.request {
            headers.append(MovedRecord.requestHeader, request.id)
            if let assets = request.assetsBefore { headers.append(StoredRoomDeletion.Decision.assetsHeader, assets) }
        }
        self.headers = headers
        payload = record.bytes
    }

    /// What the server's `max_payload` and a stream's `max_msg_size` bound: with the headers as they are sent.
    var payloadBytes: Int {
        let frame = "NATS/1.0\r\n\r\n".utf8.count
        return headers.fields.reduce(frame + payload.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    /// What a stream counts for its `max_bytes`, which adds 34 bytes in files (nats-server 2.9 to 2.12).
    var storedBytes: Int { payloadBytes + subject.utf8.count + 34 }
}

/// Writes records to a new log, whose only writer it is.
final class RecordWriter {
    private let streams: PartitionStreams
    private let jetStream: JetStream
    /// Of the last record.
    private(set) var sequence: UInt64 = 0
    private var bytes = 0
    private var last: (payload: [UInt8], subject: String, headers: NATSHeaders)?

    /// Bytes that are sent before the server has to have confirmed them.
    private static let window = 512 << 10

    init(to streams: PartitionStreams, _ jetStream: JetStream) {
        self.streams = streams
        self.jetStream = jetStream
    }

    /// - Returns: the sequence that the record gets.
    func write(_ payload: [UInt8], to subject: String, headers: NATSHeaders) async throws -> UInt64 {
        if let last { try jetStream.connection.publish(last.payload, to: last.subject, headers: last.headers) }
        last = (payload, subject, headers)
        sequence += 1
        bytes += payload.count + 256
        if bytes > Self.window { try await confirm() }
        return sequence
    }

    /// Returns when the server has stored all records, under the sequences that were told.
    func confirm() async throws {
        guard let last else { return }
        let stored = try await jetStream.publish(last.payload, to: last.subject, headers: last.headers)
        // A full log may take the last and not all before it.
        guard stored.sequence == sequence, stored.stream == streams.log else {
            throw Repartitioning.Failure.disturbed(stream: streams.log)
        }
        (self.last, bytes) = (nil, 0)
    }
}

/// A record of the copy of a log.
struct CopiedLogRecord: Sendable {
    let moved: MovedRecord
    /// In the copy.
    let sequence: UInt64
    let session: String?
    /// Of a decision that somebody has asked for.
    let request: Request?
    let bytes: [UInt8]

    struct Request: Sendable {
        /// `Nats-Msg-Id` of the first log.
        let id: String
        /// See ``StoredRoomDeletion/Decision/assetsBefore``.
        let assetsBefore: String?

        /// - Returns: nil for a decision that nobody has asked for.
        init?(_ message: borrowing NATSMessage) {
            guard let id = MovedRecord.request(of: message) else { return nil }
            self.id = id
            assetsBefore = message.header(StoredRoomDeletion.Decision.assetsHeader)
        }
    }

    /// - Parameters:
    ///   - log: the incarnation prefix of the log that was copied.
    ///   - partitions: the number of partitions that it was one of.
    /// - Returns: nil for what no room has, which is not moved.
    fileprivate init?(
        _ message: borrowing NATSMessage, _ metadata: DeliveryMetadata, of copies: PartitionStreams, log: String,
        among partitions: Int
    ) {
        sequence = metadata.streamSequence
        let place = LogPlace(log: log, sequence: sequence)
        let moved =
            MovedRecord(message, copies)
            ?? InboundSubject(message.subject, root: copies.root).map {
                MovedRecord($0, from: place, at: metadata.time)
            }
        guard let moved, let address = moved.subject?.address, address.isCanonical(among: partitions),
            address.partition == copies.partition
        else { return nil }
        self.moved = moved
        session = message.header(HeaderName.session)
        request = moved.subject?.kind == .control ? Request(message) : nil
        bytes = message.copyPayload()
    }

    /// The decision by which its room goes on after the log had lost its end; nil for any other record.
    var restoration: RoomRestoration? {
        guard moved.subject?.kind == .control, let decision = try? ControlRecord(decoding: bytes),
            case .restore(let restoration) = decision
        else { return nil }
        return restoration
    }
}

extension JetStream {
    /// Passes on all records of the copy of a log, from its beginning to its end; a bounded amount waits in memory.
    func readCopy(
        _ copies: PartitionStreams, log: String, among partitions: Int, _ logger: Logger,
        _ take: (CopiedLogRecord) async throws -> Void
    ) async throws {
        _ = try await readToEnd(
            OrderedConsumerSettings(stream: copies.log, start: 1), logger: logger,
            decode: { CopiedLogRecord($0, $1, of: copies, log: log, among: partitions) }, take: take
        ).get()
    }
}
