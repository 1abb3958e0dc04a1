internal import Ink

/// The pen at one place of a flattened centre line, in board units.
struct Disc: Equatable {
    var centre: Vector
    var radius: Double
}

/// The way from one disc to the next, as far as neither holds the other.
struct DiscStep {
    let from: Disc
    let to: Disc
    /// Unit vector of the way.
    let forward: Vector
    /// Board units between the centres.
    let length: Double

    /// `nil` where one disc holds the other, or nearly: what they cover is the larger one.
    init?(from: Disc, to: Disc) {
        let way = to.centre - from.centre
        let length = way.length
        guard length * 0.999 > abs(to.radius - from.radius), length > 1e-9 else { return nil }
        self.from = from
        self.to = to
        self.length = length
        forward = way / length
    }

    /// Unit vector to the left of the way, as seen on the screen.
    var left: Vector { Vector(forward.y, -forward.x) }

    /// How fast the radius falls: the cosine of the angle between the way and the rays to the common tangents.
    var taper: Double { (from.radius - to.radius) / length }
}
