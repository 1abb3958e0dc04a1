/// ``EdgeProfile`` with a direction of its own for each of four pixels.
struct RadialProfile {
    private let reach: SIMD4<Float>
    private let short: SIMD4<Float>
    private let long: SIMD4<Float>

    /// The profiles for edges across the directions (`x`, `y`), whose components have no signs.
    @inline(__always)
    init(x: SIMD4<Float>, y: SIMD4<Float>) {
        let steep = y .> x
        long = x.replacing(with: y, where: steep)
        short = y.replacing(with: x, where: steep).clampedBelow(1e-3)
        reach = (long + short) * 0.5
    }

    /// The covered part, 0 … 1, of pixels whose centres lie `distance` outside the edge (negative: inside).
    @inline(__always)
    func coverage(_ distance: SIMD4<Float>) -> SIMD4<Float> {
        let beyond = (reach - distance.magnitude).clampedBelow(0)
        let rounded = beyond.replacing(with: short, where: beyond .> short)
        let outside = (rounded * rounded * 0.5 / short + beyond - rounded) / long
        return outside.replacing(with: 1 - outside, where: distance .< 0)
    }
}
