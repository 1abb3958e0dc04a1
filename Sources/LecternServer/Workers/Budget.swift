import Synchronization

/// How many things of a kind there may be at once, over all threads.
final class Budget: Sendable {
    private let left: Atomic<Int>

    init(_ limit: Int) {
        left = Atomic(limit)
    }

    /// - Returns: whether there was place for one more.
    func take() -> Bool {
        if left.subtract(1, ordering: .relaxed).oldValue > 0 { return true }
        left.add(1, ordering: .relaxed)
        return false
    }

    func giveBack() {
        left.add(1, ordering: .relaxed)
    }
}
