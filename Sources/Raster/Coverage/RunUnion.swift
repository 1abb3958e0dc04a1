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
        func cuts(_ column: Int, _ row: Int) -> Bool {
            let offset = SIMD2(Float(column) + 0.5, Float(row) + 0.5) - place
            return abs(offset.dot(direction)) < PieceRows.fringe && abs(offset.cross(direction)) < radius
        }
    }

    /// Where both cover pixels in part; kept for its memory: room for all pixels of the blocks that both have marked.
    private var conflicts: [RunConflict] = []

    /// Adds a run's rows to those of the stroke and wipes them.
    mutating func join(_ run: CoverageRows, to stroke: CoverageRows, rows: Range<Int>, seam: Seam?) {
        var blocks = 0
        for y in rows {
            let common = run.marks[y] & stroke.marks[y]
            if common != 0 { blocks &+= common.nonzeroBitCount }
        }
        let most = RunConflict.most(in: blocks &* run.blocks.columns)
        if conflicts.count < most {
            conflicts.append(contentsOf: repeatElement(RunConflict(), count: most - conflicts.count))
        }
        conflicts.withUnsafeMutableBufferPointer { conflicts in
            var end = conflicts.startIndex
            if blocks > 0, let place = conflicts.baseAddress {
                for y in rows {
                    let common = run.marks[y] & stroke.marks[y]
                    if common != 0 {
                        end &+= RunConflict.find(run, stroke, y, run.blocks.span(common), to: place + end)
                    }
                }
            }
            // Nothing may be written before all gradients have been looked at.
            for index in 0..<end { conflicts[index].resolve(run, stroke, seam) }
            for y in rows { Self.raise(stroke, y, with: run) }
            for index in 0..<end { conflicts[index].write(to: stroke) }
        }
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
}
