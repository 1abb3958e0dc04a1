import Locking
import Whiteboard

extension LRUCache {
    /// The value of a key; counts as a use.
    mutating func value(_ key: Key, at now: Instant) -> Value? { value(key, at: now.nanoseconds) }

    /// - Parameter bytes: what the value counts for.
    mutating func insert(_ value: Value, _ key: Key, bytes: Int, at now: Instant) {
        insert(value, key, bytes: bytes, at: now.nanoseconds)
    }

    mutating func evict(unusedSince instant: Instant) { evict(unusedSince: instant.nanoseconds) }
}
