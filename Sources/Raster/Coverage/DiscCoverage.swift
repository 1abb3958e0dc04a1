internal import Ink

/// One disc on its way into a mask: a dot, a round end or the outer side of a corner.
struct DiscCoverage {
    private let sample: CentreSample
    /// The profile is that of a straight edge; within a pixel a circle falls back behind its tangent by a little.
    private let edge: Float
    /// A pixel cannot be covered more than by the whole disc, which matters for dots smaller than a pixel.
    private let most: Float

    init(_ sample: CentreSample) {
        self.sample = sample
        edge = sample.radius - 1 / (24 * sample.radius.raised(to: 1))
        most = 255 * sample.opacity * (Float.pi * 0.5 * sample.radius).lowered(to: 1)
    }

    func raise(_ rows: CoverageRows) {
        let reach = sample.radius + PieceRows.fringe
        let isOpaque = sample.opacity >= 1
        for y in rows.rows(from: sample.y - reach, to: sample.y + reach) {
            let dy = Float(y) + 0.5 - sample.y
            let half = (reach * reach - dy * dy).raised(to: 0).squareRoot()
            let columns = rows.columns(from: sample.x - half, to: sample.x + half)
            guard !columns.isEmpty else { continue }
            rows.widen(y, by: columns)
            let solid =
                isOpaque
                ? solidColumns(rows, dy: dy, within: columns) : columns.upperBound..<columns.upperBound
            raise(rows.row(y), columns.lowerBound..<solid.lowerBound, dy: dy)
            CoverageRows.fill(rows.row(y) + solid.lowerBound, count: solid.count)
            raise(rows.row(y), solid.upperBound..<columns.upperBound, dy: dy)
        }
    }

    private func solidColumns(_ rows: CoverageRows, dy: Float, within columns: Range<Int>) -> Range<Int> {
        let inner = sample.radius - PieceRows.fringe
        guard inner > abs(dy) else { return columns.upperBound..<columns.upperBound }
        let core = (inner * inner - dy * dy).squareRoot()
        let solid = rows.columns(from: sample.x - core, to: sample.x + core)
        return solid.isEmpty ? columns.upperBound..<columns.upperBound : solid
    }

    @inline(__always)
    private func raise(_ row: UnsafeMutablePointer<UInt8>, _ columns: Range<Int>, dy: Float) {
        var x = columns.lowerBound
        var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - sample.x)
        while x < columns.upperBound {
            let far = (dx * dx + dy * dy).squareRoot().clampedBelow(1e-4)
            let profile = RadialProfile(x: dx.magnitude / far, y: SIMD4(repeating: abs(dy)) / far)
            let covered = profile.coverage(far - edge) - profile.coverage(far + sample.radius)
            CoverageRows.raise(row + x, covered * most)
            x &+= 4
            dx += 4
        }
    }
}
