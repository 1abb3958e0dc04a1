/// How far the edges of a line along a parabola are from being parabolas themselves.
///
/// An edge is the parabola moved across its direction by the radius. The parabola through the edge's ends and its
/// middle misses it by about radius · turn² · (3/8 · lean + 3/128 · turn²) pixels: the first terms of the series, where
/// `turn` is the tangent of half the angle by which the direction turns, and `lean` how much faster the parabola is at
/// one end than on average.
enum ParabolaEdges {
    /// How much they may be off, in pixels.
    private static let tolerance = 0.02
    /// Beyond these the series says too little, however thin the line is: 38 degrees, and one end four times as fast as
    /// the other.
    private static let mostTurnSquared = 0.12
    private static let mostLean = 0.6
    /// Wider lines are not cut into ever more pieces, in pixels.
    private static let mostRadius = 64.0

    /// Whether they are near enough, for the way from the start to the end of a parabola and how far its middle is from
    /// that of the way, in pixels.
    @inline(__always)
    static func areParabolas(way: Vector, sag: Vector, radius: Double) -> Bool {
        // Both by powers of the length instead of divided by it.
        let square = way.dot(way)
        let lean = abs(sag.dot(way)) * 4
        let across = sag.cross(way) * 4
        let turn = across * across
        let fourth = square * square
        let miss = min(radius, mostRadius) * turn * (0.375 * lean * square + 0.0234375 * turn)
        return miss <= fourth * fourth * tolerance && turn < fourth * mostTurnSquared && lean <= square * mostLean
    }
}
