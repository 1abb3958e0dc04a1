internal import CLanes

/// Spans that wait to be integrated and added to the cells; a view of memory that is lent.
///
/// The spans of many edges stand side by side, so that four are integrated at once although an edge has three or four
/// spans only.
struct SpanBatch {
    /// Room for spans, and for the lanes that are written but not counted.
    static let capacity = 256
    /// The size of the memory in numbers.
    static let size = 6 * capacity

    /// The columns of the spans' ends; once integrated, what is added to the first and the second of their cells.
    let startX, endX: UnsafeMutablePointer<Float>
    /// Their heights times their signs, and the areas between them and their chords; once integrated, what is added to
    /// the third and the fourth of their cells.
    let fall, bend: UnsafeMutablePointer<Float>
    let rows: UnsafeMutablePointer<Int32>
    /// The columns of their first cells, once integrated.
    let columns: UnsafeMutablePointer<Int32>
    private(set) var count = 0

    /// Takes memory for ``size`` numbers.
    init(_ memory: UnsafeMutablePointer<Float>) {
        startX = memory
        endX = memory + Self.capacity
        fall = memory + 2 * Self.capacity
        bend = memory + 3 * Self.capacity
        rows = UnsafeMutableRawPointer(memory + 4 * Self.capacity).assumingMemoryBound(to: Int32.self)
        columns = UnsafeMutableRawPointer(memory + 5 * Self.capacity).assumingMemoryBound(to: Int32.self)
    }

    /// Whether the next spans of two edges may not fit.
    @inline(__always)
    var isFull: Bool { count > Self.capacity &- 16 }

    /// Adds the first `added` of four spans.
    @inline(__always)
    mutating func add(_ spans: MonotoneEdge.Spans, count added: Int) {
        (startX + count).store(spans.startX)
        (endX + count).store(spans.endX)
        (fall + count).store(spans.fall)
        (bend + count).store(spans.bend)
        UnsafeMutableRawPointer(rows + count).storeBytes(of: spans.rows, as: SIMD4<Int32>.self)
        count &+= min(added, 4)
    }

    /// Adds one or two spans of an edge, which stand in the first two lanes, then of another, in the last two.
    @inline(__always)
    mutating func add(_ spans: MonotoneEdge.Spans, firstCount: Int, secondCount: Int) {
        let second = count &+ firstCount
        startX.store(spans.startX, at: count, second)
        endX.store(spans.endX, at: count, second)
        fall.store(spans.fall, at: count, second)
        bend.store(spans.bend, at: count, second)
        let halves = (spans.rows.lowHalf, spans.rows.highHalf)
        UnsafeMutableRawPointer(rows + count).storeBytes(of: halves.0, as: SIMD2<Int32>.self)
        UnsafeMutableRawPointer(rows + second).storeBytes(of: halves.1, as: SIMD2<Int32>.self)
        count = second &+ secondCount
    }

    /// What each of the four integrated spans from `index` on adds to its four cells.
    @inline(__always)
    func sums(_ index: Int) -> lanes_square {
        lanes_turned((startX + index).four, (endX + index).four, (fall + index).four, (bend + index).four)
    }

    mutating func removeAll() { count = 0 }
}
