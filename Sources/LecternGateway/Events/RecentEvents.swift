internal import DequeModule

/// The last operations of a feed, for readers who come back and for those who start with an older board.
///
/// Bounded in bytes, and by the budget that all feeds share; without any of it a feed remembers nothing.
final class RecentEvents {
    /// Bytes of one feed at most.
    static let limit = 1 << 20
    /// What an event occupies beside its bytes.
    private static let overhead = 128

    private let budget: ByteBudget
    private var events: Deque<StreamEvent> = []
    private var bytes = 0
    /// Index of the last operation, also when it is not kept.
    private var last: UInt64 = 0

    init(_ budget: ByteBudget) {
        self.budget = budget
    }

    deinit { budget.give(bytes) }

    /// Forgets all; the operation after `index` comes next.
    func restart(after index: UInt64) {
        while !events.isEmpty { removeFirst() }
        last = index
    }

    /// Adds the next operation, which has the index after the last one.
    func append(_ event: StreamEvent) {
        last += 1
        let size = Self.cost(of: event)
        // One that is too large is not kept, and so none before it: who comes back asks the service, or gets a board.
        guard size <= Self.limit else { return restart(after: last) }
        while bytes + size > Self.limit { removeFirst() }
        while !budget.take(size) {
            // An operation must not be kept without those after it.
            guard !events.isEmpty else { return }
            removeFirst()
        }
        bytes += size
        events.append(event)
    }

    /// The operations after an index, none for the last one; nil when not all of them are kept.
    func after(_ index: UInt64) -> [StreamEvent]? {
        guard index < last else { return [] }
        let count = last - index
        return count <= UInt64(events.count) ? Array(events.suffix(Int(count))) : nil
    }

    /// It may be kept as it is and compressed.
    private static func cost(of event: StreamEvent) -> Int { 2 * event.size + overhead }

    private func removeFirst() {
        let size = Self.cost(of: events.removeFirst())
        bytes -= size
        budget.give(size)
    }
}
