/// A message that is rejected for what it is, and the parts of it that tell its author which one it was.
public struct MalformedMessage: Error, Sendable, Equatable {
    /// The operation's number, nil where it could not be read.
    public let number: Int64?
    /// The shard's order, nil where it could not be read.
    public let order: Int?
    public let rejection: Rejection

    public init(number: Int64?, order: Int?, rejection: Rejection) {
        self.number = number
        self.order = order
        self.rejection = rejection
    }
}
