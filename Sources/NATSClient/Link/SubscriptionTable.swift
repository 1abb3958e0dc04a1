/// The subscriptions of one session in libnats, as opaque pointers that the session owns.
struct SubscriptionTable {
    /// Unsubscribed ones that are kept before `sweep` is due.
    static let maxRetired = 64

    private var live: [ObjectIdentifier: OpaquePointer] = [:]
    private var retired: [OpaquePointer] = []
    /// Completion callbacks to come. Below zero for a moment when one comes before `add`.
    private var completions = 0
    private var closed = false

    /// All that must still be destroyed.
    var all: [OpaquePointer] { retired + live.values }

    /// Those that messages are delivered to.
    var delivering: [OpaquePointer] { Array(live.values) }

    mutating func add(_ raw: OpaquePointer, for id: ObjectIdentifier, completes: Bool) {
        live[id] = raw
        if completes { completions += 1 }
    }

    /// Takes a subscription out of use; its memory stays.
    mutating func retire(_ id: ObjectIdentifier) -> (raw: OpaquePointer, sweepIsDue: Bool)? {
        guard let raw = live.removeValue(forKey: id) else { return nil }
        retired.append(raw)
        return (raw, retired.count == Self.maxRetired)
    }

    mutating func takeRetired() -> [OpaquePointer] {
        defer { retired = [] }
        return retired
    }

    mutating func putBack(_ subscriptions: [OpaquePointer]) {
        retired += subscriptions
    }

    /// Counts a completion callback; whether it was the last one after the close.
    mutating func complete() -> Bool {
        completions -= 1
        return closed && completions == 0
    }

    /// No subscription will be added; whether all callbacks are over already.
    mutating func close() -> Bool {
        closed = true
        return completions == 0
    }
}
