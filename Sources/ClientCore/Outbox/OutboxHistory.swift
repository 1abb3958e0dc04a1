internal import StrokeWire

/// The state of earlier runs of a publisher, rebuilt from the records of its outbox file.
public struct OutboxHistory: Sendable, Equatable {
    /// What is not settled, or not covered by a checkpoint.
    private(set) var outbox: Outbox
    /// Settled operations by number.
    private(set) var outcomes: [Int64: OutboxRecord.Outcome] = [:]
    /// Number of messages stored in the journal.
    private(set) var storedCount = 0
    /// A hash of every recorded message.
    private var known: [MessageKey: UInt32] = [:]

    /// An empty history of a session.
    package init(session: String) { outbox = Outbox(session: session) }

    /// Adds the next record.
    package mutating func append(_ record: OutboxRecord) {
        switch record {
        case .message(let number, let order, let isStroke, let bytes):
            let message = OutgoingMessage(number: number, order: order, isStroke: isStroke, bytes: bytes)
            known[message.key] = FNV1a32.hash(bytes)
            outbox.keep(message, at: .zero)
        case .stored(let number, let order):
            storedCount += 1
            let key = MessageKey(number: number, order: order)
            _ = outbox.acknowledge(Receipt(key: key, generation: outbox[key]?.generation ?? 0))
        case .settled(let number, let outcome):
            outcomes[number] = outcome
            _ = outbox.settle(number, outcome)
        case .covered(let number, let incarnation):
            outbox.cover(number, in: incarnation)
        }
    }

    /// The messages of a plan that are not recorded; the first is due at once.
    ///
    /// - Throws: the number of an operation recorded with other content.
    package func rest(of plan: PublishPlan) throws(LessonMismatch) -> [OutgoingMessage] {
        var rest: [OutgoingMessage] = []
        for message in plan.messages {
            switch known[message.key] {
            case nil: if outcomes[message.number] == nil { rest.append(message) }
            case FNV1a32.hash(message.bytes)?: continue
            default: throw LessonMismatch(number: message.number)
            }
        }
        guard !known.isEmpty, let start = rest.first?.due else { return rest }
        return rest.map { message in
            var message = message
            message.due = max(.zero, message.due - start)
            return message
        }
    }

    /// A plan has other content for a recorded operation number.
    package struct LessonMismatch: Error, Equatable {
        package let number: Int64
    }
}
