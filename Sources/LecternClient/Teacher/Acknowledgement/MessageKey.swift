/// Which message of a teacher's count: shards of one stroke share the number.
struct MessageKey: Hashable, Sendable {
    /// Number of the operation.
    let number: Int64
    /// Which shard of its stroke the message is, as sent.
    let order: Int
}

extension OutgoingMessage {
    var key: MessageKey { MessageKey(number: number, order: order) }
}
