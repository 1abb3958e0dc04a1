/// JetStream's word that it has a message.
public struct PublishAcknowledgement: Sendable, Equatable {
    public let stream: String
    /// The message's place in the stream; of a duplicate, that of the first.
    public let sequence: UInt64
    /// Whether a message with the same `Nats-Msg-Id` was there already.
    public let isDuplicate: Bool
}

extension PublishAcknowledgement {
    /// The API's form.
    struct Wire: Decodable {
        var stream: String
        var seq: UInt64
        var duplicate: Bool?
    }

    init(_ wire: Wire) {
        stream = wire.stream
        sequence = wire.seq
        isDuplicate = wire.duplicate ?? false
    }
}
