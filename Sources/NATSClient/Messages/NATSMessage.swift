internal import CNATS

/// A message as it arrived, in libnats' own memory: nothing is copied until asked for.
///
/// A handler borrows it for the length of its call. Take what should outlive the call with `copyPayload()`,
/// `subject` and `header(_:)`.
public struct NATSMessage: ~Copyable {
    /// Owned; destroyed with this value.
    let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        natsMsg_Destroy(raw)
    }

    /// The subject. Allocates when it is longer than 15 bytes; see `withSubject` for the hot path.
    public var subject: String {
        String(cString: natsMsg_GetSubject(raw))
    }

    /// Where an answer is expected, if one is.
    public var reply: String? {
        natsMsg_GetReply(raw).map { String(cString: $0) }
    }

    /// Lends the reply subject's bytes, none where there is none; nothing is allocated.
    public func withReply<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(Self.bytes(of: natsMsg_GetReply(raw)))
    }

    /// The size of the body in bytes.
    public var payloadSize: Int {
        Int(natsMsg_GetDataLength(raw))
    }

    /// Lends the body; the buffer dies with the call.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: natsMsg_GetData(raw), count: payloadSize))
    }

    /// Lends the body as a span, which cannot leave the call.
    public func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: natsMsg_GetData(raw), count: payloadSize).bytes)
    }

    /// Lends the subject's bytes, without the closing zero; nothing is allocated.
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

    /// The body, copied.
    public func copyPayload() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// The server's answer to a request that nobody listens to.
    var saysNoResponders: Bool {
        natsMsg_IsNoResponders(raw)
    }

    /// The first value of a header, names compared exactly. The first look-up in a message parses all its headers.
    public func header(_ name: String) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(raw, name, &value) == NATS_OK, let value else { return nil }
        return String(cString: value)
    }
}
