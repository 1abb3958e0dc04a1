internal import Ink

/// What a disc goes through between two samples of a centre line: a straight line or a parabola.
struct CentrePiece {
    let start: CentreSample
    let end: CentreSample
    /// From the start to the end, as a unit vector, and how far that is.
    let direction: SIMD2<Float>
    let length: Float
    /// The directions of travel at both ends, as unit vectors.
    let leaving: SIMD2<Float>
    let arriving: SIMD2<Float>
    /// How much the radius shrinks for every pixel of the way, at both ends and in the middle.
    let startTaper: Float
    let taper: Float
    let endTaper: Float

    /// Tapers are kept below 1: there one disc begins to hold the next.
    private static let steepest: Float = 0.98

    /// `nil` where the samples are so close, or differ so much in radius, that their discs are all there is.
    @inline(__always)
    init?(from start: CentreSample, to end: CentreSample, _ ways: CentreWays.Way) {
        let shrinks = start.radius - end.radius
        let length = ways.length
        guard length > abs(shrinks) * 1.02, length > 1e-3 else { return nil }
        self.start = start
        self.end = end
        self.length = length
        direction = ways.direction
        leaving = ways.leaving
        arriving = ways.arriving
        guard shrinks != 0 else {
            startTaper = 0
            taper = 0
            endTaper = 0
            return
        }
        taper = shrinks / length
        let bend = SIMD2(end.sagX, end.sagY) * 4
        let way = SIMD2(end.x - start.x, end.y - start.y)
        startTaper = shrinks / (way + bend).length.raised(to: abs(shrinks) / Self.steepest)
        endTaper = shrinks / (way - bend).length.raised(to: abs(shrinks) / Self.steepest)
    }

    var startPlace: SIMD2<Float> { SIMD2(start.x, start.y) }
    var endPlace: SIMD2<Float> { SIMD2(end.x, end.y) }
    var sag: SIMD2<Float> { SIMD2(end.sagX, end.sagY) }

    /// Whether the way is a straight line.
    @inline(__always)
    var isStraight: Bool { end.sagX == 0 && end.sagY == 0 }

    /// The radius of the disc that moves, at its largest.
    @inline(__always)
    var largestRadius: Float { start.radius > end.radius ? start.radius : end.radius }

    /// How far the straight sides of a tapered piece reach behind one of its ends; they are not parallel to its axis.
    @inline(__always)
    var skew: Float {
        taper == 0 ? 0 : abs(taper) / (1 - taper * taper).root * (largestRadius + PieceRows.fringe)
    }
}

extension SIMD2<Float> {
    @inline(__always)
    func dot(_ other: Self) -> Float { x * other.x + y * other.y }

    /// Positive when `other` lies clockwise of this vector on the screen.
    @inline(__always)
    func cross(_ other: Self) -> Float { x * other.y - y * other.x }

    @inline(__always)
    var length: Float { dot(self).root }

    /// The vector turned by a quarter to the left, on a screen whose y runs down.
    @inline(__always)
    var left: Self { Self(y, -x) }
}
