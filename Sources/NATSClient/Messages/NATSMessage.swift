internal import CNATS

/// A received message, in libnats' memory.
///
/// A handler borrows it for the length of its call. `copyPayload()`, `subject` and `header(_:)` make copies that
/// outlive the call.
public struct NATSMessage: ~Copyable {
    let raw: OpaquePointer
    /// Whether it is destroyed with this value.
    private let isOwned: Bool

    init(owning raw: OpaquePointer) {
        self.raw = raw
        isOwned = true
    }

    /// A message that is destroyed by another.
    init(lent raw: OpaquePointer) {
        self.raw = raw
        isOwned = false
    }

    deinit {
        if isOwned { natsMsg_Destroy(raw) }
    }

    /// The subject. Allocates when it is longer than 15 bytes; see `withSubject` for the hot path.
    public var subject: String { String(cString: natsMsg_GetSubject(raw)) }

    /// The reply subject, if an answer is expected.
    public var reply: String? {
        natsMsg_GetReply(raw).map { String(cString: $0) }
    }

    /// Lends the bytes of the reply subject, none without one. Allocates nothing.
    public func withReply<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(Self.bytes(of: natsMsg_GetReply(raw)))
    }

    /// The size of the body in bytes.
    public var payloadSize: Int { Int(natsMsg_GetDataLength(raw)) }

    /// Lends the body for the length of the call.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: natsMsg_GetData(raw), count: payloadSize))
    }

    /// Lends the bytes of the subject, without the closing zero. Allocates nothing.
    public func withSubject<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(Self.bytes(of: natsMsg_GetSubject(raw)))
    }

    private static func bytes(of text: UnsafePointer<CChar>?) -> UnsafeRawBufferPointer {
        var length = 0
        if let text {
            while text[length] != 0 { length &+= 1 }
        }
        return UnsafeRawBufferPointer(start: text, count: length)
    }

    /// A copy of the body.
    public func copyPayload() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// Whether this is the server's answer to a request without a subscriber.
    var saysNoResponders: Bool { natsMsg_IsNoResponders(raw) }

    /// The first value of a header, whose name is case-sensitive. The first call for a message parses all its headers.
    public func header(_ name: String) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(raw, name, &value) == NATS_OK, let value else { return nil }
        return String(cString: value)
    }

    /// A copy of the headers that can be sent again: without those that have no value. In no order.
    public func copyHeaders() -> NATSHeaders { NATSHeaders(copying: self).sendable }
}

/// Messages of libnats to be destroyed together.
///
/// libnats hands each to a thread of its own, which frees it: destroyed one by one, each wakes that thread, which costs
/// more than all else that is done for a message. Not safe from several threads at once.
struct SpentMessages: ~Copyable {
    private var messages: [OpaquePointer] = []
    private var bytes = 0

    private static let bound = 1024
    /// Bytes of bodies that are kept so.
    private static let byteBound = 1 << 20

    mutating func append(_ message: OpaquePointer) {
        messages.append(message)
        bytes += Int(natsMsg_GetDataLength(message))
        guard messages.count == Self.bound || bytes >= Self.byteBound else { return }
        for message in messages { natsMsg_Destroy(message) }
        messages.removeAll(keepingCapacity: true)
        bytes = 0
    }

    deinit {
        for message in messages { natsMsg_Destroy(message) }
    }
}

/// The reply to a request; it owns its bytes.
public struct NATSReply: Sendable, Equatable {
    /// The subject it came on.
    public var subject: String
    /// The body; for a reply in parts, all of them joined.
    public var payload: [UInt8]
    /// The headers; for a reply in parts, those of the first part.
    public var headers: NATSHeaders

    /// A reply with these contents.
    public init(subject: String, payload: [UInt8], headers: NATSHeaders = [:]) {
        self.subject = subject
        self.payload = payload
        self.headers = headers
    }

    /// The first value of a header.
    public func header(_ name: String) -> String? { headers[name] }
}

extension NATSReply {
    /// Copies a libnats message.
    init(copying message: borrowing NATSMessage) {
        self.init(
            subject: message.subject, payload: message.copyPayload(), headers: NATSHeaders(copying: message))
    }
}
