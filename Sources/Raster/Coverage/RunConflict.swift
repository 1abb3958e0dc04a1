internal import CLanes
internal import Ink

/// A pixel that a run covers in part, and that the stroke before it does, too.
struct RunConflict {
    private var x: UInt16 = 0
    private var y: UInt16 = 0
    private var value: UInt8 = 0

    /// How much room it takes for those of so many pixels: ``find(_:_:_:_:to:)`` may write two more than there are.
    static func most(in pixels: Int) -> Int { pixels &+ 2 }

    /// Writes down those of a row, and returns how many there are.
    @inline(__always)
    static func find(
        _ run: CoverageRows, _ stroke: CoverageRows, _ y: Int, _ columns: Range<Int>,
        to place: UnsafeMutablePointer<RunConflict>
    ) -> Int {
        // Little-endian: the lowest byte is the leftmost pixel.
        let new = UnsafeRawPointer(run.row(y))
        let old = UnsafeRawPointer(stroke.row(y))
        var x = columns.lowerBound
        var count = 0
        func write(_ bits: UInt64, at index: Int) {
            place[index].x = UInt16(truncatingIfNeeded: x &+ bits.trailingZeroBitCount / 8)
            place[index].y = UInt16(truncatingIfNeeded: y)
        }
        repeat {
            let bits =
                partial(new.loadUnaligned(fromByteOffset: x, as: UInt64.self))
                & partial(old.loadUnaligned(fromByteOffset: x, as: UInt64.self))
            // None, one or two of eight, hardly ever more; which of these no processor can foretell.
            let second = bits & (bits &- 1)
            write(bits, at: count)
            write(second, at: count &+ 1)
            var rest = second & (second &- 1)
            var index = count &+ 2
            while rest != 0 {
                write(rest, at: index)
                rest &= rest &- 1
                index &+= 1
            }
            count &+= Int(truncatingIfNeeded: ((bits >> 7) &* 0x0101_0101_0101_0101) >> 56)
            x &+= 8
        } while x < columns.upperBound
        return count
    }

    /// The upper bit of every byte that is neither 0 nor 255: of one whose bits are not all alike.
    @inline(__always)
    private static func partial(_ bytes: UInt64) -> UInt64 {
        let changes = (bytes ^ (bytes >> 1)) & 0x7F7F_7F7F_7F7F_7F7F
        return (changes &+ 0x7F7F_7F7F_7F7F_7F7F) & 0x8080_8080_8080_8080
    }

    /// Works out what both cover.
    @inline(__always)
    mutating func resolve(_ run: CoverageRows, _ stroke: CoverageRows, _ seam: RunUnion.Seam?) {
        value = Self.union(run, stroke, Int(x), Int(y), seam)
    }

    @inline(__always)
    func write(to stroke: CoverageRows) { stroke.row(Int(y))[Int(x)] = value }

    @inline(__always)
    private static func union(
        _ run: CoverageRows, _ stroke: CoverageRows, _ x: Int, _ y: Int, _ seam: RunUnion.Seam?
    ) -> UInt8 {
        let a = Int32(run.row(y)[x])
        let b = Int32(stroke.row(y)[x])
        if let seam, seam.cuts(x, y) { return UInt8(truncatingIfNeeded: min(a &+ b, 255)) }
        // As vectors: single numbers would be converted one behind the other.
        let aroundRun = run.neighbours(x, y)
        let aroundStroke = stroke.neighbours(x, y)
        let slopes = lanes_floats(
            SIMD4(lowHalf: aroundRun.highHalf, highHalf: aroundStroke.highHalf)
                &- SIMD4(lowHalf: aroundRun.lowHalf, highHalf: aroundStroke.lowHalf))
        let covers = lanes_floats(SIMD4(a, b, 0, 0))
        let (one, other) = (covers.x, covers.y)
        let squares = slopes.lowHalf.dot(slopes.lowHalf) * slopes.highHalf.dot(slopes.highHalf)
        let cosine = slopes.lowHalf.dot(slopes.highHalf) / squares.raised(to: 1e-6).root
        let independent = one + other - one * other * (1 / 255)
        let extreme = cosine > 0 ? one.raised(to: other) : (one + other).lowered(to: 255)
        let union = independent + (extreme - independent) * abs(cosine)
        return UInt8(truncatingIfNeeded: union.raised(to: 0).lowered(to: 255).roundedToInt)
    }
}

extension CoverageRows {
    /// The coverages left of a pixel, above, to the right and below; whatever lies outside counts as the pixel itself.
    @inline(__always)
    fileprivate func neighbours(_ x: Int, _ y: Int) -> SIMD4<Int32> {
        let row = row(y)
        let left = row[x > 0 ? x &- 1 : x]
        let right = row[x &+ 1 < width ? x &+ 1 : x]
        let above = (row - (y > 0 ? stride : 0))[x]
        let below = (row + (y &+ 1 < height ? stride : 0))[x]
        return SIMD4(Int32(left), Int32(above), Int32(right), Int32(below))
    }
}
