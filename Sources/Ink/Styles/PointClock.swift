internal import StrokeWire

/// How fast the pen moves from point to point.
struct PointClock: Sendable {
    /// The time between two points without times of their own, in seconds: 60 points a second.
    private static let usual = 1.0 / 60

    private var place: Vector?
    private var milliseconds: Double?

    /// Board units a second from the last point to this one, not negative, `nil` for the first.
    mutating func speed(to point: StrokePoint) -> Double? {
        let here = Vector(point.x, point.y)
        defer {
            place = here
            milliseconds = point.milliseconds
        }
        guard let place else { return nil }
        var seconds = Self.usual
        // Clocks may stand still or be set back.
        if let now = point.milliseconds, let before = milliseconds, now > before { seconds = (now - before) / 1000 }
        return (here - place).length / seconds
    }
}
