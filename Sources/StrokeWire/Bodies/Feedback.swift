/// What the service tells an author about its operations.
public enum Feedback: Sendable, Hashable {
    /// The operation got this index.
    case applied(number: Int64, index: UInt64)
    /// These shards of a stroke have not arrived.
    case missingShards(number: Int64, orders: [Int])
    /// These operations, both ends included, have not arrived.
    case missingRange(from: Int64, to: Int64)
    /// These operations, both ends included, are no longer waited for.
    case gaveUp(from: Int64, to: Int64)
    /// A message was not accepted. Number and order are nil where they could not be read.
    case rejected(number: Int64?, order: Int?, Rejection)
}
