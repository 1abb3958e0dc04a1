/// Operations that came before their turn: while a join is under way, behind a gap, in shards, or of another
/// incarnation than the board's.
///
/// Holds at most 8,192 messages or 32 MiB. What comes beyond empties it: a join brings all of that back.
struct WaitingOperations: Sendable {
    private struct Key: Hashable {
        let room: String
        let index: UInt64
    }

    private static let maximumMessages = 8192
    private static let maximumBytes = 32 << 20

    private var assemblies: [Key: OperationAssembly] = [:]
    private var messages = 0
    private var bytes = 0
    /// Incarnation of the newest message.
    private(set) var newestRoom: String?

    /// Whether something of this incarnation waits.
    func contains(room: String) -> Bool { assemblies.keys.contains { $0.room == room } }

    /// Whether something of another incarnation waits.
    func containsOther(than room: String) -> Bool { assemblies.keys.contains { $0.room != room } }

    /// Adds a message; a repeat of one that waits changes nothing.
    /// - Returns: false when the bound was reached and everything is dropped.
    mutating func add(_ message: ReleasedMessage, at now: Duration) -> Bool {
        let key = Key(room: message.room, index: message.index)
        var assembly = assemblies[key] ?? OperationAssembly(startingWith: message, at: now)
        messages -= assembly.count
        bytes -= assembly.bytes
        assembly.add(message)
        messages += assembly.count
        bytes += assembly.bytes
        guard messages <= Self.maximumMessages, bytes <= Self.maximumBytes else {
            self = WaitingOperations()
            return false
        }
        newestRoom = message.room
        assemblies[key] = assembly
        return true
    }

    /// Takes the operation out when it is complete.
    mutating func take(_ index: UInt64, of room: String) -> ReleasedOperation? {
        let key = Key(room: room, index: index)
        guard let operation = assemblies[key]?.operation else { return nil }
        remove(key)
        return operation
    }

    /// Drops what the board has already, and what is of another incarnation and came before `time`.
    mutating func drop(through index: UInt64, of room: String, othersBefore time: Duration) {
        for (key, assembly) in assemblies {
            if key.room == room ? key.index <= index : assembly.arrived < time { remove(key) }
        }
    }

    /// Drops everything of an incarnation.
    mutating func drop(room: String) {
        for key in assemblies.keys where key.room == room { remove(key) }
        if newestRoom == room { newestRoom = nil }
    }

    private mutating func remove(_ key: Key) {
        guard let assembly = assemblies.removeValue(forKey: key) else { return }
        messages -= assembly.count
        bytes -= assembly.bytes
    }
}
