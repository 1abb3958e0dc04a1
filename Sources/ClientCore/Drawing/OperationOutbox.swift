internal import StrokeWire

/// A record of an outbox, as a shell stores it under its key.
public struct StoredOperation: Sendable, Equatable {
    public let key: OperationKey
    /// The first line says how far it is: `w` waits, `a` was applied, with the room's incarnation behind a blank where that is
    /// known. Each further line is a message.
    public let bytes: [UInt8]

    public init(_ key: OperationKey, bytes: [UInt8]) {
        (self.key, self.bytes) = (key, bytes)
    }
}

/// What a shell has to store, all or nothing.
public struct OutboxWrite: Sendable, Equatable {
    /// For ``DrawingSession/stored(_:isKept:at:)``.
    public let id: Int
    /// Records that are new, or replace those of the same key.
    public let records: [StoredOperation]
    /// Keys of records that are to be deleted.
    public let deleted: [OperationKey]
}

/// What a teacher has drawn and the room has not answered for yet, or no checkpoint of the room holds.
///
/// Each run numbers in a session of its own, for it cannot know for certain what an earlier one has given numbers to. What
/// that one has left goes out first, under the numbers that it has, so that the room knows it again.
///
/// It is not the `Outbox` of a ``TeacherSession``: that one has the messages of one session, each with the acknowledgements
/// of JetStream; here the answers are for operations, of several sessions.
struct OperationOutbox: Sendable {
    enum Progress: Sendable, Equatable {
        case waits
        /// In this incarnation of the room; nil while that is not known.
        case applied(in: String?)
    }

    struct Entry: Sendable {
        var key: OperationKey
        /// One, or the shards of a stroke.
        var messages: [[UInt8]]
        /// Of the first message; nil where it is none.
        let header: StrokeMessage?
        var progress = Progress.waits
        /// Whether the board shows it.
        var isSeen = false
        /// Names it among all that the board has above the room's entries.
        var id: UInt64
        /// Changes with what is to be stored.
        fileprivate var revision = 0
        fileprivate var keptRevision = -1
        /// What the shell could not store.
        fileprivate var failedRevision = -1
        /// When it may be sent although the shell has not said yet that it is stored.
        fileprivate var sendableAt = Duration.zero

        /// Of its messages.
        var byteCount: Int { messages.reduce(0) { $0 + $1.count } }
        fileprivate var isKept: Bool { keptRevision == revision }
        fileprivate var hasFailed: Bool { failedRevision == revision }
    }

    /// A record of a write under way.
    private struct WrittenRecord: Sendable {
        let revision: Int
        /// Whether the shell has none under this key yet.
        let isNew: Bool

        init(_ entry: Entry) { (revision, isNew) = (entry.revision, entry.keptRevision < 0) }
    }

    /// Operations that wait at most, and their bytes; beyond, nothing new is taken.
    static let waitingLimits = (operations: 16_384, bytes: 64 << 20)
    /// What was applied and no checkpoint holds is kept up to so much; beyond, the oldest is forgotten.
    static let uncoveredLimits = (operations: 10_000, bytes: 32 << 20)
    /// How long the shell may take to store an operation until that is sent all the same.
    private static let storingTime = Duration.seconds(1)

    /// The session in which this run numbers.
    private(set) var session = ""
    /// The number of the next operation.
    private(set) var next: Int64 = 1
    /// Whether the shell keeps all that waits.
    private(set) var isKept = false
    /// What waits, in the order in which it is sent: one session after the other.
    private(set) var waiting = OperationList()
    /// What the room has applied and no checkpoint is known to hold.
    private(set) var uncovered = OperationList()
    /// The room's incarnation; nil while it is not known.
    private var room: String?
    private var lastID: UInt64 = 0
    /// What the shell has and is to delete.
    private var deleted: Set<OperationKey> = []
    private var isWriteWanted = false
    /// Whether the shell could not store the last write. Until it can, writes have only what is new.
    private var isFailing = false
    /// The write under way, with the revisions of its records.
    private var write: (id: Int, records: [OperationKey: WrittenRecord], deleted: [OperationKey])?
    private var lastWrite = 0

    /// Whether it takes no more.
    var isFull: Bool { !takes(1) }

    /// Whether it takes so many operations more.
    func takes(_ count: Int) -> Bool {
        waiting.byteCount <= Self.waitingLimits.bytes && waiting.count + count <= Self.waitingLimits.operations
    }

    // MARK: - Sessions

    /// Takes what earlier runs have left, and begins a session.
    /// - Parameter records: all that the shell has stored; nil where it cannot read them.
    mutating func open(_ records: [StoredOperation]?, session: String) {
        var entries: [OperationKey: Entry] = [:]
        let known = waiting.entries + uncovered.entries
        if let records {
            isFailing = false
            // What is not stored yet is here alone. What was stored and is no more, another run has sent.
            for entry in known where !entry.isKept { entries[entry.key] = entry }
            for record in records where entries[record.key] == nil && !deleted.contains(record.key) {
                guard var entry = Entry(record, id: makeID()) else { continue }
                if let own = waiting[record.key] ?? uncovered[record.key] {
                    (entry.id, entry.isSeen) = (own.id, own.isSeen)
                }
                entries[record.key] = entry
            }
        } else {
            for entry in known { entries[entry.key] = entry }
        }
        take(Array(entries.values))
        isKept = records != nil && entries.values.allSatisfy { $0.isKept }
        isWriteWanted = !isKept && !entries.isEmpty
        begin(session)
    }

