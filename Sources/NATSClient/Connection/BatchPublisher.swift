internal import CNATS

/// A subject that has been checked once, for messages that are published to it again and again.
public struct PublishSubject: Sendable, CustomStringConvertible {
    /// With a closing zero.
    private let text: ContiguousArray<CChar>

    public var description: String { String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) }

    /// - Throws: `.invalidSubject`.
    public init(_ subject: String) throws(NATSError) {
        guard Subject.isLiteral(subject) else { throw .invalidSubject(subject) }
        text = ContiguousArray(subject.utf8CString)
    }

    func withPointer<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        text.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}

/// The headers of a message, in memory that is used for the next one again.
public struct HeaderBuffer: Sendable {
    /// Where the texts of each begin.
    private var fields: [(name: Int, value: Int)] = []
    /// Names and values, each with a closing zero.
    private var texts: [UInt8] = []

    /// No headers.
    public init() {}

    /// Whether there is no header.
    public var isEmpty: Bool { fields.isEmpty }

    /// Removes the headers and keeps their memory.
    public mutating func removeAll() {
        fields.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
    }

    /// Adds a header.
    /// - Parameters:
    ///   - name: visible ASCII without a colon. Not checked.
    ///   - write: appends the value, which is not blank and has no control characters. Not checked.
    public mutating func append(_ name: String, _ write: (inout [UInt8]) -> Void) {
        let start = texts.count
        texts.append(contentsOf: name.utf8)
        texts.append(0)
        fields.append((start, texts.count))
        write(&texts)
        texts.append(0)
    }

    fileprivate func add(to message: OpaquePointer) -> natsStatus {
        texts.withUnsafeBytes { texts in
            guard let start = texts.baseAddress?.assumingMemoryBound(to: CChar.self) else { return NATS_INVALID_ARG }
            for field in fields {
                let status = natsMsgHeader_Add(message, start + field.name, start + field.value)
                guard status == NATS_OK else { return status }
            }
            return NATS_OK
        }
    }
}

/// Publishes many messages from one thread: finds the connection once, and has the socket written once, at the end.
///
/// Not safe from several threads at once; each has its own.
public final class BatchPublisher {
    private let connection: NATSConnection
    /// While a batch is open.
    private var current: LibnatsConnection?
    /// Bytes published since the connection's buffer was measured.
    private var unmeasured = 0

    /// Bytes after which the buffer is measured again, and the socket written.
    private static let stride = 64 * 1024

    public init(_ connection: NATSConnection) {
        self.connection = connection
    }

    deinit {
        end()
    }

    /// Publishes a message, and opens a batch if none is open. libnats copies the message; it goes out at the latest
    /// with ``end()``.
    /// - Parameter generation: the only server connection to publish on.
    /// - Throws: as `NATSConnection.publish`.
    public func publish(
        _ payload: [UInt8], to subject: PublishSubject, headers: HeaderBuffer = HeaderBuffer(), on generation: UInt64
    ) throws(NATSError) {
        try payload.span.withUnsafeBytes { bytes throws(NATSError) in
            try publish(bytes, to: subject, headers: headers, on: generation)
        }
    }

    private func publish(
        _ payload: UnsafeRawBufferPointer, to subject: PublishSubject, headers: HeaderBuffer, on generation: UInt64
    ) throws(NATSError) {
        let connection = try open(on: generation)
        unmeasured += payload.count + 256
        if unmeasured >= Self.stride {
            connection.writeSoon()
            try connection.checkBacklog()
            unmeasured = 0
        }
        guard let size = Int32(exactly: payload.count) else {
            throw .payloadTooLarge(size: payload.count, limit: connection.maxPayload)
        }
        let body = payload.baseAddress?.assumingMemoryBound(to: CChar.self)
        let status: natsStatus = subject.withPointer { subject in
            guard !headers.isEmpty else { return natsConnection_Publish(connection.raw, subject, body, size) }
            var created: OpaquePointer?
            let status = natsMsg_Create(&created, subject, nil, body, size)
            guard status == NATS_OK, let message = created else { return status }
            defer { natsMsg_Destroy(message) }
            let added = headers.add(to: message)
            return added == NATS_OK ? natsConnection_PublishMsg(connection.raw, message) : added
        }
        switch status {
        case NATS_OK: return
        case NATS_MAX_PAYLOAD: throw .payloadTooLarge(size: payload.count, limit: connection.maxPayload)
        default: throw NATSError(status)
        }
    }

    /// Ends the batch: what was published is written to the socket now.
    public func end() {
        guard let connection = current else { return }
        current = nil
        connection.endBatch()
    }

    private func open(on generation: UInt64) throws(NATSError) -> LibnatsConnection {
        if let current {
            if current.number == generation { return current }
            end()
        }
        let connection = try self.connection.core.current()
        guard connection.number == generation else { throw .disconnected }
        try connection.checkBacklog()
        unmeasured = 0
        connection.beginBatch()
        current = connection
        return connection
    }
}
