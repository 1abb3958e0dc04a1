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
        /// Whether the room has applied it before, and may have lost it.
        fileprivate(set) var wasApplied = false

        var isStored: Bool { entries.allSatisfy { $0.isStored } }
        var byteCount: Int { entries.reduce(0) { $0 + $1.message.bytes.count } }
    }

    private(set) var operations: [Int64: Operation] = [:]
    private var bytes = 0
    private let maximumOperations: Int
    private let maximumBytes: Int

    init(maximumOperations: Int = 16_384, maximumBytes: Int = 64 << 20) {
        (self.maximumOperations, self.maximumBytes) = (maximumOperations, maximumBytes)
    }

    var isEmpty: Bool { operations.isEmpty }

    /// The numbers of the operations, ascending.
    var numbers: [Int64] { operations.keys.sorted() }

    /// Those of the numbers that are meant, ascending.
    func numbers(where isMeant: (Int64) -> Bool) -> [Int64] { operations.keys.filter(isMeant).sorted() }

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
        bytes -= operation.byteCount
        return operation
    }

    /// Takes back an operation that the room has applied and may have lost, under new message ids.
    mutating func takeBack(_ operation: Operation, _ number: Int64) {
        var operation = operation
        operation.wasApplied = true
        for place in operation.entries.indices {
            operation.entries[place].isAcknowledged = false
            operation.entries[place].generation += 1
        }
        operations[number] = operation
        bytes += operation.byteCount
    }

    mutating func giveSecondChance(_ number: Int64) { operations[number]?.isSecondChance = true }

    private mutating func change(_ key: MessageKey, _ body: (inout Entry) -> Void) {
        guard let place = operations[key.number]?.entries.firstIndex(where: { $0.message.order == key.order }) else {
            return
        }
        body(&operations[key.number, default: Operation()].entries[place])
    }
}

/// Operations that the room has applied and that no checkpoint holds yet: a log that loses its end loses them.
///
/// Bounded to 10,000 operations and 32 MiB; beyond, the oldest are forgotten.
struct UncoveredOperations: Sendable {
    private var kept: Deque<(number: Int64, operation: Outbox.Operation)> = []
    private var bytes = 0
    /// The room's incarnation, as it was told last.
    private var incarnation: String?
    private let maximumOperations: Int
    private let maximumBytes: Int

    init(maximumOperations: Int = 10_000, maximumBytes: Int = 32 << 20) {
        (self.maximumOperations, self.maximumBytes) = (maximumOperations, maximumBytes)
    }

    /// The operations of earlier runs.
    init(_ history: OutboxHistory) {
        self.init()
        for applied in history.uncovered {
            var outbox = Outbox()
            for message in applied.messages { outbox.keep(message, isStored: true) }
            if let operation = outbox.remove(applied.number) { keep(applied.number, operation) }
        }
        if let covered = history.covered { _ = cover(through: covered.number, in: covered.incarnation) }
    }

    /// Keeps an operation that was applied.
    mutating func keep(_ number: Int64, _ operation: Outbox.Operation) {
        kept.append((number, operation))
        bytes += operation.byteCount
        while kept.count > maximumOperations || bytes > maximumBytes { removeFirst() }
    }

    /// Forgets what a checkpoint holds.
    /// - Returns: what is left, if it is to be given again: the room is in another incarnation, which may have lost it.
    mutating func cover(through number: Int64, in incarnation: String) -> [(number: Int64, operation: Outbox.Operation)]
    {
        kept.removeAll { $0.number <= number }
        bytes = kept.reduce(0) { $0 + $1.operation.byteCount }
        defer { self.incarnation = incarnation }
        guard let known = self.incarnation, known != incarnation else { return [] }
        return take { _ in true }
    }

    /// Takes out operations that the room says it misses.
    mutating func take(where isMissing: (Int64) -> Bool) -> [(number: Int64, operation: Outbox.Operation)] {
        let taken = kept.filter { isMissing($0.number) }
        guard !taken.isEmpty else { return [] }
        kept.removeAll { isMissing($0.number) }
        bytes -= taken.reduce(0) { $0 + $1.operation.byteCount }
        return Array(taken)
    }

    private mutating func removeFirst() { bytes -= kept.removeFirst().operation.byteCount }
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
