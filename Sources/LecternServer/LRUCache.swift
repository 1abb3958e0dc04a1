import DequeModule
import Whiteboard

/// Values within a number of bytes; the least recently used ones are evicted first.
struct LRUCache<Key: Hashable, Value> {
    private struct Entry {
        let value: Value
        let bytes: Int
        /// The number of its last use.
        var lastUse: UInt64
    }

    private struct Use {
        let key: Key
        let number: UInt64
        let time: Instant
    }

    let byteLimit: Int
    private(set) var byteCount = 0
    private let keepsNewest: Bool
    private var entries: [Key: Entry] = [:]
    /// The oldest first. Of the uses of one key only the last counts.
    private var uses: Deque<Use> = []
    private var useCount: UInt64 = 0

    /// - Parameter keepsNewest: whether a value that alone is beyond the limit is kept until the next one comes.
    init(byteLimit: Int, keepsNewest: Bool = false) {
        self.byteLimit = byteLimit
        self.keepsNewest = keepsNewest
    }

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    var values: some Sequence<Value> { entries.values.lazy.map(\.value) }

    /// The value of a key; counts as a use.
    mutating func value(_ key: Key, at now: Instant) -> Value? {
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].lastUse = use(key, at: now)
        return entries.values[index].value
    }

    /// - Parameter bytes: what the value counts for.
    mutating func insert(_ value: Value, _ key: Key, bytes: Int, at now: Instant) {
        guard bytes <= byteLimit || keepsNewest else { return }
        remove(key)
        while byteCount + bytes > byteLimit, evictOldest() {}
        entries[key] = Entry(value: value, bytes: bytes, lastUse: use(key, at: now))
        byteCount += bytes
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        byteCount -= entry.bytes
        return entry.value
    }

    mutating func removeAll(where isGone: (Key) -> Bool) {
        for key in entries.keys where isGone(key) { remove(key) }
    }

    /// Removes the value that was not used for the longest time.
    /// - Returns: false if there is none.
    @discardableResult
    mutating func evictOldest() -> Bool {
        while let use = uses.popFirst() {
            if counts(use) { return remove(use.key) != nil }
        }
        return false
    }

    mutating func evict(unusedSince instant: Instant) {
        while let use = uses.first, use.time < instant {
            uses.removeFirst()
            if counts(use) { remove(use.key) }
        }
    }

    private func counts(_ use: Use) -> Bool { entries[use.key]?.lastUse == use.number }

    private mutating func use(_ key: Key, at now: Instant) -> UInt64 {
        if uses.count > 2 * entries.count + 64 { uses = uses.filter(counts) }
        useCount += 1
        uses.append(Use(key: key, number: useCount, time: now))
        return useCount
    }
}
