import NATSClient

extension ReleasedMessage {
    /// Reads a message in the handler of its subscription.
    init(_ message: borrowing NATSMessage) throws(MalformedRelease) {
        try self.init(bytes: message.copyPayload()) { message.header($0) }
    }
}
