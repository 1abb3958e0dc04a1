import StrokeWire

/// The shards of one released operation that have arrived.
struct OperationAssembly: Sendable {
    /// When its first message came.
    let arrived: Duration
    /// By order; one of order 0 for an operation that came whole.
    private var messages: [Int: ReleasedMessage] = [:]
    private let first: ReleasedMessage
    /// Bytes of all messages.
    private(set) var bytes = 0

    init(startingWith message: ReleasedMessage, at now: Duration) {
        arrived = now
        first = message
    }

    /// How many messages have arrived.
    var count: Int { messages.count }

    /// Adds a shard; a repeat changes nothing.
    mutating func add(_ message: ReleasedMessage) {
        guard messages[message.header.shardOrder] == nil else { return }
        messages[message.header.shardOrder] = message
        bytes += message.bytes.count
    }

    /// The operation when all of it is there.
    var operation: ReleasedOperation? {
        guard first.header.action == .draw, first.header.isSharded else { return complete(first.bytes) }
        guard messages.count >= first.header.shardCount else { return nil }
        let inOrder = messages.sorted { $0.key < $1.key }.map(\.value)
        var header = first.header
        header.shardCount = 0
        header.shardOrder = 0
        let interior = ShardJoiner.join(inOrder.map { $0.bytes[$0.header.points.interior] })
        return complete(header.encoded(interior: interior[...]))
    }

    private func complete(_ bytes: [UInt8]) -> ReleasedOperation {
        ReleasedOperation(
            index: first.index, author: first.author, reference: first.reference, isLate: first.isLate,
            action: first.header.action, bytes: bytes, digest: first.digest)
    }
}
