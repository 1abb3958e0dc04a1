/// What sides cover of single rows, waiting to be added to the cells. Not to be kept.
///
/// Pieces of many sides are kept side by side, so that four can be worked out at once although a side is cut into three
/// or four pieces only.
struct SidePieces {
    /// There is room for so many pieces, and for the lanes that are set but not counted.
    static let capacity = 256
    /// How many numbers it takes.
    static let size = 9 * capacity
    /// The farthest a piece may go to one side, in pixels.
    static let widest: Float = 2

    /// Where the pieces begin and end, in columns.
    let startX, endX: UnsafeMutablePointer<Float>
    /// The same in rows, times the sign with which they count.
    let startY, endY: UnsafeMutablePointer<Float>
    /// Which parts of the way along their sides that is.
    let startAt, endAt: UnsafeMutablePointer<Float>
    /// The area between the whole side and its chord.
    let curve: UnsafeMutablePointer<Float>
    let rows: UnsafeMutablePointer<Int32>
    /// The columns of their first pixels, once they are known.
    let columns: UnsafeMutablePointer<UInt32>
    private(set) var count = 0
    /// Where those of a side ended of which there are more to come.
    private var last = Place(x: 0, y: 0, at: 0)

    /// Takes memory for ``size`` numbers.
    init(_ memory: UnsafeMutablePointer<Float>) {
        func array(_ index: Int) -> UnsafeMutablePointer<Float> { memory + index * Self.capacity }
        startX = array(0)
        endX = array(1)
        startY = array(2)
        endY = array(3)
        startAt = array(4)
        endAt = array(5)
        curve = array(6)
        rows = UnsafeMutableRawPointer(array(7)).assumingMemoryBound(to: Int32.self)
        columns = UnsafeMutableRawPointer(array(8)).assumingMemoryBound(to: UInt32.self)
    }

    /// Whether there may be no room for the next pieces of two sides.
    @inline(__always)
    var isFull: Bool { count > Self.capacity &- 16 }

    /// Where a piece begins or ends: a column, a row times the sign with which it counts, a part of the way.
    struct Place {
        var x, y, at: Float
    }

    /// Where four pieces end.
    struct Ends {
        var x, y, at: SIMD4<Float>
    }

    /// Adds the first pieces of a side, up to four.
    @inline(__always)
    mutating func add(_ side: FallingSide, _ ends: Ends) {
        add(side, ends, from: side.start, passed: 0)
    }

    /// Adds the next ones, up to four, after at least four.
    mutating func goOn(_ side: FallingSide, _ ends: Ends, passed: Int) {
        add(side, ends, from: last, passed: passed)
    }

    @inline(__always)
    private mutating func add(_ side: FallingSide, _ ends: Ends, from start: Place, passed: Int) {
        let place = count
        startX[place] = start.x
        startY[place] = start.y
        startAt[place] = start.at
        // All others begin where the one before ends.
        (startX + place + 1).store(ends.x)
        (startY + place + 1).store(ends.y)
        (startAt + place + 1).store(ends.at)
        (endX + place).store(ends.x)
        (endY + place).store(ends.y)
        (endAt + place).store(ends.at)
        (curve + place).store(SIMD4(repeating: side.curve))
        let row = side.firstRow &+ Int32(truncatingIfNeeded: passed) &* side.step
        UnsafeMutableRawPointer(rows + place).storeBytes(
            of: SIMD4<Int32>(0, 1, 2, 3) &* side.step &+ row, as: SIMD4<Int32>.self)
        let left = side.count &- passed
        count &+= left < 4 ? left : 4
        if left > 4 { last = Place(x: ends.x.w, y: ends.y.w, at: ends.at.w) }
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
}
