import DequeModule
internal import StrokeWire

/// The name of an operation of an author: its session, and its number there.
public struct OperationKey: Sendable, Hashable, Comparable {
    public let session: String
    public let number: Int64

    public init(session: String, number: Int64) {
        (self.session, self.number) = (session, number)
    }

    /// Sessions in the order in which they began: their names begin with the time.
    public static func < (one: OperationKey, other: OperationKey) -> Bool {
        if one.session == other.session { return one.number < other.number }
        return one.session.utf8.lexicographicallyPrecedes(other.session.utf8)
    }
}

extension Outbox {
    /// An operation of an author.
    struct Operation: Sendable, Equatable {
        enum Progress: Sendable, Equatable {
            case waits
            /// In this incarnation of the room; nil while that is not known.
            case applied(in: String?)
        }

        let key: OperationKey
        /// One, or the shards of a stroke.
        var messages: [Message]
        /// Of the first message; nil where it is none.
        let header: StrokeMessage?
        private(set) var progress = Progress.waits
        /// Whether the room is known to have applied it: its board shows it, or has lost it since.
        var wasApplied = false
        /// Names it among all that the board has above the room's entries.
        var id: UInt64
        /// Changes with what is to be stored.
        private(set) var revision = 0
        private(set) var keptRevision = -1
        /// What the shell could not store.
        private var failedRevision = -1
        /// When it may be sent although the shell has not said yet that it is stored.
        var sendableAt = Duration.zero

        /// - Parameter messages: one, or shards in their order.
        init(_ key: OperationKey, _ messages: [[UInt8]], _ header: StrokeMessage?, id: UInt64) {
            self.messages = messages.enumerated().map { Message($1, order: $0) }
            (self.key, self.header, self.id) = (key, header, id)
        }

        /// Of its messages.
        var byteCount: Int { messages.reduce(0) { $0 + $1.bytes.count } }
        var isKept: Bool { keptRevision == revision }
        var hasFailed: Bool { failedRevision == revision }

        /// Adds a message. A repeat changes nothing; other content for the same order gets a new message id.
        mutating func keep(_ message: Message) {
            guard let place = messages.firstIndex(where: { $0.order == message.order }) else {
                return messages.append(message)
            }
            guard messages[place].bytes != message.bytes else { return }
            let generation = messages[place].generation + 1
            messages[place] = message
            messages[place].generation = generation
        }

        /// The shell has stored it as it was then, or cannot.
        mutating func noteStored(_ revision: Int, isKept: Bool) {
            if isKept { keptRevision = revision } else { failedRevision = revision }
            sendableAt = .zero
        }

        mutating func become(_ progress: Progress) {
            self.progress = progress
            revision += 1
        }
    }

    /// A message, and how far it has got where a journal acknowledges each; see ``Receipt``.
    struct Message: Sendable, Equatable {
        let bytes: [UInt8]
        /// Shard order; 0 for an operation in one message.
        let order: Int
        /// Number of message ids it had before.
        var generation = 0
        /// When it was sent last; nil if never in this run.
        var sentAt: Duration?
        /// Whether the journal has stored it under its present id.
        var isAcknowledged = false
        /// Whether the journal has stored it under any id.
        var isStored = false

        init(_ bytes: [UInt8], order: Int) { (self.bytes, self.order) = (bytes, order) }
    }
}

// MARK: - As a record

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

extension Outbox.Operation {
    /// An operation of a record; nil where it is none.
    init?(_ record: StoredOperation, id: UInt64) {
        var lines = record.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)[...]
        guard let state = lines.popFirst(), let first = lines.first else { return nil }
        self.init(
            record.key, lines.map { Array($0) }, try? StrokeMessage(decoding: Array(first), limits: .any), id: id)
        switch state.first {
        case UInt8(ascii: "w"): break
        case UInt8(ascii: "a"):
            let incarnation = state.dropFirst(2)
            progress = .applied(in: incarnation.isEmpty ? nil : String(decoding: incarnation, as: UTF8.self))
        default: return nil
        }
        keptRevision = revision
    }

    var record: [UInt8] {
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
            bytes.append(contentsOf: message.bytes)
        }
        return bytes
    }
}

// MARK: - On the board

extension Outbox.Operation {
    /// The operation in one message, as it is drawn.
    var wholeMessage: [UInt8] {
        guard messages.count > 1, var header else { return messages.first?.bytes ?? [] }
        let interiors = messages.map { message in
            let points = (try? StrokeMessage(decoding: message.bytes, limits: .any))?.points ?? .empty
            return message.bytes[points.interior]
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
        guard let first = header.decodePoints(of: messages[0].bytes).first,
            let other = message.decodePoints(of: bytes).first
        else { return false }
        return first.x == other.x && first.y == other.y
    }

    private static func isSame(_ own: MessageContent?, _ content: MessageContent?) -> Bool {
        // The room has passed over some of what a removal names.
        if case .indices(let named)? = own, case .indices(let removed)? = content {
            return Set(named).isSuperset(of: removed)
        }
        return own == content
    }
}

/// Operations in their order, with the bytes of their messages.
struct OperationList: Sendable, Equatable, RandomAccessCollection {
    private var operations: Deque<Outbox.Operation> = []
    private(set) var byteCount = 0

    init() {}

    init(_ operations: some Sequence<Outbox.Operation>) {
        self.operations = Deque(operations.sorted { $0.key < $1.key })
        byteCount = self.operations.reduce(0) { $0 + $1.byteCount }
    }

    var startIndex: Int { 0 }
    var endIndex: Int { operations.count }
    subscript(_ place: Int) -> Outbox.Operation { operations[place] }

    subscript(_ key: OperationKey) -> Outbox.Operation? { place(of: key).map { operations[$0] } }

    /// The operations from one name through another.
    func between(_ first: OperationKey, _ last: OperationKey) -> Slice<OperationList> {
        let start = operations.partitioningIndex { $0.key >= first }
        let end = operations.partitioningIndex { $0.key > last }
        return self[start..<Swift.max(start, end)]
    }

    /// Adds an operation; it replaces one of the same name.
    mutating func insert(_ operation: Outbox.Operation) {
        byteCount += operation.byteCount
        // Mostly behind all others.
        guard let last = operations.last, operation.key <= last.key else { return operations.append(operation) }
        let place = operations.partitioningIndex { $0.key >= operation.key }
        if operations[place].key == operation.key {
            byteCount -= operations[place].byteCount
            operations[place] = operation
        } else {
            operations.insert(operation, at: place)
        }
    }

    mutating func remove(_ key: OperationKey) -> Outbox.Operation? {
        guard let place = place(of: key) else { return nil }
        byteCount -= operations[place].byteCount
        return operations.remove(at: place)
    }

    mutating func removeFirst() -> Outbox.Operation {
        byteCount -= operations[0].byteCount
        return operations.removeFirst()
    }

    mutating func removeAll(where isMeant: (Outbox.Operation) -> Bool) -> [Outbox.Operation] {
        let removed = operations.filter(isMeant)
        guard !removed.isEmpty else { return [] }
        operations.removeAll(where: isMeant)
        byteCount -= removed.reduce(0) { $0 + $1.byteCount }
        return Array(removed)
    }

    /// Changes an operation, but not its messages' bytes.
    mutating func change(_ key: OperationKey, _ body: (inout Outbox.Operation) -> Void) {
        if let place = place(of: key) { body(&operations[place]) }
    }

    private func place(of key: OperationKey) -> Int? {
        let place = operations.partitioningIndex { $0.key >= key }
        return place < operations.count && operations[place].key == key ? place : nil
    }
}
