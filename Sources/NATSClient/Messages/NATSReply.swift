/// A message that owns its bytes: what a request is answered with.
public struct NATSReply: Sendable, Equatable {
    /// The subject it came on.
    public var subject: String
    /// The body; for a reply in parts, all of them joined.
    public var payload: [UInt8]
    /// The headers; for a reply in parts, those of the first part.
    public var headers: NATSHeaders

    /// A reply from its pieces.
    public init(subject: String, payload: [UInt8], headers: NATSHeaders = [:]) {
        self.subject = subject
        self.payload = payload
        self.headers = headers
    }

    /// The first value of a header.
    public func header(_ name: String) -> String? {
        headers[name]
    }
}

extension NATSReply {
    /// A message of libnats, copied.
    init(copying message: borrowing NATSMessage) {
        self.init(
            subject: message.subject, payload: message.copyPayload(), headers: NATSHeaders(copying: message))
    }
}
