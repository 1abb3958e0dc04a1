import Hosting
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Publishes the effects of one worker's rooms. Used as its ``RoomEventLoop``: by one thread at a time.
final class Fanout {
    private let connection: NATSConnection
    private let publisher: BatchPublisher
    /// Bytes of a message at most when a stroke from shards is cut again.
    private let maxBytes: Int
    private let cohorts: CohortsConfiguration
    private let logger: Logger
    /// Has the output reopened soon. Needed when the connection exists but refuses a message: it gives no signal when it
    /// accepts more.
    private let retry: @Sendable () -> Void
    private var headers = HeaderBuffer()
    private var body: [UInt8] = []

    private static let index = HeaderBuffer.Name(HeaderName.index)
    private static let ref = HeaderBuffer.Name(HeaderName.ref)
    private static let digest = HeaderBuffer.Name(HeaderName.digest)
    private static let page = HeaderBuffer.Name(HeaderName.page)
    private static let late = HeaderBuffer.Field(HeaderBuffer.Name(HeaderName.late), "1")

    /// Bytes from which on a message waits until the connection has sent most of what was published before: what is
    /// small must not wait behind megabytes.
    static let largeMessage = 16 * 1024
    /// Bytes that may wait for the socket before that.
    static let backlog = 1 << 20

    init(
        connection: NATSConnection, maxBytes: Int, cohorts: CohortsConfiguration, logger: Logger,
        retry: @escaping @Sendable () -> Void
    ) {
        self.connection = connection
        publisher = BatchPublisher(connection)
        self.maxBytes = maxBytes
        self.cohorts = cohorts
        self.logger = logger
        self.retry = retry
    }

    /// Performs one effect. It is written to the socket with the next ``flush()``, or earlier.
    /// - Parameter generation: of the connection to publish on; on no other.
    /// - Returns: false if it was not published and is to be tried again: on the next connection, or after `retry`.
    func perform(
        _ effect: RoomEffect, _ room: RoomOutput, incarnation: String, on generation: UInt64,
        _ metrics: ServerMetrics
    ) -> Bool {
        switch effect {
        case .feedback(let author, let session, let feedback):
            return send(room.author(author).feedback, on: generation) { feedback.encode(session: session, into: &$0) }
        case .head(let operation):
            return publish(
                operation, as: .json, isLate: operation.isLate, of: room, incarnation, to: room.head, on: generation)
        case .release(let name, let operation, let isLate, let due):
            guard operation.messageByteCount < Self.largeMessage || connection.bufferedBytes <= Self.backlog else {
                retry()
                return false
            }
            let cohort = room.cohort(name, metrics)
            let isPublished = publish(
                operation, as: cohorts.settings(of: name).encoding, isLate: isLate || operation.isLate, of: room,
                incarnation, to: cohort.out, on: generation)
            guard isPublished else { return false }
            metrics.countRelease(cohort.metrics, isLate: isLate, lateness: MonotonicClock.now() - due)
            return true
        case .wet(let name, let wet):
            let cohort = name.map { room.cohort($0, metrics) }
            headers.removeAll()
            // A room without an incarnation has no such header: it must not be blank.
            if !incarnation.isEmpty { headers.append(room.incarnation(incarnation)) }
            guard send(wet.body, to: cohort.map(\.wet) ?? room.wetHead, on: generation) else { return false }
            if let cohort { metrics.countWet(cohort.metrics, wet, at: MonotonicClock.now()) }
            return true
        case .mark(let name, let mark):
            let subject = name.map { room.cohort($0, metrics).mark } ?? room.markHead
            return send(subject, on: generation) { $0 = mark.encoded() }
        case .record:
            return true
        }
    }

    /// Has the socket written.
    func flush() {
        publisher.end()
    }

    private func publish(
        _ operation: Operation, as encoding: WireEncoding, isLate: Bool, of room: RoomOutput, _ incarnation: String,
        to subject: PublishSubject?, on generation: UInt64
    ) -> Bool {
        headers.removeAll()
        headers.append(room.incarnation(incarnation))
        headers.append(room.author(operation.author).header)
        headers.append(Self.index) { $0.append(integer: operation.index) }
        if let reference = operation.reference { headers.append(Self.ref) { $0.append(integer: reference) } }
        headers.append(Self.digest) { operation.digest.write(into: &$0) }
        headers.append(Self.page) { $0.append(integer: operation.page) }
        if isLate { headers.append(Self.late) }
        let message = encoding == .binary ? operation.payload.message : operation.restoredMessage
        // The daemon has reconnected to a server that takes less than the one before: also what came whole is cut.
        let maxBody = message.count > Self.largeMessage ? connection.maxBody : .max
        guard message.count > maxBody || message.count > maxBytes && operation.isJoined else {
            return send(message, to: subject, on: generation)
        }
        for frame in operation.cut(operation.restoredMessage, maxBytes: min(maxBytes, maxBody)) {
            let frame = encoding == .binary ? BinaryMessage.encode(frame) : frame
            guard send(frame, to: subject, on: generation) else { return false }
        }
        return true
    }

