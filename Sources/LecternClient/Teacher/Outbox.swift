import DequeModule

/// The unsettled operations of a session, by number.
///
/// Bounded to 16,384 operations and 64 MiB: a full outbox delays first sends until operations are settled.
struct Outbox: Sendable {
    struct Entry: Sendable {
        let message: OutgoingMessage
        /// Number of message ids it had before.
        fileprivate(set) var generation = 0
        /// When it was sent last; nil if never in this run.
        fileprivate(set) var sentAt: Duration?
        /// Whether the journal has stored it under its present id.
        fileprivate(set) var isAcknowledged = false
        /// Whether the journal has stored it under any id.
        fileprivate(set) var isStored = false
    }

    struct Operation: Sendable {
        fileprivate(set) var entries: [Entry] = []
        /// Whether the operation was resent after the service gave it up.
        fileprivate(set) var isSecondChance = false

        var isStored: Bool { entries.allSatisfy(\.isStored) }
    }

    private(set) var operations: [Int64: Operation] = [:]
    private var bytes = 0
    private let maximumOperations: Int
    private let maximumBytes: Int

    init(maximumOperations: Int = 16_384, maximumBytes: Int = 64 << 20) {
        self.maximumOperations = maximumOperations
        self.maximumBytes = maximumBytes
    }

    var isEmpty: Bool { operations.isEmpty }

    /// The numbers of the operations, ascending.
    var numbers: [Int64] { operations.keys.sorted() }

    /// Whether a message fits. Shards of a kept operation and a message in an empty outbox always do.
    func hasRoom(for message: OutgoingMessage) -> Bool {
        isEmpty || operations[message.number] != nil
            || operations.count < maximumOperations && bytes + message.bytes.count <= maximumBytes
    }

    subscript(_ key: MessageKey) -> Entry? {
        operations[key.number]?.entries.first { $0.message.order == key.order }
    }

    /// Adds a message. A repeat changes nothing; other content for the same key gets a new id.
    /// - Parameter isStored: whether the journal has stored it.
    mutating func keep(_ message: OutgoingMessage, isStored: Bool = false) {
        var entry = Entry(message: message)
        entry.isAcknowledged = isStored
        entry.isStored = isStored
        if let known = self[message.key] {
            guard known.message.bytes != message.bytes else { return }
            entry.generation = known.generation + 1
            change(message.key) { $0 = entry }
            bytes -= known.message.bytes.count
        } else {
            operations[message.number, default: Operation()].entries.append(entry)
        }
        bytes += message.bytes.count
    }

    /// Notes that a message is sent now; an acknowledged one gets a new id.
    mutating func send(_ key: MessageKey, at now: Duration) {
        change(key) { entry in
            if entry.isAcknowledged {
                entry.isAcknowledged = false
                entry.generation += 1
            }
            entry.sentAt = now
        }
    }

    /// Notes an acknowledgement; one for an earlier id is ignored.
    /// - Returns: whether the message is newly stored.
    mutating func acknowledge(_ receipt: Receipt) -> Bool {
        var isNews = false
        change(receipt.key) { entry in
            guard entry.generation == receipt.generation, !entry.isAcknowledged else { return }
            entry.isAcknowledged = true
            isNews = !entry.isStored
            entry.isStored = true
        }
        return isNews
    }

    /// Gives a message another id, unless it is acknowledged or has one already.
    mutating func changeID(_ receipt: Receipt) {
        change(receipt.key) { entry in
            if entry.generation == receipt.generation, !entry.isAcknowledged { entry.generation += 1 }
        }
    }

    /// Removes a settled operation.
    /// - Returns: the operation, if it was there.
    mutating func remove(_ number: Int64) -> Operation? {
        guard let operation = operations.removeValue(forKey: number) else { return nil }
        bytes -= operation.entries.reduce(0) { $0 + $1.message.bytes.count }
        return operation
    }

    mutating func giveSecondChance(_ number: Int64) {
        operations[number]?.isSecondChance = true
    }

    private mutating func change(_ key: MessageKey, _ body: (inout Entry) -> Void) {
        guard let place = operations[key.number]?.entries.firstIndex(where: { $0.message.order == key.order }) else {
            return
        }
        operations[key.number]?.entries.withElement(place, body)
    }
}

extension [Outbox.Entry] {
    fileprivate mutating func withElement(_ place: Int, _ body: (inout Outbox.Entry) -> Void) {
        body(&self[place])
    }
}

/// Messages to resend, each once; bounded by the outbox.
struct ResendQueue: Sendable {
    private var queue: Deque<MessageKey> = []
    /// The queued messages, and whether each is resent even when the journal has stored it.
    private var waiting: [MessageKey: Bool] = [:]

    var isEmpty: Bool { queue.isEmpty }

    /// Adds a message, unless it is queued.
    /// - Parameter isWanted: whether it is resent even when the journal has stored it, because the room requests it.
    mutating func add(_ key: MessageKey, isWanted: Bool) {
        if let known = waiting[key] {
            waiting[key] = known || isWanted
        } else {
            waiting[key] = isWanted
            queue.append(key)
        }
    }

    /// The first message that needs resending; removes those before it that do not.
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
