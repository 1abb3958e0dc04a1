internal import Ink

/// The way of a disc without the discs at its ends, on its way into a mask: fast, for opaque pieces at least a pixel and
/// a half wide that go on smoothly at both ends.
///
/// Beside a straight piece the distance to the axis is linear in the pixel's place, beside an arc it is the distance to
/// the centre less the radius of the arc.
enum StripCoverage {
    /// Raises the pixels beside a straight piece, and those at most so many pixels behind its ends.
    static func raiseLine(_ piece: CentrePiece, _ rows: CoverageRows, before: Float, after: Float) {
        let ux = piece.directionX
        let uy = piece.directionY
        let start = piece.start
        let taper = piece.taper
        sweep(piece, rows, before: before, after: after) { dx, dy in
            let across = (SIMD4(repeating: dy * ux) - dx * uy).magnitude
            return across - (SIMD4(repeating: start.radius - dy * uy * taper) - dx * (ux * taper))
        }
    }

    /// Raises the pixels beside an arc, and those at most so many pixels behind its ends.
    static func raiseArc(_ piece: CentrePiece, _ rows: CoverageRows, before: Float, after: Float) {
        let ux = piece.directionX
        let uy = piece.directionY
        let start = piece.start
        let taper = piece.taper
        let radius = piece.arcRadius
        let depth = piece.bulge > 0 ? piece.bulge - radius : piece.bulge + radius
        let centreX = (piece.end.x - start.x) * 0.5 - uy * depth
        let centreY = (piece.end.y - start.y) * 0.5 + ux * depth
        sweep(piece, rows, before: before, after: after) { dx, dy in
            let outX = dx - centreX
            let outY = dy - centreY
            let across = ((outX * outX + outY * outY).squareRoot() - radius).magnitude
            return across - (SIMD4(repeating: start.radius - dy * uy * taper) - dx * (ux * taper))
        }
    }

    /// Raises what lies within a `distance` of the edge, a function of the place relative to the start.
    @inline(__always)
    private static func sweep(
        _ piece: CentrePiece, _ rows: CoverageRows, before: Float, after: Float,
        distance: (_ dx: SIMD4<Float>, _ dy: Float) -> SIMD4<Float>
    ) {
        let frame = PieceRows(piece, before: before, after: after)
        let profile = EdgeProfile(alongX: piece.directionX, y: piece.directionY)
        let all = frame.rows(rows)
        var y = all.lowerBound
        while y < all.upperBound {
            let (columns, solid) = frame.columns(y, rows)
            if !columns.isEmpty {
                rows.widen(y, by: columns)
                let row = rows.row(y)
                let dy = Float(y) + 0.5 - piece.start.y
                // First what lies left of the solid columns, then what lies right of them.
                var x = columns.lowerBound
                var end = solid.lowerBound
                while true {
                    var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - piece.start.x)
                    let limit = SIMD4(repeating: Float(end) - piece.start.x)
                    while x < end {
                        let covered = profile.coverage(distance(dx, dy)) * 255
                        CoverageRows.raise(row + x, covered.replacing(with: 0, where: dx .> limit))
                        x &+= 4
                        dx += 4
                    }
                    guard end < columns.upperBound else { break }
                    CoverageRows.fill(row + solid.lowerBound, count: solid.count)
                    x = solid.upperBound
                    end = columns.upperBound
                }
            }
            y &+= 1
        }
    }
}
