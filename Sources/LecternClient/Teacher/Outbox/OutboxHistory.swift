internal import StrokeWire

/// What earlier runs of a publisher did: the fold of its outbox file.
public struct OutboxHistory: Sendable, Equatable {
    /// A message that was recorded, in the order in which it was.
    struct Pending: Sendable, Equatable {
        let message: OutgoingMessage
        var isStored = false
    }

    /// What became of operations.
    private(set) var outcomes: [Int64: OutboxRecord.Outcome] = [:]
    /// Messages of which the journal was known to have them.
    private(set) var storedCount = 0
    private var order: [MessageKey] = []
    private var pending: [MessageKey: Pending] = [:]
    /// A hash of each message that was ever recorded.
    private var known: [MessageKey: UInt32] = [:]

    /// Nothing was done yet.
    public init() {}

    /// Messages of operations that are not settled, in the order in which they were first sent.
    var unsettled: [Pending] { order.compactMap { pending[$0] } }

    /// Takes the next record.
    mutating func append(_ record: OutboxRecord) {
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
            // All its shards went out before it could be settled, or never will.
            let orders = order.filter { $0.number == number }
            for key in orders { pending[key] = nil }
            order.removeAll { $0.number == number }
        }
    }

    /// What of a plan was not recorded yet, the first of it due at once.
    ///
    /// - Throws: the number of an operation that was recorded with another message.
    func rest(of plan: PublishPlan) throws(OtherLesson) -> [OutgoingMessage] {
        var rest: [OutgoingMessage] = []
        for message in plan.messages {
            switch known[message.key] {
            case nil: if outcomes[message.number] == nil { rest.append(message) }
            case FNV1a32.hash(message.bytes)?: continue
            default: throw OtherLesson(number: message.number)
            }
        }
        guard !known.isEmpty, let start = rest.first?.due else { return rest }
        return rest.map { message in
            var message = message
            message.due = max(.zero, message.due - start)
            return message
        }
    }

    /// An operation of a plan is not the one that was recorded under its number.
    struct OtherLesson: Error, Equatable {
        let number: Int64
    }
}
