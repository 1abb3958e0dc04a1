internal import StrokeWire

/// What a teacher has drawn or published and the room has not answered for yet, or no checkpoint of the room holds.
///
/// It numbers what is drawn; a plan has its numbers. Each run that draws numbers in a session of its own, for it cannot know
/// for certain what an earlier one has given numbers to. What that one has left goes out first, under the numbers that it has,
/// so that the room knows it again.
///
/// How messages reach the room is for its users: ``StrokeSender`` sends operations in batches, each with an answer;
/// ``TeacherSession`` sends each message by itself, and a journal acknowledges it.
struct Outbox: Sendable, Equatable {
    /// How many operations are kept, and how many bytes of them.
    struct Limits: Sendable, Equatable {
        var operations: Int
        var bytes: Int

        /// Of what waits; beyond, nothing new is taken.
        static let waiting = Limits(operations: 16_384, bytes: 64 << 20)
        /// Of what was applied and no checkpoint holds; beyond, the first is forgotten.
        static let uncovered = Limits(operations: 10_000, bytes: 32 << 20)
    }

    /// A write under way.
    private struct Write: Sendable, Equatable {
        struct Record: Sendable, Equatable {
            let revision: Int
            /// Whether the shell has none under this key yet.
            let isNew: Bool

            init(_ operation: Operation) {
                (revision, isNew) = (operation.revision, operation.keptRevision < 0)
            }
        }

        let id: Int
        let records: [OperationKey: Record]
        let deleted: [OperationKey]
    }

    /// How long the shell may take to store an operation until that is sent all the same.
    private static let storingTime = Duration.seconds(1)

    /// The session in which this run numbers.
    private(set) var session: String
    /// The number of the next operation.
    private(set) var next: Int64 = 1
    /// Whether the shell keeps all that waits.
    private(set) var isKept = false
    /// What waits, in the order in which it is sent: one session after the other.
    private(set) var waiting = OperationList()
    /// What the room has applied and no checkpoint is known to hold.
    private(set) var uncovered = OperationList()
    /// The room's incarnation, as it was told last; nil while it is not known.
    private(set) var room: String?
    private let limits: Limits
    private var lastID: UInt64 = 0
    /// What the shell has and is to delete.
    private var deleted: Set<OperationKey> = []
    private var isWriteWanted = false
    /// Whether the shell could not store the last write. Until it can, writes have only what is new.
    private var isFailing = false
    private var write: Write?
    private var lastWrite = 0

    /// - Parameter session: "" for none yet: nothing is to be stored before ``open(_:session:)``.
    init(session: String = "", limits: Limits = .waiting) { (self.session, self.limits) = (session, limits) }

    /// Whether it takes no more.
    var isFull: Bool { !takes(1) }

    /// Whether it takes so many operations more, of so many bytes. An empty one takes any number of bytes.
    func takes(_ count: Int, bytes: Int = 0) -> Bool {
        waiting.count + count <= limits.operations && (waiting.isEmpty || waiting.byteCount + bytes <= limits.bytes)
    }

    // MARK: - Sessions

    /// Takes what earlier runs have left, and begins a session.
    /// - Parameter records: all that the shell has stored; nil where it cannot read them.
    mutating func open(_ records: [StoredOperation]?, session: String) {
        var operations: [OperationKey: Operation] = [:]
        let known = Array(waiting) + uncovered
        if let records {
            isFailing = false
            // What is not stored yet is here alone. What was stored and is no more, another run has sent.
            for operation in known where !operation.isKept { operations[operation.key] = operation }
            for record in records where operations[record.key] == nil && !deleted.contains(record.key) {
                guard var operation = Operation(record, id: makeID()) else { continue }
                if let own = waiting[record.key] ?? uncovered[record.key] {
                    (operation.id, operation.wasApplied) = (own.id, own.wasApplied)
                }
                operations[record.key] = operation
            }
        } else {
            for operation in known { operations[operation.key] = operation }
        }
        waiting = OperationList(operations.values.filter { $0.progress == .waits })
        uncovered = OperationList(operations.values.filter { $0.progress != .waits })
        isKept = records != nil && operations.values.allSatisfy { $0.isKept }
        isWriteWanted = !isKept && !operations.isEmpty
        begin(session)
    }

