internal import CNATS

/// A subject that has been checked once, for messages that are published to it again and again.
public struct PublishSubject: Sendable, CustomStringConvertible {
    fileprivate let bytes: [UInt8]

    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// - Throws: `.invalidSubject`.
    public init(_ subject: String) throws(NATSError) {
        guard Subject.isLiteral(subject) else { throw .invalidSubject(subject) }
        bytes = Array(subject.utf8)
    }
}

/// The headers of a message, in memory that is used for the next one again.
public struct HeaderBuffer: Sendable {
    /// As the protocol has them, without the empty line at the end.
    fileprivate private(set) var bytes: [UInt8] = []
    private static let start = Array("NATS/1.0\r\n".utf8)

    /// No headers.
    public init() {}

    /// Whether there is no header.
    public var isEmpty: Bool { bytes.isEmpty }

    /// Removes the headers and keeps their memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// The name of a header, as it stands before each value.
    public struct Name: Sendable {
        fileprivate let bytes: [UInt8]

        /// - Parameter name: visible ASCII without a colon. Not checked.
        public init(_ name: String) {
            bytes = Array("\(name): ".utf8)
        }
    }

    /// A header that is added again and again.
    public struct Field: Sendable {
        fileprivate let bytes: [UInt8]

        /// - Parameter value: not blank, without control characters. Not checked.
        public init(_ name: Name, _ value: String) {
            bytes = name.bytes + Array("\(value)\r\n".utf8)
        }
    }

    /// Adds a header.
    public mutating func append(_ field: Field) {
        if bytes.isEmpty { bytes += Self.start }
        bytes += field.bytes
    }

    /// Adds a header.
    /// - Parameter write: appends the value, which is not blank and has no control characters. Not checked.
    public mutating func append(_ name: Name, _ write: (inout [UInt8]) -> Void) {
        if bytes.isEmpty { bytes += Self.start }
        bytes += name.bytes
        write(&bytes)
        bytes.appendLineEnd()
    }

    /// The same for libnats.
    fileprivate var headers: NATSHeaders {
        var headers = NATSHeaders()
        for line in String(decoding: bytes.dropFirst(Self.start.count), as: UTF8.self).split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { headers.append(String(parts[0]), String(parts[1].dropFirst())) }
        }
        return headers
    }
}

/// Publishes many messages from one thread: finds the connection once, and has the socket written once, at the end.
///
/// It writes the messages as the NATS protocol has them, `PUB` and `HPUB`, and allocates nothing for one. Over TLS they
/// go through libnats, one by one. Not safe from several threads at once; each has its own.
public final class BatchPublisher {
    private let connection: NATSConnection
    /// While a batch is open.
    private var current: LibnatsConnection?
    private var takesBytes = false
    /// Limit of headers and body together.
    private var maxPayload = 0
    /// The messages of the batch that have not been handed over.
    private var batch: [UInt8] = []
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

    /// Publishes a message, and opens a batch if none is open. The message is copied; it goes out at the latest with
    /// ``end()``, and is lost with the connection until it is confirmed.
    /// - Parameter generation: the only server connection to publish on.
    /// - Throws: as `NATSConnection.publish`.
    public func publish(
        _ payload: [UInt8], to subject: PublishSubject, headers: HeaderBuffer = HeaderBuffer(), on generation: UInt64
    ) throws(NATSError) {
        let connection = try open(on: generation)
        let size = headers.isEmpty ? payload.count : headers.bytes.count + 2 + payload.count
        guard size <= maxPayload else { throw .payloadTooLarge(size: payload.count, limit: maxPayload) }
        unmeasured += size + 64
        if unmeasured >= Self.stride {
            connection.publish(&batch)
            try connection.checkBacklog()
            unmeasured = 0
        }
        guard takesBytes else {
            return try payload.span.withUnsafeBytes { bytes throws(NATSError) in
                try connection.publish(bytes, to: subject.description, reply: nil, headers: headers.headers)
            }
        }
        append(payload, to: subject, headers, size: size)
    }

    private func append(_ payload: [UInt8], to subject: PublishSubject, _ headers: HeaderBuffer, size: Int) {
        if !headers.isEmpty { batch.append(UInt8(ascii: "H")) }
        batch.append(UInt8(ascii: "P"))
        batch.append(UInt8(ascii: "U"))
        batch.append(UInt8(ascii: "B"))
        batch.append(UInt8(ascii: " "))
        batch += subject.bytes
        if !headers.isEmpty {
            batch.append(UInt8(ascii: " "))
            batch.append(decimal: headers.bytes.count + 2)
        }
        batch.append(UInt8(ascii: " "))
        batch.append(decimal: size)
        batch.appendLineEnd()
        if !headers.isEmpty {
            batch += headers.bytes
            batch.appendLineEnd()
        }
        batch += payload
        batch.appendLineEnd()
    }

    /// Ends the batch: what was published is written to the socket now, or as soon as the socket takes it.
    public func end() {
        guard let connection = current else { return }
        current = nil
        if takesBytes { connection.publish(&batch) } else { connection.endBatch() }
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
        takesBytes = connection.takesBytes
        maxPayload = connection.maxPayload
        if !takesBytes { connection.beginBatch() }
        current = connection
        return connection
    }
}

extension [UInt8] {
    /// - Parameter number: not negative.
    fileprivate mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    fileprivate mutating func appendLineEnd() {
        append(UInt8(ascii: "\r"))
        append(UInt8(ascii: "\n"))
    }
}
