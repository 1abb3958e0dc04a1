/// A message that a stream has.
public struct StoredMessage: Sendable, Equatable {
    public let subject: String
    /// Its place in the stream.
    public let sequence: UInt64
    /// When the stream took it, in nanoseconds since 1970.
    public let time: Int64
    public let payload: [UInt8]
}
