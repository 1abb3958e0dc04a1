/// How late the points of a stroke are, by blocks of points: a tournament tree of the greatest reach of each block.
///
/// Setting a block and finding one cost the logarithm of their number. A pen changes points far behind the end of a stroke,
/// and a change there may make all points behind it later: none of these is touched.
struct ReachTree: Sendable {
    /// Points of a block.
    static let blockSize = 32

    /// A complete binary tree in an array: each node is the greater of its children `2 × node` and `2 × node + 1`; the
    /// leaves from `width` on are the blocks. The first element is unused.
    private var nodes: [Int64] = []
    /// A power of two, or 0 without blocks.
    private var width = 0
    private(set) var count = 0

    /// The greatest reach of all blocks; 0 where there is none.
    var greatest: Int64 { width == 0 ? 0 : nodes[1] }

    /// Sets the greatest reach of a block, 0 or more.
    /// - Precondition: `block <= count`
    mutating func set(_ block: Int, to reach: Int64) {
        if block == count {
            if count == width { grow() }
            count += 1
        }
        var node = width + block
        nodes[node] = reach
        while node > 1 {
            node /= 2
            nodes[node] = max(nodes[2 * node], nodes[2 * node + 1])
        }
    }

    mutating func removeAll() { (nodes, width, count) = ([], 0, 0) }

    /// The greatest reach of the blocks before one; 0 where there is none.
    /// - Precondition: `block < count`
    func greatest(before block: Int) -> Int64 {
        var node = width + block
        var greatest: Int64 = 0
        while node > 1 {
            if node % 2 == 1 { greatest = max(greatest, nodes[node - 1]) }
            node /= 2
        }
        return greatest
    }

    /// The first block with a reach that is late enough; nil where there is none.
    /// - Parameter isLate: true for every reach above one for which it is true.
    func first(where isLate: (Int64) -> Bool) -> Int? {
        guard width > 0, isLate(nodes[1]) else { return nil }
        var node = 1
        while node < width { node = isLate(nodes[2 * node]) ? 2 * node : 2 * node + 1 }
        // No leaf behind the last block: its reach is 0, and where that is late enough, so is the first block's.
        return node - width
    }

    private mutating func grow() {
        let blocks = nodes[width...]
        let wider = max(1, 2 * width)
        nodes = Array(repeating: 0, count: wider) + blocks
        nodes += Array(repeating: 0, count: 2 * wider - nodes.count)
        width = wider
        for node in stride(from: width - 1, to: 0, by: -1) { nodes[node] = max(nodes[2 * node], nodes[2 * node + 1]) }
    }
}
