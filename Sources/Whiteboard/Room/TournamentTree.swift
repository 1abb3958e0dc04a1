/// A list of values and the least of them: a tournament tree.
///
/// Changing a value costs the logarithm of their number, the least one constant time.
struct TournamentTree<Value: Comparable & Sendable>: Sendable {
    /// A complete binary tree in an array: each node is the lesser of its children `2 × node` and `2 × node + 1`; the
    /// leaves from `width` on are the list. The first element is unused.
    private var nodes: [Value] = []
    /// A power of two, or 0 for an empty list.
    private var width = 0
    private(set) var count = 0
    /// No value is greater. Fills the leaves behind the list.
    private let greatest: Value

    init(greatest: Value) { self.greatest = greatest }

    /// The least value; the greatest possible one where there is none.
    var least: Value { width == 0 ? greatest : nodes[1] }

    subscript(position: Int) -> Value {
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

    mutating func append(_ value: Value) {
        if count == width { grow() }
        count += 1
        self[count - 1] = value
    }

    /// The first position with a value for which `isMet` is true; nil for none.
    /// - Parameter isMet: true for every value below one for which it is true. Where it is true for the greatest possible
    ///   value, it is for the first of the list.
    func first(where isMet: (Value) -> Bool) -> Int? {
        guard width > 0, isMet(nodes[1]) else { return nil }
        var node = 1
        while node < width { node = isMet(nodes[2 * node]) ? 2 * node : 2 * node + 1 }
        return node - width
    }

    /// The least value before a position; the greatest possible one where there is none.
    func least(before position: Int) -> Value {
        var node = width + position
        var least = greatest
        while node > 1 {
            if node % 2 == 1 { least = min(least, nodes[node - 1]) }
            node /= 2
        }
        return least
    }

    private mutating func grow() {
        let list = nodes[width...]
        let wider = max(1, 2 * width)
        nodes = Array(repeating: greatest, count: wider) + list
        nodes += Array(repeating: greatest, count: 2 * wider - nodes.count)
        width = wider
        for node in stride(from: width - 1, to: 0, by: -1) { nodes[node] = min(nodes[2 * node], nodes[2 * node + 1]) }
    }
}

/// Deadlines and the earliest of them. One that never comes is ``Instant/distantFuture``.
typealias DeadlineTree = TournamentTree<Instant>

extension DeadlineTree {
    init() { self.init(greatest: .distantFuture) }

    /// The earliest deadline; ``Instant/distantFuture`` where there is none.
    var earliest: Instant { least }

    /// The first position whose deadline has come; nil for none.
    func first(dueAt now: Instant) -> Int? {
        // A deadline that never comes is not due at the end of time either.
        first { $0 <= now && $0 < .distantFuture }
    }
}
