internal import Ink

/// One tapered capsule on its way into a mask: the general way, for pieces that are thin, steep, translucent or bent.
///
/// The distance of a pixel to a tapered capsule is the distance to the disc that touches it nearest: the disc's place
/// on the axis is the pixel's projection, moved by the slope of the taper and clamped to the ends. Pixels far behind
/// either end are not visited: there the neighbouring capsule, or a disc, is nearer anyway.
enum CapsuleCoverage {
    /// Raises the pixels beside the piece, taken as straight, and those at most so many pixels behind its ends.
    static func raise(_ piece: CentrePiece, _ rows: CoverageRows, before: Float, after: Float) {
        let start = piece.start
        let length = piece.length
        let taper = piece.taper
        let shift = taper / (1 - taper * taper).squareRoot()
        let frame = PieceRows(piece, before: before + piece.skew, after: after + piece.skew)
        let profile = EdgeProfile(alongX: piece.directionX, y: piece.directionY)
        let thinning = (piece.end.opacity - start.opacity) / length
        for y in frame.rows(rows) {
            let columns = frame.columns(y, rows).all
            guard !columns.isEmpty else { continue }
            rows.widen(y, by: columns)
            let row = rows.row(y)
            let dy = Float(y) + 0.5 - start.y
            let alongRow = dy * piece.directionY
            let acrossRow = dy * piece.directionX
            var x = columns.lowerBound
            var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - start.x)
            while x < columns.upperBound {
                let along = dx * piece.directionX + alongRow
                let across = (acrossRow - dx * piece.directionY).magnitude
                let foot = (along - across * shift).clampedBelow(0).clampedAbove(length)
                let aside = along - foot
                let far = (across * across + aside * aside).squareRoot()
                let radius = start.radius - foot * taper
                // The other edge matters only where the line is thinner than a pixel.
                let covered = profile.coverage(far - radius) - profile.coverage(far + radius)
                CoverageRows.raise(row + x, covered * (255 * (start.opacity + foot * thinning)))
                x &+= 4
                dx += 4
            }
        }
    }
}
