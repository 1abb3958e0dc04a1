internal import CLanes

/// What sides cover of single rows, waiting to be added to the cells. Not to be kept.
///
/// Pieces of many sides are kept side by side, so that four can be worked out at once although a side is cut into three
/// or four pieces only.
struct SidePieces {
    /// There is room for so many pieces, and for the lanes that are set but not counted.
    static let capacity = 256
    /// How many numbers it takes.
    static let size = 6 * capacity

    /// Where the pieces begin and end, in columns; once they are worked out, what is added to the first and the second
    /// of their pixels.
    let startX, endX: UnsafeMutablePointer<Float>
    /// How far they go down, times the sign with which that counts, and the areas between them and their chords; once
    /// they are worked out, what is added to the third and the fourth of their pixels.
    let fall, bend: UnsafeMutablePointer<Float>
    let rows: UnsafeMutablePointer<Int32>
    /// The columns of their first pixels, once they are worked out.
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

    /// Whether there may be no room for the next pieces of two sides.
    @inline(__always)
    var isFull: Bool { count > Self.capacity &- 16 }

    /// Adds the first of four pieces, up to four.
    @inline(__always)
    mutating func add(_ pieces: FallingSide.Pieces, count added: Int) {
        (startX + count).store(pieces.startX)
        (endX + count).store(pieces.endX)
        (fall + count).store(pieces.fall)
        (bend + count).store(pieces.bend)
        UnsafeMutableRawPointer(rows + count).storeBytes(of: pieces.rows, as: SIMD4<Int32>.self)
        count &+= min(added, 4)
    }

    /// Adds one piece or two of a side, and then of another: the first two are there for the one, the last two for the
    /// other.
    @inline(__always)
    mutating func add(_ pieces: FallingSide.Pieces, firstCount: Int, secondCount: Int) {
        let second = count &+ firstCount
        startX.store(pieces.startX, at: count, second)
        endX.store(pieces.endX, at: count, second)
        fall.store(pieces.fall, at: count, second)
        bend.store(pieces.bend, at: count, second)
        let halves = (pieces.rows.lowHalf, pieces.rows.highHalf)
        UnsafeMutableRawPointer(rows + count).storeBytes(of: halves.0, as: SIMD2<Int32>.self)
        UnsafeMutableRawPointer(rows + second).storeBytes(of: halves.1, as: SIMD2<Int32>.self)
        count = second &+ secondCount
    }

    /// What each of four pieces from one on adds to its four pixels.
    @inline(__always)
    func sums(_ index: Int) -> lanes_square {
        lanes_turned((startX + index).four, (endX + index).four, (fall + index).four, (bend + index).four)
    }

    mutating func removeAll() { count = 0 }
}

extension UnsafeMutablePointer<Float> {
    /// Four numbers from here on, wherever they lie.
    @inline(__always)
    var four: SIMD4<Float> { UnsafeRawPointer(self).loadUnaligned(as: SIMD4<Float>.self) }

    @inline(__always)
    func store(_ four: SIMD4<Float>) {
        UnsafeMutableRawPointer(self).storeBytes(of: four, as: SIMD4<Float>.self)
    }

    /// Stores the first two numbers at one place, then the last two at another.
    @inline(__always)
    func store(_ four: SIMD4<Float>, at first: Int, _ second: Int) {
        UnsafeMutableRawPointer(self + first).storeBytes(of: four.lowHalf, as: SIMD2<Float>.self)
        UnsafeMutableRawPointer(self + second).storeBytes(of: four.highHalf, as: SIMD2<Float>.self)
    }
}
