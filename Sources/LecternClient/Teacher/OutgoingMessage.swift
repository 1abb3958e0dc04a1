/// A stroke message on its way to the service.
public struct OutgoingMessage: Sendable, Equatable {
    /// Number of the operation in the author's count.
    public let number: Int64
    /// Which shard of its stroke the message is, as sent.
    public let order: Int
    /// Whether it belongs to a stroke: one that was given up may still come late, a command may not.
    public let isStroke: Bool
    /// The message as it is published.
    public let bytes: [UInt8]
    /// When it is published, measured from the start of publishing.
    public internal(set) var due: Duration
    /// Whether the first sending is left out, to try what happens then.
    public internal(set) var isWithheld: Bool
}
