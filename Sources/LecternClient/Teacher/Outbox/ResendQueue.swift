import DequeModule

/// Messages to be sent again, each once in the queue; no more than the outbox holds.
struct ResendQueue: Sendable {
    private var queue: Deque<MessageKey> = []
    /// What is in the queue, and whether it goes out even when the journal has it.
    private var waiting: [MessageKey: Bool] = [:]

    var isEmpty: Bool { queue.isEmpty }

    /// Adds a message, unless it waits here already.
    /// - Parameter isWanted: whether it goes out even when the journal has it: the room wants it once more.
    mutating func add(_ key: MessageKey, isWanted: Bool) {
        if let known = waiting[key] {
            waiting[key] = known || isWanted
        } else {
            waiting[key] = isWanted
            queue.append(key)
        }
    }

    /// The first message that still has to go out; those in front of it that have not leave the queue.
    mutating func first(in outbox: Outbox) -> OutgoingMessage? {
        while let key = queue.first {
            if let entry = outbox[key], !entry.isAcknowledged || waiting[key] == true { return entry.message }
            removeFirst()
        }
        return nil
    }

    mutating func removeFirst() {
        if let key = queue.popFirst() { waiting[key] = nil }
    }
}
