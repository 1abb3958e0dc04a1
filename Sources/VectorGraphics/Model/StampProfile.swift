internal import Ink

/// The ink across a line of stamps, spread evenly: as dark as in its middle, and as wide as to hold as much ink.
///
/// Vector graphics have no brush. Stamps build up within a stroke, so that their line is almost solid, narrower than the
/// brush and soft at its edges; here the edges are sharp.
struct StampProfile {
    /// The width of the even line, as a part of the width of the brush.
    let width: Double
    /// The opacity of the even line.
    let opacity: Double

    /// The stamps of a pen that stays in one place.
    /// - Parameter alpha: how much of the colour a stamp puts on at its centre, 0 … 1.
    static func dot(alpha: Double) -> StampProfile {
        func coverage(_ distance: Double) -> Double {
            let stamp = alpha * brush(distance)
            return 1 - (0..<StampPlacer.dotStamps).reduce(1.0) { left, _ in left * (1 - stamp) }
        }
        let profile = StampProfile(weight: { 2 * $0 }, coverage: coverage)
        // A disc, whose ink grows with the square of its width.
        return StampProfile(width: profile.width.squareRoot(), opacity: profile.opacity)
    }

    /// The stamps along a line, one every ``StampPlacer/spacing`` of it.
    /// - Parameters:
    ///   - radius: half the width of the brush in board units. A larger one than 32 is taken as that: the stamps on
    ///     each other are so many that more make no difference.
    ///   - alpha: how much of the colour a stamp puts on at its centre, 0 … 1.
    static func line(radius: Double, alpha: Double) -> StampProfile {
        let step = StampPlacer.spacing / min(max(radius, 0.25), 32)
        let reach = Int((1 / step).rounded(.up))
        func coverage(_ distance: Double) -> Double {
            let left = (-reach...reach).reduce(1.0) { left, stamp in
                let along = Double(stamp) * step
                return left * (1 - alpha * brush((along * along + distance * distance).squareRoot()))
            }
            return 1 - left
        }
        return StampProfile(weight: { _ in 1 }, coverage: coverage)
    }

    private init(width: Double, opacity: Double) {
        self.width = width
        self.opacity = opacity
    }

    /// Sums the ink from the middle, 0, to the edge of the brush, 1.
    private init(weight: (Double) -> Double, coverage: (Double) -> Double) {
        let samples = 32
        let middle = coverage(0)
        let ink = (0..<samples).reduce(0.0) { sum, index in
            let distance = (Double(index) + 0.5) / Double(samples)
            return sum + weight(distance) * coverage(distance) / Double(samples)
        }
        self.init(width: middle > 0 ? ink / middle : 0, opacity: middle)
    }

    private static func brush(_ distance: Double) -> Double { Double(Stamp.brush(Float(distance))) }
}