    /// Begins a session; what waits is numbered anew, in its order. None of it may be in the room: it would be there twice.
    /// - Parameter isLeft: whether its messages say that another device has taken over.
    mutating func renumberAll(session: String, isLeft: Bool, at now: Duration) {
        let old = waiting.entries
        waiting = OperationList()
        begin(session)
        delete(old)
        for entry in old { insert(renumbered(entry, isLeft: isLeft), at: now) }
        isWriteWanted = true
    }

    /// Begins a session; what waits goes out first, under the numbers that it has.
    mutating func begin(_ session: String) {
        (self.session, next) = (session, 1)
    }

    // MARK: - Operations

    /// Adds an operation under the next number.
    /// - Parameter messages: with that number.
    mutating func add(_ messages: [[UInt8]], _ header: StrokeMessage, at now: Duration) {
        let key = OperationKey(session: session, number: next)
        next += 1
        insert(Entry(key: key, messages: messages, header: header, id: makeID()), at: now)
    }

    /// Puts an operation behind all others, under a new number: the room has settled its old one.
    mutating func renumber(_ key: OperationKey, at now: Duration) {
        guard let entry = waiting.remove(key) else { return }
        delete([entry])
        insert(renumbered(entry, isLeft: nil), at: now)
    }

    /// Whether what is sent first is of an earlier session than new operations.
    var hasEarlierSession: Bool { waiting.entries.first.map { $0.key.session != session } ?? false }

    private mutating func renumbered(_ entry: Entry, isLeft: Bool?) -> Entry {
        let key = OperationKey(session: session, number: next)
        next += 1
        let messages = entry.messages.compactMap { StrokeMessage.renumbered($0, key.number, isLeft: isLeft) }
        var header = entry.header
        header?.number = key.number
        return Entry(key: key, messages: messages, header: header, isSeen: entry.isSeen, id: entry.id)
    }

    private mutating func insert(_ entry: Entry, at now: Duration) {
        var entry = entry
        entry.sendableAt = now + Self.storingTime
        waiting.insert(entry)
        isWriteWanted = true
    }

    /// Removes an operation that the room has refused.
    mutating func remove(_ key: OperationKey) -> Entry? {
        guard let entry = waiting.remove(key) else { return nil }
        delete([entry])
        return entry
    }

    /// The room has applied an operation: it does not wait, but is kept for a log that loses its end.
    mutating func applied(_ key: OperationKey) -> Entry? {
        guard var entry = waiting.remove(key) else { return nil }
        entry.progress = .applied(in: room)
        entry.revision += 1
        uncovered.insert(entry)
        while uncovered.count > Self.uncoveredLimits.operations || uncovered.byteCount > Self.uncoveredLimits.bytes {
            delete([uncovered.removeFirst()])
        }
        isWriteWanted = true
        return entry
    }

    /// A checkpoint holds an author's operations through this one, and with them those of earlier sessions.
    mutating func cover(_ key: OperationKey) {
        guard key.session == session || uncovered.entries.contains(where: { $0.key.session == key.session }) else {
            return
        }
        delete(uncovered.removeAll { $0.key <= key })
    }

    /// The room has this incarnation; "" while nobody has written to it.
    ///
    /// In one that the room was restored to after its log had lost its end, what was applied before waits again, under the same
    /// numbers: what the room has, it answers again. In any other it is forgotten: the room was closed.
    /// - Returns: whether something waits again.
    mutating func follow(_ incarnation: String) -> Bool {
        room = incarnation.isEmpty ? nil : incarnation
        var hasAgain = false
        for entry in uncovered.removeAll(where: { _ in true }) {
            var entry = entry
            guard case .applied(let before) = entry.progress, before != room else {
                uncovered.insert(entry)
                continue
            }
            entry.revision += 1
            isWriteWanted = true
            if Incarnation.isRestored(incarnation, from: before) {
                // The board shows it when the room has it.
                (entry.progress, entry.isSeen) = (.waits, true)
                waiting.insert(entry)
                hasAgain = true
            } else if before != nil {
                delete([entry])
            } else {
                entry.progress = .applied(in: room)
                uncovered.insert(entry)
            }
        }
        return hasAgain
    }

    /// The board shows an operation that waits.
    mutating func see(_ key: OperationKey) {
        waiting.change(key) { $0.isSeen = true }
    }

    /// Whether an operation may be sent: it is stored, or that takes too long.
    func isSendable(_ entry: Entry, at now: Duration) -> Bool { entry.sendableAt <= now }

    /// When the first operation may be sent, unless the shell has stored it before; nil where none waits.
    var sendableAt: Duration? { waiting.entries.first?.sendableAt }

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    private mutating func take(_ entries: [Entry]) {
        waiting = OperationList(entries.filter { $0.progress == .waits })
        uncovered = OperationList(entries.filter { $0.progress != .waits })
    }

