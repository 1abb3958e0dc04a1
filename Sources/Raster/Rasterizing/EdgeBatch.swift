internal import CLanes

/// Monotone edges that wait to be added to the cells, eight at a time; a view of memory that is lent.
struct EdgeBatch {
    private static let capacity = Int(lanes_batch_capacity)
    /// The size of the memory in numbers.
    static let size = Int(lanes_edge_numbers) * capacity

    private let memory: UnsafeMutablePointer<Float>
    private let kernels: Kernels
    private var count = 0

    /// Takes memory for ``size`` numbers.
    init(_ memory: UnsafeMutablePointer<Float>, kernels: Kernels) {
        self.memory = memory
        self.kernels = kernels
    }

    /// Adds an edge whose y only grows or only shrinks.
    @inline(__always)
    mutating func add(_ edge: Edge, to cells: lanes_cells) {
        append(edge)
        if count == Self.capacity { flush(to: cells) }
    }

    /// Adds all edges that wait to the cells.
    mutating func flush(to cells: lanes_cells) {
        guard count > 0 else { return }
        // Eights are filled up with edges without length.
        let start = SIMD2(memory[Int(lanes_start_x) &* Self.capacity], memory[Int(lanes_start_y) &* Self.capacity])
        while count % 8 != 0 { append(Edge(start: start, end: start, sign: 1)) }
        withUnsafePointer(to: cells) { kernels.loops.add_edges(memory, count, $0) }
        count = 0
    }

    /// The kernel wants the numbers of a kind side by side.
    @inline(__always)
    private mutating func append(_ edge: Edge) {
        let place = memory + count
        place[Int(lanes_start_x) &* Self.capacity] = edge.start.x
        place[Int(lanes_start_y) &* Self.capacity] = edge.start.y
        place[Int(lanes_end_x) &* Self.capacity] = edge.end.x
        place[Int(lanes_end_y) &* Self.capacity] = edge.end.y
        place[Int(lanes_sag_x) &* Self.capacity] = edge.sag.x
        place[Int(lanes_sag_y) &* Self.capacity] = edge.sag.y
        place[Int(lanes_sign) &* Self.capacity] = edge.sign
        count &+= 1
    }
}
