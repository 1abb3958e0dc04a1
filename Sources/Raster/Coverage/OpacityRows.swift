internal import Ink

/// How opaque the ink of a stroke is at each place, for pens whose ink varies: a byte a pixel on and beside the stroke;
/// where it crosses itself, that of the darker part.
///
/// The outline knows nothing of it; the coverage of the whole stroke is multiplied by it once.
struct OpacityRows {
    let rows: CoverageRows

    /// Raises the pixels beside a piece, and those at most so many pixels behind its ends, to the opacity of the disc
    /// that is nearest to them.
    func raise(_ piece: CentrePiece, before: Float, after: Float) {
        let start = piece.start
        let taper = piece.taper
        let shift = taper / (1 - taper * taper).root
        let frame = PieceRows(piece, before: before + piece.skew, after: after + piece.skew)
        let thinning = (piece.end.opacity - start.opacity) / piece.length
        for y in frame.rows(rows) {
            let columns = frame.columns(y, rows)
            guard !columns.isEmpty else { continue }
            mark(y, columns)
            let row = rows.row(y)
            let dy = Float(y) + 0.5 - start.y
            let alongRow = dy * piece.direction.y
            let acrossRow = dy * piece.direction.x
            var x = columns.lowerBound
            var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - start.x)
            while x < columns.upperBound {
                let along = dx * piece.direction.x + alongRow
                let across = acrossRow - dx * piece.direction.y
                let aside = across.replacing(with: -across, where: across .< 0)
                let foot = (along - aside * shift).raised(to: 0).lowered(to: piece.length)
                CoverageRows.raise(row + x, (start.opacity + foot * thinning) * 255)
                x &+= 4
                dx += 4
            }
        }
    }

    /// Raises the pixels that a lone disc can touch to its opacity.
    func raise(_ sample: CentreSample) {
        let reach = sample.radius + PieceRows.fringe
        let opacity = SIMD4(repeating: sample.opacity * 255)
        let columns = rows.columns(from: sample.x - reach, to: sample.x + reach)
        guard !columns.isEmpty else { return }
        for y in rows.rows(from: sample.y - reach, to: sample.y + reach) {
            mark(y, columns)
            for x in stride(from: columns.lowerBound, to: columns.upperBound, by: 4) {
                CoverageRows.raise(rows.row(y) + x, opacity)
            }
        }
    }

    @inline(__always)
    private func mark(_ y: Int, _ columns: Range<Int>) {
        // Vectors of four spill behind the last column.
        rows.marks[y] |= rows.blocks.bits(columns.lowerBound..<columns.upperBound &+ 3)
    }

    /// Multiplies one row of a mask by the opacity, at least `least` (0 … 1), and wipes the row here.
    func fade(_ y: Int, of mask: CoverageRows, least: Float) {
        let least = Int(least.lowered(to: 1) * 255)
        let opacity = rows.row(y)
        let covered = mask.row(y)
        mask.forEachSpan(y) { columns in
            for x in columns where covered[x] != 0 {
                let product = Int(covered[x]) &* max(Int(opacity[x]), least)
                covered[x] = UInt8(truncatingIfNeeded: (product &+ 127) / 255)
            }
        }
        rows.wipe(y)
    }
}
