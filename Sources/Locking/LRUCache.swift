internal import DequeModule

/// Values within a number of bytes; the least recently used ones are evicted first.
///
/// Times are nanoseconds of one clock; they count for ``evict(unusedSince:)`` alone.
package struct LRUCache<Key: Hashable, Value> {
    private struct Entry {
        let value: Value
        let bytes: Int
        var lastUse: UInt64
    }

    private struct Use {
        let key: Key
        let number: UInt64
        let time: Int64
    }

    package let byteLimit: Int
    package private(set) var byteCount = 0
    private let keepsNewest: Bool
    private var entries: [Key: Entry] = [:]
    /// The oldest first. Of the uses of one key only the last counts.
    private var uses: Deque<Use> = []
    private var useCount: UInt64 = 0

    /// - Parameter keepsNewest: whether a value that alone is beyond the limit is kept until the next one comes.
    package init(byteLimit: Int, keepsNewest: Bool = false) {
        self.byteLimit = byteLimit
        self.keepsNewest = keepsNewest
    }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }
    package var values: some Sequence<Value> { entries.values.lazy.map(\.value) }

    /// Whether a key is there; does not count as a use.
    package func contains(_ key: Key) -> Bool { entries.index(forKey: key) != nil }

    /// The value of a key; counts as a use.
    package mutating func value(_ key: Key, at now: Int64 = 0) -> Value? {
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].lastUse = use(key, at: now)
        return entries.values[index].value
    }

    /// - Parameter bytes: what the value counts for.
    package mutating func insert(_ value: Value, _ key: Key, bytes: Int, at now: Int64 = 0) {
        guard bytes <= byteLimit || keepsNewest else { return }
        remove(key)
        while byteCount + bytes > byteLimit, evictOldest() {}
        entries[key] = Entry(value: value, bytes: bytes, lastUse: use(key, at: now))
        byteCount += bytes
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        byteCount -= entry.bytes
        return entry.value
    }

    package mutating func removeAll(where isGone: (Key) -> Bool) {
        for key in entries.keys where isGone(key) { remove(key) }
    }

    /// Removes the value that was not used for the longest time.
    /// - Returns: false if there is none.
    @discardableResult
    package mutating func evictOldest() -> Bool {
        while let use = uses.popFirst() {
            if counts(use) { return remove(use.key) != nil }
        }
        return false
    }

    package mutating func evict(unusedSince instant: Int64) {
        while let use = uses.first, use.time < instant {
            uses.removeFirst()
            if counts(use) { remove(use.key) }
        }
    }

    private func counts(_ use: Use) -> Bool { entries[use.key]?.lastUse == use.number }

    private mutating func use(_ key: Key, at now: Int64) -> UInt64 {
        if uses.count > 2 * entries.count + 64 { uses = uses.filter(counts) }
        useCount += 1
        uses.append(Use(key: key, number: useCount, time: now))
        return useCount
    }
}
