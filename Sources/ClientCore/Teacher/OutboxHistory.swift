internal import StrokeWire

/// The state of earlier runs of a publisher, rebuilt from the records of its outbox file.
public struct OutboxHistory: Sendable, Equatable {
    /// A recorded message of an unsettled operation.
    struct Pending: Sendable, Equatable {
        let message: OutgoingMessage
        var isStored = false
    }

    /// An operation that the room has applied.
    struct Applied: Sendable, Equatable {
        package let number: Int64
        let messages: [OutgoingMessage]
    }

    /// Through which operation a checkpoint holds all, in which incarnation of the room.
    struct Coverage: Sendable, Equatable {
        package let number: Int64
        let incarnation: String
    }

    /// Settled operations by number.
    private(set) var outcomes: [Int64: OutboxRecord.Outcome] = [:]
    /// Number of messages stored in the journal.
    private(set) var storedCount = 0
    private var order: [MessageKey] = []
    private var pending: [MessageKey: Pending] = [:]
    /// Applied operations that no checkpoint is known to hold, in the order of their answers.
    private(set) var uncovered: [Applied] = []
    /// As it was told last.
    private(set) var covered: Coverage?
    /// A hash of every recorded message.
    private var known: [MessageKey: UInt32] = [:]

    /// An empty history.
    public init() {}

    /// Messages of unsettled operations in order of first sending.
    var unsettled: [Pending] { order.compactMap { pending[$0] } }

    /// Adds the next record.
    package mutating func append(_ record: OutboxRecord) {
        switch record {
        case .message(let number, let order, let isStroke, let bytes):
            let message = OutgoingMessage(
                number: number, order: order, isStroke: isStroke, bytes: bytes, due: .zero, isWithheld: false)
            let key = message.key
            if known.updateValue(FNV1a32.hash(bytes), forKey: key) == nil { self.order.append(key) }
            pending[key] = Pending(message: message)
        case .stored(let number, let order):
            storedCount += 1
            pending[MessageKey(number: number, order: order)]?.isStored = true
        case .settled(let number, let outcome):
            outcomes[number] = outcome
            // Its shards are all recorded by now, or are never sent.
            let orders = order.filter { $0.number == number }
            let messages = orders.compactMap { pending[$0]?.message }
            if case .applied = outcome, !messages.isEmpty {
                uncovered.append(Applied(number: number, messages: messages))
            }
            for key in orders { pending[key] = nil }
            order.removeAll { $0.number == number }
        case .covered(let number, let incarnation):
            covered = Coverage(number: number, incarnation: incarnation)
            uncovered.removeAll { $0.number <= number }
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
