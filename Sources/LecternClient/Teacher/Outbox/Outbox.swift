/// What was sent, or is to be sent again, and is not settled yet: by the number of the operation.
///
/// Bounded: at 16,384 operations or 64 MiB it is full, and nothing new is sent until something is settled.
struct Outbox: Sendable {
    struct Entry: Sendable {
        let message: OutgoingMessage
        /// How many message ids it was sent under before.
        fileprivate(set) var generation = 0
        /// When it was sent last; nil when it never was, or not since the publisher was started again.
        fileprivate(set) var sentAt: Duration?
        /// Whether the journal has it, under the present id.
        fileprivate(set) var isAcknowledged = false
        /// Whether the journal has it, under any id.
        fileprivate(set) var isStored = false
    }

    struct Operation: Sendable {
        fileprivate(set) var entries: [Entry] = []
        /// Whether the operation was given up and has been sent again since.
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

    /// The numbers of what is kept, in order.
    var numbers: [Int64] { operations.keys.sorted() }

    /// Whether there is room for a message; for more of an operation that is kept already, and for any single one,
    /// there always is.
    func hasRoom(for message: OutgoingMessage) -> Bool {
        isEmpty || operations[message.number] != nil
            || operations.count < maximumOperations && bytes + message.bytes.count <= maximumBytes
    }

    subscript(_ key: MessageKey) -> Entry? {
        operations[key.number]?.entries.first { $0.message.order == key.order }
    }

    /// Keeps a message. One that is kept already stays as it is; another one in its place gets a new id.
    /// - Parameter isStored: whether the journal is known to have it.
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

    /// Notes that a message goes out now; one that the journal has goes out under a new id.
    mutating func send(_ key: MessageKey, at now: Duration) {
        change(key) { entry in
            if entry.isAcknowledged {
                entry.isAcknowledged = false
                entry.generation += 1
            }
            entry.sentAt = now
        }
    }

    /// Notes that the journal has a message.
    /// - Returns: whether that is news; not for an id it no longer goes out under.
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

    /// Forgets an operation that is settled.
    /// - Returns: what it was, if it was there.
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