    /// Begins a session; what waits is numbered anew, in its order. None of it may be in the room: it would be there twice.
    /// - Parameter isLeft: whether its messages say that another device has taken over.
    mutating func renumberAll(session: String, isLeft: Bool, at now: Duration) {
        let old = waiting
        waiting = OperationList()
        begin(session)
        delete(old)
        for operation in old { insert(renumbered(operation, isLeft: isLeft), at: now) }
        isWriteWanted = true
    }

    /// Begins a session; what waits goes out first, under the numbers that it has.
    mutating func begin(_ session: String) {
        (self.session, next) = (session, 1)
    }

    // MARK: - Operations

    /// The name of an operation of this run's session.
    func key(_ number: Int64) -> OperationKey { OperationKey(session: session, number: number) }

    /// Adds an operation under the next number.
    /// - Parameter messages: with that number.
    mutating func add(_ messages: [[UInt8]], _ header: StrokeMessage, at now: Duration) {
        let key = key(next)
        next += 1
        insert(Operation(key, messages, header, id: makeID()), at: now)
    }

    /// Puts an operation behind all others, under a new number: the room has settled its old one.
    mutating func renumber(_ key: OperationKey, at now: Duration) {
        guard let operation = remove(key) else { return }
        insert(renumbered(operation, isLeft: nil), at: now)
    }

    /// Whether what is sent first is of an earlier session than new operations.
    var hasEarlierSession: Bool { waiting.first.map { $0.key.session != session } ?? false }

    private mutating func renumbered(_ operation: Operation, isLeft: Bool?) -> Operation {
        let key = key(next)
        next += 1
        let messages = operation.messages.compactMap {
            StrokeMessage.renumbered($0.bytes, key.number, isLeft: isLeft)
        }
        var header = operation.header
        header?.number = key.number
        var renumbered = Operation(key, messages, header, id: operation.id)
        renumbered.wasApplied = operation.wasApplied
        return renumbered
    }

    private mutating func insert(_ operation: Operation, at now: Duration) {
        var operation = operation
        operation.sendableAt = now + Self.storingTime
        waiting.insert(operation)
        isWriteWanted = true
    }

    /// Removes an operation that the room has refused or given up.
    mutating func remove(_ key: OperationKey) -> Operation? {
        guard let operation = waiting.remove(key) else { return nil }
        delete([operation])
        return operation
    }

    /// The room has applied an operation: it does not wait, but is kept for a log that loses its end.
    /// - Parameter incarnation: of the room then; nil where that is not known.
    mutating func applied(_ key: OperationKey, in incarnation: String?) -> Operation? {
        guard var operation = waiting.remove(key) else { return nil }
        operation.become(.applied(in: incarnation))
        uncovered.insert(operation)
        while uncovered.count > Limits.uncovered.operations || uncovered.byteCount > Limits.uncovered.bytes {
            delete([uncovered.removeFirst()])
        }
        isWriteWanted = true
        return operation
    }

    /// A checkpoint holds an author's operations through this one, and with them those of earlier sessions.
    mutating func cover(_ key: OperationKey) {
        guard key.session == session || uncovered.contains(where: { $0.key.session == key.session }) else { return }
        delete(uncovered.removeAll { $0.key <= key })
    }

    /// The room has this incarnation; "" while nobody has written to it.
    ///
    /// In one that the room was restored to after its log had lost its end, what was applied before waits again, under the same
    /// numbers: what the room has, it answers again. In any other it is forgotten: the room was closed.
    /// - Returns: what waits again.
    @discardableResult
    mutating func follow(_ incarnation: String) -> [OperationKey] {
        let (before, room) = (self.room, incarnation.isEmpty ? nil : incarnation)
        self.room = room
        var again: [Operation] = []
        for var operation in uncovered.removeAll(where: { $0.progress != .applied(in: room) }) {
            guard case .applied(let told) = operation.progress else { continue }
            isWriteWanted = true
            let known = told ?? before
            if known != room, Incarnation.isRestored(incarnation, from: known) {
                again.append(operation)
            } else if told == nil {
                operation.become(.applied(in: room))
                uncovered.insert(operation)
            } else {
                delete([operation])
            }
        }
        return waitAgain(again)
    }

    /// The room misses what it has applied: that waits again.
    mutating func giveAgain(where isMissing: (Operation) -> Bool) -> [OperationKey] {
        waitAgain(uncovered.removeAll(where: isMissing))
    }

