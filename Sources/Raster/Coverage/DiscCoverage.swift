internal import Ink

/// One disc on its way into a mask: a dot, a round end or the outer side of a sharp corner.
struct DiscCoverage {
    let sample: CentreSample

    func raise(_ rows: CoverageRows) {
        let radius = sample.radius
        let reach = radius + 0.75
        let inner = radius - 1
        let isSolid = inner > 4 && sample.opacity >= 1
        // A pixel cannot be covered more than by the whole disc, which matters for dots smaller than a pixel.
        let most = 255 * sample.opacity * min(1, Float.pi * 0.5 * radius)
        for y in rows.rows(from: sample.y - reach, to: sample.y + reach) {
            let dy = Float(y) + 0.5 - sample.y
            let half = max(0, reach * reach - dy * dy).squareRoot()
            let columns = rows.columns(from: sample.x - half, to: sample.x + half)
            var solid = columns.lowerBound..<columns.lowerBound
            if isSolid, abs(dy) < inner {
                let core = (inner * inner - dy * dy).squareRoot()
                solid = rows.columns(from: sample.x - core, to: sample.x + core).clamped(to: columns)
            }
            guard !columns.isEmpty else { continue }
            rows.widen(y, by: columns)
            let row = rows.row(y)
            if solid.count < 8 {
                raise(row, columns, dy: dy, most: most)
            } else {
                raise(row, columns.lowerBound..<solid.lowerBound, dy: dy, most: most)
                (row + solid.lowerBound).update(repeating: 255, count: solid.count)
                raise(row, solid.upperBound..<columns.upperBound, dy: dy, most: most)
            }
        }
    }

    @inline(__always)
    private func raise(_ row: UnsafeMutablePointer<UInt8>, _ columns: Range<Int>, dy: Float, most: Float) {
        let radius = sample.radius
        // The profile is that of a straight edge; within a pixel a circle falls back behind its tangent by this much.
        let edge = radius - 1 / (24 * radius.raised(to: 1))
        var x = columns.lowerBound
        var dx = SIMD4<Float>(0.5, 1.5, 2.5, 3.5) + (Float(x) - sample.x)
        while x < columns.upperBound {
            let far = (dx * dx + dy * dy).squareRoot().clampedBelow(1e-4)
            let profile = RadialProfile(x: dx.magnitude / far, y: SIMD4(repeating: abs(dy)) / far)
            let covered = profile.coverage(far - edge) - profile.coverage(far + radius)
            CoverageRows.raise(row + x, covered * most)
            x &+= 4
            dx += 4
        }
    }
}

/// ``EdgeProfile`` with a direction of its own for each of four pixels.
struct RadialProfile {
    private let reach: SIMD4<Float>
    private let short: SIMD4<Float>
    private let long: SIMD4<Float>

    @inline(__always)
    init(x: SIMD4<Float>, y: SIMD4<Float>) {
        let steep = y .> x
        long = x.replacing(with: y, where: steep)
        short = y.replacing(with: x, where: steep).clampedBelow(1e-3)
        reach = (long + short) * 0.5
    }

    @inline(__always)
    func coverage(_ distance: SIMD4<Float>) -> SIMD4<Float> {
        let beyond = (reach - distance.magnitude).clampedBelow(0)
        let rounded = beyond.replacing(with: short, where: beyond .> short)
        let outside = (rounded * rounded * 0.5 / short + beyond - rounded) / long
        return outside.replacing(with: 1 - outside, where: distance .< 0)
    }
}