    // MARK: - Storage

    /// Has the shell delete records that it has, or is storing.
    private mutating func delete(_ entries: [Entry]) {
        for entry in entries where entry.keptRevision >= 0 || write?.records[entry.key] != nil {
            deleted.insert(entry.key)
        }
        if !entries.isEmpty { isWriteWanted = true }
    }

    /// What the shell has to store now; nil where it is storing, or has all.
    mutating func takeWrite() -> OutboxWrite? {
        guard isWriteWanted, write == nil, !session.isEmpty else { return nil }
        isWriteWanted = false
        let isMeant = { [isFailing] (entry: Entry) in !entry.isKept && !(isFailing && entry.hasFailed) }
        let entries = uncovered.entries.filter(isMeant) + waiting.entries.filter(isMeant)
        lastWrite += 1
        // One that was taken again under its key is not to go.
        for entry in entries { deleted.remove(entry.key) }
        // The same calls have the same answers.
        let gone = deleted.sorted()
        deleted = []
        write = (lastWrite, Dictionary(minimumCapacity: entries.count), gone)
        for entry in entries { write?.records[entry.key] = WrittenRecord(entry) }
        return OutboxWrite(
            id: lastWrite, records: entries.map { StoredOperation($0.key, bytes: $0.record) }, deleted: gone)
    }

    /// The shell has stored a write, or cannot: then what is new is here alone. A later write that is stored shows that the
    /// shell can again, and one with all the rest follows it.
    mutating func stored(_ id: Int, isKept: Bool) {
        guard let write, write.id == id else { return }
        (self.write, self.isKept) = (nil, isKept && !isFailing)
        if isKept, isFailing { isWriteWanted = true }
        isFailing = !isKept
        for (key, record) in write.records {
            let note = { (entry: inout Entry) in
                if isKept { entry.keptRevision = record.revision } else { entry.failedRevision = record.revision }
                entry.sendableAt = .zero
            }
            waiting.change(key, note)
            uncovered.change(key, note)
            if !isKept, record.isNew { deleted.remove(key) }
        }
        guard !isKept else { return }
        for key in write.deleted where waiting[key] == nil && uncovered[key] == nil { deleted.insert(key) }
    }
}

extension OperationOutbox.Entry {
    /// An entry of a record; nil where it is none.
    fileprivate init?(_ record: StoredOperation, id: UInt64) {
        var lines = record.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)[...]
        guard let state = lines.popFirst(), !lines.isEmpty else { return nil }
        key = record.key
        messages = lines.map { Array($0) }
        header = try? StrokeMessage(decoding: messages[0], limits: .any)
        switch state.first {
        case UInt8(ascii: "w"): progress = .waits
        case UInt8(ascii: "a"):
            let incarnation = state.dropFirst(2)
            progress = .applied(in: incarnation.isEmpty ? nil : String(decoding: incarnation, as: UTF8.self))
        default: return nil
        }
        self.id = id
        keptRevision = revision
    }

    fileprivate var record: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount + messages.count + 40)
        switch progress {
        case .waits: bytes.append(UInt8(ascii: "w"))
        case .applied(let incarnation):
            bytes.append(UInt8(ascii: "a"))
            if let incarnation {
                bytes.append(UInt8(ascii: " "))
                bytes.append(contentsOf: incarnation.utf8)
            }
        }
        for message in messages {
            bytes.append(UInt8(ascii: "\n"))
            bytes.append(contentsOf: message)
        }
        return bytes
    }

    /// The operation in one message, as it is drawn.
    var wholeMessage: [UInt8] {
        guard messages.count > 1, var header else { return messages.first ?? [] }
        let interiors = messages.map { message in
            let points = (try? StrokeMessage(decoding: message, limits: .any))?.points ?? .empty
            return message[points.interior]
        }
        (header.shardCount, header.shardOrder) = (0, 0)
        return header.encoded(interior: ShardJoiner.join(interiors)[...])
    }

    /// Whether a message that the room has is this operation.
    func isSame(_ message: StrokeMessage, _ bytes: [UInt8]) -> Bool {
        guard let header, key.number == message.number, header.action == message.action,
            header.element == message.element, header.time == message.time, header.page == message.page,
            Self.isSame(header.content, message.content),
            messages.count > 1 || header.points.count == message.points.count
        else { return false }
        guard header.action == .draw else { return true }
        guard let first = firstPoint(of: messages[0], header), let other = firstPoint(of: bytes, message) else {
            return false
        }
        return first.x == other.x && first.y == other.y
    }

    private static func isSame(_ own: MessageContent?, _ content: MessageContent?) -> Bool {
        // The room has passed over some of what a removal names.
        if case .indices(let named)? = own, case .indices(let removed)? = content {
            return Set(named).isSuperset(of: removed)
        }
        return own == content
    }

    private func firstPoint(of bytes: [UInt8], _ header: StrokeMessage) -> StrokePoint? {
        header.decodePoints(of: bytes).first
    }
}
