/// How much of a pixel lies behind a straight edge, exactly: the pixel is a unit square, not a disc.
///
/// For an edge whose unit normal has the components `long` ≥ `short` (without signs) the covered part as a function of
/// the distance of the pixel's centre is a straight ramp that is rounded off at both ends over the width of `short`
/// (the convolution of two boxes).
struct EdgeProfile {
    /// The distance from which a pixel is wholly on one side.
    private let reach: Float
    private let short: Float
    private let inverseLong: Float
    private let halfInverseShort: Float

    /// The profile for an edge along the direction (`x`, `y`), which has length 1.
    @inline(__always)
    init(alongX x: Float, y: Float) {
        let long = max(abs(x), abs(y))
        short = max(min(abs(x), abs(y)), 1e-3)
        reach = (long + short) * 0.5
        inverseLong = 1 / long
        halfInverseShort = 0.5 / short
    }

    /// The covered part, 0 … 1, of pixels whose centres lie `distance` outside the edge (negative: inside).
    @inline(__always)
    func coverage(_ distance: SIMD4<Float>) -> SIMD4<Float> {
        let beyond = (reach - distance.magnitude).clampedBelow(0)
        let rounded = beyond.clampedAbove(short)
        let outside = (rounded * rounded * halfInverseShort + beyond - rounded) * inverseLong
        return outside.replacing(with: 1 - outside, where: distance .< 0)
    }
}

extension SIMD4<Float> {
    /// The lanes without their signs.
    @inline(__always)
    var magnitude: Self {
        Self(bitPattern: unsafeBitCast(self, to: SIMD4<UInt32>.self) & 0x7FFF_FFFF)
    }

    @inline(__always)
    private init(bitPattern: SIMD4<UInt32>) {
        self = unsafeBitCast(bitPattern, to: Self.self)
    }

    /// The lanes, at least `bound`.
    @inline(__always)
    func clampedBelow(_ bound: Float) -> Self {
        replacing(with: Self(repeating: bound), where: self .< bound)
    }

    /// The lanes, at most `bound`.
    @inline(__always)
    func clampedAbove(_ bound: Float) -> Self {
        replacing(with: Self(repeating: bound), where: self .> bound)
    }
}
