import DequeModule

/// Messages to be sent again, each once in the queue; no more than the outbox holds.
struct ResendQueue: Sendable {
    private struct Entry: Hashable {
        let number: Int64
        let order: Int
    }

    private var queue: Deque<(entry: Entry, attempt: Int)> = []
    private var waiting: Set<Entry> = []

    var isEmpty: Bool { queue.isEmpty }

    /// Adds a message, unless it waits here already.
    /// - Parameter attempt: 0 for what the service asked for; else part of the message id.
    mutating func add(_ message: OutgoingMessage, attempt: Int) {
        let entry = Entry(number: message.number, order: message.order)
        if waiting.insert(entry).inserted { queue.append((entry, attempt)) }
    }

    /// The first message that is not answered yet; the answered ones in front of it leave the queue.
    mutating func first(in outbox: Outbox) -> (message: OutgoingMessage, attempt: Int)? {
        while let (entry, attempt) = queue.first {
            if let message = outbox.message(entry.number, order: entry.order) { return (message, attempt) }
            removeFirst()
        }
        return nil
    }

    mutating func removeFirst() {
        if let (entry, _) = queue.popFirst() { waiting.remove(entry) }
    }
}