    /// Under the same numbers and new message ids.
    private mutating func waitAgain(_ operations: [Operation]) -> [OperationKey] {
        for var operation in operations {
            operation.become(.waits)
            // The board shows it when the room has it.
            operation.wasApplied = true
            for place in operation.messages.indices {
                operation.messages[place].isAcknowledged = false
                operation.messages[place].generation += 1
            }
            waiting.insert(operation)
            isWriteWanted = true
        }
        return operations.map { $0.key }
    }

    /// The board shows an operation that waits.
    mutating func see(_ key: OperationKey) {
        waiting.change(key) { $0.wasApplied = true }
    }

    /// Whether an operation may be sent: it is stored, or that takes too long.
    func isSendable(_ operation: Operation, at now: Duration) -> Bool { operation.sendableAt <= now }

    /// When the first operation may be sent, unless the shell has stored it before; nil where none waits.
    var sendableAt: Duration? { waiting.first?.sendableAt }

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    // MARK: - Messages that are sent one by one

    /// An operation of this run's session that waits.
    subscript(_ number: Int64) -> Operation? { waiting[key(number)] }

    subscript(_ key: MessageKey) -> Message? { self[key.number]?.messages.first { $0.order == key.order } }

    /// Whether a message fits; one of an operation that waits always does.
    func takes(_ message: OutgoingMessage) -> Bool {
        self[message.number] != nil || takes(1, bytes: message.bytes.count)
    }

    /// Adds a message under its number, to those of the operation.
    mutating func keep(_ message: OutgoingMessage, at now: Duration) {
        let key = key(message.number)
        var operation =
            waiting.remove(key)
            ?? Operation(key, [], try? StrokeMessage(decoding: message.bytes, limits: .any), id: makeID())
        operation.keep(Message(message.bytes, order: message.order))
        insert(operation, at: now)
    }

    /// Changes a message that waits.
    mutating func change(_ key: MessageKey, _ body: (inout Message) -> Void) {
        waiting.change(self.key(key.number)) { operation in
            guard let place = operation.messages.firstIndex(where: { $0.order == key.order }) else { return }
            body(&operation.messages[place])
        }
    }

    // MARK: - Storage

    /// Has the shell delete records that it has, or is storing.
    private mutating func delete(_ operations: some Sequence<Operation>) {
        for operation in operations {
            if operation.keptRevision >= 0 || write?.records[operation.key] != nil { deleted.insert(operation.key) }
            isWriteWanted = true
        }
    }

    /// What the shell has to store now; nil where it is storing, or has all.
    mutating func takeWrite() -> OutboxWrite? {
        guard isWriteWanted, write == nil, !session.isEmpty else { return nil }
        isWriteWanted = false
        let isMeant = { [isFailing] (operation: Operation) in
            !operation.isKept && !(isFailing && operation.hasFailed)
        }
        let operations = uncovered.filter(isMeant) + waiting.filter(isMeant)
        lastWrite += 1
        // One that was taken again under its key is not to go.
        for operation in operations { deleted.remove(operation.key) }
        // The same calls have the same answers.
        let gone = deleted.sorted()
        deleted = []
        var records: [OperationKey: Write.Record] = Dictionary(minimumCapacity: operations.count)
        for operation in operations { records[operation.key] = Write.Record(operation) }
        write = Write(id: lastWrite, records: records, deleted: gone)
        return OutboxWrite(
            id: lastWrite, records: operations.map { StoredOperation($0.key, bytes: $0.record) }, deleted: gone)
    }

    /// The shell has stored a write, or cannot: then what is new is here alone. A later write that is stored shows that the
    /// shell can again, and one with all the rest follows it.
    mutating func stored(_ id: Int, isKept: Bool) {
        guard let write, write.id == id else { return }
        (self.write, self.isKept) = (nil, isKept && !isFailing)
        if isKept, isFailing { isWriteWanted = true }
        isFailing = !isKept
        for (key, record) in write.records {
            let note = { (operation: inout Operation) in
                operation.noteStored(record.revision, isKept: isKept)
            }
            waiting.change(key, note)
            uncovered.change(key, note)
            if !isKept, record.isNew { deleted.remove(key) }
        }
        guard !isKept else { return }
        for key in write.deleted where waiting[key] == nil && uncovered[key] == nil { deleted.insert(key) }
    }
}