    /// Sends a message without headers.
    private func send(
        _ subject: PublishSubject?, on generation: UInt64, _ write: (inout [UInt8]) -> Void
    ) -> Bool {
        headers.removeAll()
        body.removeAll(keepingCapacity: true)
        write(&body)
        return send(body, to: subject, on: generation)
    }

    /// Sends a message with the headers that are in the buffer.
    private func send(_ bytes: [UInt8], to subject: PublishSubject?, on generation: UInt64) -> Bool {
        do throws(NATSError) {
            guard let subject else { throw .invalidSubject("of a room") }
            try publisher.publish(bytes, to: subject, headers: headers, on: generation)
            return true
        } catch .payloadTooLarge(let size, let limit) {
            // A retry cannot succeed, and the cohort must not wait for it.
            logger.error(
                "operation too large for the NATS server; raise its max_payload",
                metadata: ["subject": "\(name(of: subject))", "bytes": "\(size)", "limit": "\(limit)"])
            return true
        } catch .invalidSubject, .invalidHeader {
            // A retry cannot succeed.
            logger.error(
                "operation with a subject or header that NATS does not allow",
                metadata: ["subject": "\(name(of: subject))"])
            return true
        } catch .disconnected, .closed {
            return false
        } catch {
            retry()
            logger.debug("not published", metadata: ["subject": "\(name(of: subject))", "error": "\(error)"])
            return false
        }
    }
}

private func name(of subject: PublishSubject?) -> String { subject?.description ?? "none" }

/// The subjects that a room publishes to and the headers that its operations share, made once, and what the gauges were
/// told of the room. Used by the worker's loop alone.
final class RoomOutput {
    struct Cohort {
        fileprivate let name: CohortName
        let out: PublishSubject?
        let mark: PublishSubject?
        let wet: PublishSubject?
        let metrics: CohortMetrics.Handles
    }

    struct Author {
        fileprivate let id: AuthorID
        let feedback: PublishSubject?
        let header: HeaderBuffer.Field
    }

    private static let roomHeader = HeaderBuffer.Name(HeaderName.room)
    private static let authorHeader = HeaderBuffer.Name(HeaderName.author)

    /// Cohorts, and authors, whose subjects are kept; beyond, the oldest are made again when they are needed.
    private static let bound = 16

    private let address: RoomAddress
    let head: PublishSubject?
    let wetHead: PublishSubject?
    let markHead: PublishSubject?
    private var cohorts: [Cohort] = []
    private var authors: [Author] = []
    private var incarnation: (name: String, header: HeaderBuffer.Field)?
    /// What the gauges were told of the room.
    var gauges = RoomGauges()

    init(_ address: RoomAddress) {
        self.address = address
        head = try? PublishSubject(address.subject(.head))
        wetHead = try? PublishSubject(address.subject(.wetHead))
        markHead = try? PublishSubject(address.subject(.markHead))
    }

    /// Of a cohort that the room has, or had.
    func cohort(_ name: CohortName, _ metrics: ServerMetrics) -> Cohort {
        if let known = cohorts.first(where: { $0.name == name }) { return known }
        let made = Cohort(
            name: name, out: try? PublishSubject(address.subject(.out(name))),
            mark: try? PublishSubject(address.subject(.mark(name))),
            wet: try? PublishSubject(address.subject(.wet(name))), metrics: metrics.cohorts[name])
        if cohorts.count == Self.bound { cohorts.removeFirst() }
        cohorts.append(made)
        return made
    }

    func author(_ id: AuthorID) -> Author {
        if let known = authors.first(where: { $0.id == id }) { return known }
        let made = Author(
            id: id, feedback: try? PublishSubject(address.subject(.feedback(id))),
            header: HeaderBuffer.Field(Self.authorHeader, id.text))
        if authors.count == Self.bound { authors.removeFirst() }
        authors.append(made)
        return made
    }

    /// - Parameter name: of the room's incarnation.
    func incarnation(_ name: String) -> HeaderBuffer.Field {
        if let incarnation, incarnation.name == name { return incarnation.header }
        let made = HeaderBuffer.Field(Self.roomHeader, name)
        incarnation = (name, made)
        return made
    }
}

extension Operation {
    /// A stroke that is larger than `maxBytes`, cut into shards.
    /// - Parameter message: ``restoredMessage``.
    fileprivate func cut(_ message: [UInt8], maxBytes: Int) -> [[UInt8]] {
        guard let stroke = fields(of: message) else { return [message] }
        return ShardCutter.cut(stroke, interior: message[stroke.points.interior], maxBytes: maxBytes)
    }
}
