/// The subscriptions of one session in libnats, as opaque pointers that the session owns.
struct SubscriptionTable {
    /// Unsubscribed ones that are kept before `sweep` is due.
    static let maxRetired = 64

    private struct Entry {
        let raw: OpaquePointer
        /// Messages dropped, as last seen: libnats does not tell any more once the subscription is closed.
        var dropped = 0
    }

    private var live: [ObjectIdentifier: Entry] = [:]
    private var retired: [OpaquePointer] = []
    /// Whether a sweep was asked for that has not begun.
    private var sweepIsAsked = false
    private var droppedByRetired = 0
    /// Completion callbacks to come. Below zero for a moment when one comes before `add`.
    private var completions = 0
    private var closed = false

    /// All that must still be destroyed.
    var all: [OpaquePointer] { retired + live.values.map(\.raw) }

    mutating func add(_ raw: OpaquePointer, for id: ObjectIdentifier, completes: Bool) {
        live[id] = Entry(raw: raw)
        if completes { completions += 1 }
    }

    /// Takes a subscription out of use; its memory stays. Those that a sweep has put back count, too: after one that
    /// failed the next is due at once.
    mutating func retire(_ id: ObjectIdentifier) -> (raw: OpaquePointer, sweepIsDue: Bool)? {
        guard let entry = live.removeValue(forKey: id) else { return nil }
        retired.append(entry.raw)
        droppedByRetired += entry.dropped
        guard !sweepIsAsked, retired.count >= Self.maxRetired else { return (entry.raw, false) }
        sweepIsAsked = true
        return (entry.raw, true)
    }

    mutating func takeRetired() -> [OpaquePointer] {
        sweepIsAsked = false
        defer { retired = [] }
        return retired
    }

    mutating func putBack(_ subscriptions: [OpaquePointer]) {
        retired += subscriptions
    }

    /// Messages dropped by all subscriptions ever, those in use asked anew; `ask` knows nothing of a closed one.
    mutating func dropped(_ ask: (OpaquePointer) -> Int?) -> Int {
        var sum = droppedByRetired
        for (id, entry) in live {
            let dropped = ask(entry.raw) ?? entry.dropped
            live[id]?.dropped = dropped
            sum += dropped
        }
        return sum
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
