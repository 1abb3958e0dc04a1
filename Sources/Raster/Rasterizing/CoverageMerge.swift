internal import CLanes
internal import Ink

/// Merges the coverage of a run into that of the runs before it.
///
/// What two runs cover of a pixel together depends on the angle of their edges. Edges that face the same way hide each
/// other: the larger coverage counts. Edges that face each other leave a gap: the sum counts. Edges at a right angle are
/// independent. Between these three cases the union is interpolated by the cosine of the angle between the gradients of
/// both coverages.
struct CoverageMerge {
    /// Where a smooth curve was cut straight across: the coverages of the pixels on the cut are added.
    struct Seam {
        private let place: SIMD2<Float>
        private let direction: SIMD2<Float>
        private let radius: Float

        init(at place: SIMD2<Float>, radius: Float, along direction: SIMD2<Float>) {
            self.place = place
            self.direction = direction
            self.radius = radius + SegmentRows.fringe
        }

        @inline(__always)
        func cuts(_ column: Int, _ row: Int) -> Bool {
            let offset = SIMD2(Float(column) + 0.5, Float(row) + 0.5) - place
            return abs(offset.dot(direction)) < SegmentRows.fringe && abs(offset.cross(direction)) < radius
        }
    }

    /// Kept for its memory: room for all pixels of the blocks that are dirty in both.
    private var overlaps: [PartialOverlap] = []

    /// Merges rows of a run into those of the stroke, and wipes them.
    mutating func merge(_ run: CoverageRows, into stroke: CoverageRows, rows: Range<Int>, seam: Seam?) {
        var blocks = 0
        for y in rows {
            let common = run.dirty[y] & stroke.dirty[y]
            if common != 0 { blocks &+= common.nonzeroBitCount }
        }
        let room = PartialOverlap.room(for: blocks &* run.blocks.columns)
        if overlaps.count < room {
            overlaps.append(contentsOf: repeatElement(PartialOverlap(), count: room - overlaps.count))
        }
        overlaps.withUnsafeMutableBufferPointer { overlaps in
            var end = overlaps.startIndex
            if blocks > 0, let place = overlaps.baseAddress {
                for y in rows {
                    let common = run.dirty[y] & stroke.dirty[y]
                    if common != 0 {
                        end &+= PartialOverlap.find(run, stroke, y, run.blocks.hull(common), to: place + end)
                    }
                }
            }
            // Nothing may be written before all gradients are read.
            for index in 0..<end { overlaps[index].combine(run, stroke, seam) }
            for y in rows { Self.raise(stroke, y, with: run) }
            for index in 0..<end { overlaps[index].write(to: stroke) }
        }
    }

    /// Raises the pixels of a row to those of the run, and wipes the run's.
    ///
    /// Goes by sixteen pixels, and so beyond the last one: into the next row, which is merged, too, or into the slack of
    /// the ``CoverageMask``.
    @inline(__always)
    private static func raise(_ stroke: CoverageRows, _ y: Int, with run: CoverageRows) {
        let bits = run.dirty[y]
        guard bits != 0 else { return }
        run.dirty[y] = 0
        stroke.dirty[y] |= bits
        let columns = run.blocks.hull(bits)
        let from = UnsafeMutableRawPointer(run.row(y))
        let to = UnsafeMutableRawPointer(stroke.row(y))
        var x = columns.lowerBound
        repeat {
            let new = from.loadUnaligned(fromByteOffset: x, as: SIMD16<UInt8>.self)
            let old = to.loadUnaligned(fromByteOffset: x, as: SIMD16<UInt8>.self)
            to.storeBytes(of: old.replacing(with: new, where: new .> old), toByteOffset: x, as: SIMD16<UInt8>.self)
            from.storeBytes(of: .zero, toByteOffset: x, as: SIMD16<UInt8>.self)
            x &+= 16
        } while x < columns.upperBound
    }
}

/// A pixel that is covered in part by a run and by the runs before it.
struct PartialOverlap {
    private var x: UInt16 = 0
    private var y: UInt16 = 0
    private var value: UInt8 = 0

    /// The room that ``find(_:_:_:_:to:)`` needs for so many pixels: it may write two more than there are.
    static func room(for pixels: Int) -> Int { pixels &+ 2 }

    /// Writes the overlaps of a row to memory. Returns their number.
    @inline(__always)
    static func find(
        _ run: CoverageRows, _ stroke: CoverageRows, _ y: Int, _ columns: Range<Int>,
        to place: UnsafeMutablePointer<PartialOverlap>
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
            // Of eight pixels none, one or two, hardly ever more: written without a branch that could be mispredicted.
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

    /// Computes what both cover together.
    @inline(__always)
    mutating func combine(_ run: CoverageRows, _ stroke: CoverageRows, _ seam: CoverageMerge.Seam?) {
        value = Self.union(run, stroke, Int(x), Int(y), seam)
    }

    @inline(__always)
    func write(to stroke: CoverageRows) { stroke.row(Int(y))[Int(x)] = value }

    @inline(__always)
    private static func union(
        _ run: CoverageRows, _ stroke: CoverageRows, _ x: Int, _ y: Int, _ seam: CoverageMerge.Seam?
    ) -> UInt8 {
        let a = Int32(run.row(y)[x])
        let b = Int32(stroke.row(y)[x])
        if let seam, seam.cuts(x, y) { return UInt8(truncatingIfNeeded: min(a &+ b, 255)) }
        // Converted as vectors, not one number after the other.
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
    /// The coverages to the left of a pixel, above, to the right and below; outside the box that of the pixel itself.
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
