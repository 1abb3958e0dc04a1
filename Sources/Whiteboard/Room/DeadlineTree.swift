/// A list of deadlines and the earliest of them: a tournament tree.
///
/// Changing a deadline costs the logarithm of their number, the earliest constant time. A deadline that never comes is
/// ``Instant/distantFuture``.
struct DeadlineTree: Sendable {
    /// A complete binary tree in an array: each node is the earlier of its children `2 × node` and `2 × node + 1`; the
    /// leaves from `width` on are the list. The first element is unused.
    private var nodes: [Instant] = []
    /// A power of two, or 0 for an empty list.
    private var width = 0
    private(set) var count = 0

    /// The earliest deadline; ``Instant/distantFuture`` where there is none.
    var earliest: Instant { width == 0 ? .distantFuture : nodes[1] }

    subscript(position: Int) -> Instant {
        get { nodes[width + position] }
        set {
            var node = width + position
            nodes[node] = newValue
            while node > 1 {
                node /= 2
                nodes[node] = min(nodes[2 * node], nodes[2 * node + 1])
            }
        }
    }

    mutating func append(_ deadline: Instant) {
        if count == width { grow() }
        count += 1
        self[count - 1] = deadline
    }

    /// The first position whose deadline has come; nil for none.
    func first(dueAt now: Instant) -> Int? {
        // A deadline that never comes is not due at the end of time either.
        let now = min(now, Instant(nanoseconds: .max - 1))
        guard earliest <= now else { return nil }
        var node = 1
        while node < width { node = nodes[2 * node] <= now ? 2 * node : 2 * node + 1 }
        return node - width
    }

    private mutating func grow() {
        let list = nodes[width...]
        let wider = max(1, 2 * width)
        nodes = Array(repeating: .distantFuture, count: wider) + list
        nodes += Array(repeating: .distantFuture, count: 2 * wider - nodes.count)
        width = wider
        for node in stride(from: width - 1, to: 0, by: -1) { nodes[node] = min(nodes[2 * node], nodes[2 * node + 1]) }
    }
}
