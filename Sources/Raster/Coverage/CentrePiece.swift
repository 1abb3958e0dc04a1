internal import Ink

/// What a disc goes through between two samples of a centre line: a straight line or an arc of a circle.
struct CentrePiece {
    let start: CentreSample
    let end: CentreSample
    /// How far the middle is from the chord; positive to the right of its direction.
    let bulge: Float
    /// The unit vector from start to end, and how far it is.
    let directionX: Float
    let directionY: Float
    let length: Float
    /// The directions of travel at both ends, as unit vectors.
    let leavingX: Float
    let leavingY: Float
    let arrivingX: Float
    let arrivingY: Float

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
        bulge = end.bulge
        // Half the turn of the arc: its tangent is 2·bulge / length at a quarter, hence by the half-angle formulas.
        let quarter = 2 * bulge / length
        let scale = 1 / (1 + quarter * quarter)
        let cosine = (1 - quarter * quarter) * scale
        let sine = 2 * quarter * scale
        // The arc leaves to the side of the bulge and comes back from it.
        leavingX = directionX * cosine - directionY * sine
        leavingY = directionY * cosine + directionX * sine
        arrivingX = directionX * cosine + directionY * sine
        arrivingY = directionY * cosine - directionX * sine
    }

    /// The cosine of the angle between the end of this piece and the beginning of the next.
    @inline(__always)
    func cosine(to next: CentrePiece) -> Float {
        arrivingX * next.leavingX + arrivingY * next.leavingY
    }

    /// The radius of the disc that moves, at its largest.
    @inline(__always)
    var largestRadius: Float { start.radius > end.radius ? start.radius : end.radius }

    /// The radius of the disc that moves, at its smallest.
    @inline(__always)
    var smallestRadius: Float { start.radius < end.radius ? start.radius : end.radius }

    /// How much the radius shrinks for every pixel of the way.
    @inline(__always)
    var taper: Float { (start.radius - end.radius) / length }

    /// How far the straight sides of a tapered piece reach behind one of its ends; they are not parallel to its axis.
    @inline(__always)
    var skew: Float {
        let taper = taper
        return taper == 0 ? 0 : abs(taper) / (1 - taper * taper).squareRoot() * (largestRadius + PieceRows.fringe)
    }

    /// The radius of the arc itself.
    @inline(__always)
    var arcRadius: Float { (length * length * 0.25 + bulge * bulge) / (2 * abs(bulge)) }

    /// The sample in the middle of an arc, and the bulge of both halves.
    @inline(__always)
    var middle: CentreSample {
        let x = (start.x + end.x) * 0.5 - directionY * bulge
        let y = (start.y + end.y) * 0.5 + directionX * bulge
        let radius = arcRadius
        let half = (length * length * 0.25 + bulge * bulge) * 0.25
        let sag = radius - (radius * radius - half).raised(to: 0).squareRoot()
        return CentreSample(
            x: x, y: y, radius: (start.radius + end.radius) * 0.5, opacity: (start.opacity + end.opacity) * 0.5,
            bulge: bulge > 0 ? sag : -sag)
    }
}
