internal import Ink

/// Joins the coverage of one run of a stroke to that of the runs before it.
///
/// Within a run the larger coverage of a pixel is the right one: the edges of neighbouring pieces are the same edge.
/// Where a later run meets an earlier one inside a pixel, what both cover together depends on how their edges lie:
/// edges that face the same way hide each other (the larger counts), edges that face each other leave a gap between
/// them (the sum counts), and edges that cross at a right angle are independent. Between these three cases the union
/// is interpolated over the cosine of the angle; the directions are the gradients of the coverages.
struct RunUnion {
    /// Where a smooth curve was cut straight across. In the pixels on the cut both runs have their share.
    struct Seam {
        private let place: SIMD2<Float>
        private let direction: SIMD2<Float>
        private let radius: Float

        init(at place: SIMD2<Float>, radius: Float, along direction: SIMD2<Float>) {
            self.place = place
            self.direction = direction
            self.radius = radius + PieceRows.fringe
        }

        @inline(__always)
        fileprivate func cuts(_ column: Int, _ row: Int) -> Bool {
            let offset = SIMD2(Float(column) + 0.5, Float(row) + 0.5) - place
            return abs(offset.dot(direction)) < PieceRows.fringe && abs(offset.cross(direction)) < radius
        }
    }

    private struct Conflict {
        var offset: Int
        var value: UInt8
    }

    /// What to write once all gradients have been looked at; kept for its memory.
    private var conflicts: [Conflict] = []

    /// Adds a run's rows to those of the stroke and wipes them.
    mutating func join(_ run: CoverageRows, to stroke: CoverageRows, rows: Range<Int>, seam: Seam?) {
        conflicts.removeAll(keepingCapacity: true)
        for y in rows {
            let common = run.marks[y] & stroke.marks[y]
            if common != 0 { findConflicts(run, stroke, y, run.blocks.span(common), seam) }
        }
        for y in rows { Self.raise(stroke, y, with: run) }
        for conflict in conflicts { stroke.bytes[conflict.offset] = conflict.value }
    }

    /// Takes the larger of both for the pixels of a row, and wipes the run's.
    ///
    /// Goes by sixteen pixels, and so beyond the last one: there are pixels of the next row, which are joined, too, or
    /// the ``CoverageMask/slack``.
    @inline(__always)
    private static func raise(_ stroke: CoverageRows, _ y: Int, with run: CoverageRows) {
        let bits = run.marks[y]
        guard bits != 0 else { return }
        run.marks[y] = 0
        stroke.marks[y] |= bits
        let columns = run.blocks.span(bits)
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

    private mutating func findConflicts(
        _ run: CoverageRows, _ stroke: CoverageRows, _ y: Int, _ columns: Range<Int>, _ seam: Seam?
    ) {
        // Little-endian: the lowest byte is the leftmost pixel.
        let new = UnsafeRawPointer(run.row(y))
        let old = UnsafeRawPointer(stroke.row(y))
        var x = columns.lowerBound
        repeat {
            var bits =
                Self.partial(new.loadUnaligned(fromByteOffset: x, as: UInt64.self))
                & Self.partial(old.loadUnaligned(fromByteOffset: x, as: UInt64.self))
            while bits != 0 {
                resolve(run, stroke, x &+ bits.trailingZeroBitCount / 8, y, seam)
                bits &= bits &- 1
            }
            x &+= 8
        } while x < columns.upperBound
    }

    /// The upper bit of every byte that is neither 0 nor 255: of one whose bits are not all alike.
    @inline(__always)
    private static func partial(_ bytes: UInt64) -> UInt64 {
        let changes = (bytes ^ (bytes >> 1)) & 0x7F7F_7F7F_7F7F_7F7F
        return (changes &+ 0x7F7F_7F7F_7F7F_7F7F) & 0x8080_8080_8080_8080
    }

    private mutating func resolve(
        _ run: CoverageRows, _ stroke: CoverageRows, _ x: Int, _ y: Int, _ seam: Seam?
    ) {
        let offset = y &* run.stride &+ x
        let a = Float(run.bytes[offset])
        let b = Float(stroke.bytes[offset])
        if let seam, seam.cuts(x, y) {
            return append(offset, a + b)
        }
        let slopeA = run.gradient(x, y)
        let slopeB = stroke.gradient(x, y)
        let product = slopeA.x * slopeB.x + slopeA.y * slopeB.y
        let squares = (slopeA.x * slopeA.x + slopeA.y * slopeA.y) * (slopeB.x * slopeB.x + slopeB.y * slopeB.y)
        let cosine = squares > 0 ? product / squares.root : 0
        let independent = a + b - a * b * (1 / 255)
        let extreme = cosine > 0 ? (a > b ? a : b) : (a + b).lowered(to: 255)
        let union = independent + (extreme - independent) * abs(cosine)
        append(offset, union)
    }

    private mutating func append(_ offset: Int, _ value: Float) {
        conflicts.append(
            Conflict(
                offset: offset, value: UInt8(truncatingIfNeeded: value.raised(to: 0).lowered(to: 255).roundedToInt)))
    }
}

extension CoverageRows {
    /// How the coverage changes around a pixel; whatever lies outside counts as the pixel itself.
    @inline(__always)
    fileprivate func gradient(_ x: Int, _ y: Int) -> SIMD2<Float> {
        let row = row(y)
        let left = row[x > 0 ? x &- 1 : x]
        let right = row[x &+ 1 < width ? x &+ 1 : x]
        let above = (y > 0 ? row - stride : row)[x]
        let below = (y &+ 1 < height ? row + stride : row)[x]
        return SIMD2(Float(Int32(right) &- Int32(left)), Float(Int32(below) &- Int32(above)))
    }
}
