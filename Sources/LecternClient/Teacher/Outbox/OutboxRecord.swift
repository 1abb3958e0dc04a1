public import StrokeWire

/// A line of an outbox file: something that happened to a publisher's messages, in the order in which it did.
public enum OutboxRecord: Sendable, Equatable {
    /// A message is about to be sent for the first time.
    case message(number: Int64, order: Int, isStroke: Bool, bytes: [UInt8])
    /// The journal has it.
    case stored(number: Int64, order: Int)
    /// The service told what became of an operation.
    case settled(number: Int64, Outcome)

    /// What became of an operation.
    public enum Outcome: Sendable, Equatable {
        /// It has this index in the room.
        case applied(index: UInt64)
        /// It was rejected.
        case rejected(RejectionCode)
        /// The service no longer waits for it.
        case gaveUp
    }
}

extension OutboxRecord {
    init(_ message: OutgoingMessage) {
        self = .message(
            number: message.number, order: message.order, isStroke: message.isStroke, bytes: message.bytes)
    }
}
