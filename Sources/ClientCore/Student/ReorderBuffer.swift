import StrokeWire

/// Released operations that cannot be applied yet: during a join, behind a gap, with missing shards, or of another
/// incarnation than the board's.
///
/// Bounded to 8,192 messages and 32 MiB. An overflow empties it: a join restores the operations.
package struct ReorderBuffer: Sendable {
    private struct Key: Hashable {
        let room: String
        let index: UInt64
    }

    private static let maximumMessages = 8192
    private static let maximumBytes = 32 << 20

    private var assemblies: [Key: ReleasedShards] = [:]
    private var messages = 0
    private var bytes = 0
    /// Incarnation of the newest message.
    package private(set) var newestRoom: String?

    /// An empty buffer.
    package init() {}

    /// Whether it has operations of this incarnation.
    package func contains(room: String) -> Bool { assemblies.keys.contains { $0.room == room } }

    /// Whether it has operations of another incarnation.
    package func containsOther(than room: String) -> Bool { assemblies.keys.contains { $0.room != room } }

    /// Adds a message; a repeat changes nothing.
    /// - Returns: false after an overflow, which drops everything.
    package mutating func add(_ message: ReleasedMessage, at now: Duration) -> Bool {
        let key = Key(room: message.room, index: message.index)
        var assembly = assemblies[key] ?? ReleasedShards(startingWith: message, at: now)
        messages -= assembly.count
        bytes -= assembly.bytes
        assembly.add(message)
        messages += assembly.count
        bytes += assembly.bytes
        guard messages <= Self.maximumMessages, bytes <= Self.maximumBytes else {
            self = ReorderBuffer()
            return false
        }
        newestRoom = message.room
        assemblies[key] = assembly
        return true
    }

    /// Removes an operation if it is complete.
    package mutating func take(_ index: UInt64, of room: String) -> ReleasedOperation? {
        let key = Key(room: room, index: index)
        guard let operation = assemblies[key]?.operation else { return nil }
        remove(key)
        return operation
    }

    /// Drops operations of the room up to the index, and those of other incarnations that arrived before `time`.
    package mutating func drop(through index: UInt64, of room: String, othersBefore time: Duration) {
        for (key, assembly) in assemblies {
            if key.room == room ? key.index <= index : assembly.arrived < time { remove(key) }
        }
    }

    /// Drops all operations of an incarnation.
    package mutating func drop(room: String) {
        for key in assemblies.keys where key.room == room { remove(key) }
        if newestRoom == room { newestRoom = nil }
    }

    private mutating func remove(_ key: Key) {
        guard let assembly = assemblies.removeValue(forKey: key) else { return }
        messages -= assembly.count
        bytes -= assembly.bytes
    }
}

/// The arrived shards of one released operation.
private struct ReleasedShards: Sendable {
    /// Arrival of the first message.
    let arrived: Duration
    /// By shard order; order 0 for an operation in one message.
    private var messages: [Int: ReleasedMessage] = [:]
    private let first: ReleasedMessage
    private(set) var bytes = 0

    init(startingWith message: ReleasedMessage, at now: Duration) {
        arrived = now
        first = message
    }

    var count: Int { messages.count }

    /// Adds a shard; a repeat changes nothing.
    mutating func add(_ message: ReleasedMessage) {
        guard messages[message.header.shardOrder] == nil else { return }
        messages[message.header.shardOrder] = message
        bytes += message.bytes.count
    }

    /// The operation, once it is complete.
    var operation: ReleasedOperation? {
        guard first.header.action == .draw, first.header.isSharded else { return complete(first.bytes) }
        guard messages.count >= first.header.shardCount else { return nil }
        let inOrder = messages.sorted { $0.key < $1.key }.map { $0.value }
        var header = first.header
        header.shardCount = 0
        header.shardOrder = 0
        let interior = ShardJoiner.join(inOrder.map { $0.bytes[$0.header.points.interior] })
        return complete(header.encoded(interior: interior[...]))
    }

    private func complete(_ bytes: [UInt8]) -> ReleasedOperation {
        ReleasedOperation(
            index: first.index, author: first.author, reference: first.reference, isLate: first.isLate,
            page: first.page, action: first.header.action, order: first.header.order, bytes: bytes, digest: first.digest
        )
    }
}

/// Detects messages that repeat an index with other content.
///
/// Remembers hashes of some 2,048 messages; older ones are not checked.
struct ConflictDetector: Sendable {
    private static let size = 2048

    private struct Entry: Sendable {
        var room = 0
        var index: UInt64 = 0
        var order = 0
        var content = 0
    }

    private var entries = [Entry](repeating: Entry(), count: size)

    /// Whether a message has the content known for its index and order; remembers the newer one.
    mutating func agrees(with message: ReleasedMessage) -> Bool {
        var hasher = Hasher()
        hasher.combine(message.author)
        hasher.combine(message.reference)
        hasher.combine(message.bytes)
        let entry = Entry(
            room: message.room.hashValue, index: message.index, order: message.header.shardOrder,
            content: hasher.finalize())
        let slot = Int(truncatingIfNeeded: (message.index &* 31 &+ UInt64(entry.order)) % UInt64(Self.size))
        let known = entries[slot]
        entries[slot] = entry
        let isKnown = known.room == entry.room && known.index == entry.index && known.order == entry.order
        return !isKnown || known.content == entry.content
    }
}

/// How long others may overtake an operation before a join asks for it, and how long to wait before the next join: 250 ms,
/// doubled with each join without progress up to 4 s.
package struct JoinBackoff: Sendable {
    private var joins = 0

    package init() {}

    /// Whether a join made no progress since the last that did.
    package var isOn: Bool { joins > 0 }

    package var timeout: Duration { min(.milliseconds(250) * (1 << min(joins, 4)), .seconds(4)) }

    /// Another join that has made no progress yet.
    package mutating func lengthen() { joins += 1 }

    /// There was progress.
    package mutating func reset() { joins = 0 }
}
