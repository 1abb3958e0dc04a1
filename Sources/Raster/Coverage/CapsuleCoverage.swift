internal import Ink

/// One tapered capsule on its way into a mask: two samples and the straight piece between them.
///
/// The distance of a pixel to a tapered capsule is the distance to the disc that touches it nearest: the disc's place
/// on the axis is the pixel's projection, moved by the slope of the taper and clamped to the ends. Pixels far behind
/// either end are not visited: there the neighbouring capsule, or a disc, is nearer anyway.
struct CapsuleCoverage {
    let start: CentreSample
    let end: CentreSample
    /// The unit vector from start to end, and how far it is.
    let directionX: Float
    let directionY: Float
    let length: Float

    /// `nil` where the samples are so close, or differ so much in radius, that their discs are all there is.
    @inline(__always)
    init?(from start: CentreSample, to end: CentreSample) {
        let dx = end.x - start.x
        let dy = end.y - start.y
        let length = (dx * dx + dy * dy).squareRoot()
        guard length > abs(start.radius - end.radius) * 1.02, length > 1e-3 else { return nil }
        self.start = start
        self.end = end
        self.length = length
        directionX = dx / length
        directionY = dy / length
    }

    /// The cosine of the angle between this piece and the next.
    @inline(__always)
    func cosine(to next: CapsuleCoverage) -> Float {
        directionX * next.directionX + directionY * next.directionY
    }

    /// Raises the pixels beside the piece, and those at most so many pixels behind its ends.
    func raise(_ rows: CoverageRows, before: Float, after: Float) {
        let taper = (start.radius - end.radius) / length
        let shift = taper / (1 - taper * taper).squareRoot()
        let skew = abs(shift) * (max(start.radius, end.radius) + CapsuleRows.fringe)
        let frame = CapsuleRows(self, low: -before - skew, high: length + after + skew)
        let profile = EdgeProfile(alongX: directionX, y: directionY)
        let thinning = (end.opacity - start.opacity) / length
        for y in frame.rows(rows) {
            let columns = frame.columns(y, rows).all
            guard !columns.isEmpty else { continue }
            rows.widen(y, by: columns)
            let row = rows.row(y)
            let dy = Float(y) + 0.5 - start.y
            let alongRow = dy * directionY
            let acrossRow = dy * directionX
            var x = columns.lowerBound
            var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - start.x)
            while x < columns.upperBound {
                let along = dx * directionX + alongRow
                let across = (acrossRow - dx * directionY).magnitude
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
