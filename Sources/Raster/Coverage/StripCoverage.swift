internal import Ink

/// The straight part of a tapered capsule on its way into a mask: fast, for pieces that bend gently into the next.
///
/// Without the round ends the distance to the edge is linear in the pixel's place. A strip reaches half the mitre
/// beyond its ends, so that strips that meet at a small angle close the outer side of the bend; over an angle θ the
/// mitre sticks out r·θ²/8, which ``StrokeCoverage`` keeps below what can be seen.
struct StripCoverage {
    private let capsule: CapsuleCoverage
    private let taper: Float
    private let profile: EdgeProfile

    @inline(__always)
    init(_ capsule: CapsuleCoverage) {
        self.capsule = capsule
        taper = (capsule.start.radius - capsule.end.radius) / capsule.length
        profile = EdgeProfile(alongX: capsule.directionX, y: capsule.directionY)
    }

    /// Raises the pixels beside the piece, and those at most so many pixels behind its ends.
    func raise(_ rows: CoverageRows, before: Float, after: Float) {
        let frame = CapsuleRows(capsule, low: -before, high: capsule.length + after)
        let start = capsule.start
        let ux = capsule.directionX
        let uy = capsule.directionY
        var y = frame.rows(rows).lowerBound
        let bottom = frame.rows(rows).upperBound
        while y < bottom {
            let (columns, solid) = frame.columns(y, rows)
            if !columns.isEmpty {
                rows.widen(y, by: columns)
                let row = rows.row(y)
                let dy = Float(y) + 0.5 - start.y
                let acrossRow = SIMD4(repeating: dy * ux)
                let radiusRow = SIMD4(repeating: start.radius - dy * uy * taper)
                var x = columns.lowerBound
                var end = solid.isEmpty ? columns.upperBound : solid.lowerBound
                while true {
                    var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - start.x)
                    let limit = SIMD4(repeating: Float(end) - start.x)
                    while x < end {
                        let across = (acrossRow - dx * uy).magnitude
                        let covered = profile.coverage(across - (radiusRow - dx * (ux * taper))) * 255
                        CoverageRows.raise(row + x, covered.replacing(with: 0, where: dx .> limit))
                        x &+= 4
                        dx += 4
                    }
                    guard end < columns.upperBound else { break }
                    (row + solid.lowerBound).update(repeating: 255, count: solid.count)
                    x = solid.upperBound
                    end = columns.upperBound
                }
            }
            y &+= 1
        }
    }
}
