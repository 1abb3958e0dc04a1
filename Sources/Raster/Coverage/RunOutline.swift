internal import Ink

/// Draws the outline of a run into the cells as the run goes on: both its sides at once, ahead on the right and back on
/// the left.
///
/// The outline winds around every place once for each disc that is nearest there and less once for each that is
/// farthest: at least once where the run covers, nowhere else, however tight it bends. Sides touch the discs where those
/// of the exact tapered capsules do; those of a parabola are taken as parabolas.
struct RunOutline {
    /// How far a parabola may be from the arc of a disc that it stands for, in pixels.
    static let tolerance: Float = 0.004
    /// The gap on the outer side of a bend may be this deep, in pixels, before the side goes around the disc.
    private static let mitre: Float = 0.01
    /// No piece is cut into more sides than this.
    private static let mostSides = 64

    private var area: AreaRows
    private var left = SIMD2<Float>.zero
    private var right = SIMD2<Float>.zero
    /// Where the sides touch the last disc, from its centre, as unit vectors.
    private var leftward = SIMD2<Float>.zero
    private var rightward = SIMD2<Float>.zero
    private var end = CentreSample(x: 0, y: 0, radius: 0)
    /// The direction of travel at the end.
    private var arriving = SIMD2<Float>.zero
    private(set) var isEmpty = true

    init(_ area: AreaRows) {
        self.area = area
    }

    /// How an outline begins or ends.
    enum End {
        /// With half a disc.
        case round
        /// Straight across: another run goes on there.
        case cut
    }

    /// Goes on with a piece that begins where the last one ended and turns by less than a quarter.
    @inline(__always)
    mutating func add(_ piece: CentrePiece, begin: End) {
        let start = piece.startPlace
        let radius = piece.start.radius
        let (startLeft, startRight) = Self.touching(piece.leaving, piece.startTaper)
        if isEmpty, begin == .round {
            left = start + startLeft * radius
            right = start + startRight * radius
            let behind = fan(at: left, around: start, radius, from: startLeft, to: -piece.leaving, sign: 1)
            _ = fan(at: behind, around: start, radius, from: -piece.leaving, to: startRight, sign: 1)
        } else {
            // After a cut the sides go on from where those of the last run ended.
            if isEmpty { area.add(Side(start: left, end: right, sign: 1)) }
            left = turn(at: left, around: start, radius, from: leftward, to: startLeft, sign: -1)
            right = turn(at: right, around: start, radius, from: rightward, to: startRight, sign: 1)
        }
        isEmpty = false
        end = piece.end
        arriving = piece.arriving
        (leftward, rightward) = Self.touching(piece.arriving, piece.endTaper)
        let finish = piece.endPlace
        let endLeft = finish + leftward * end.radius
        let endRight = finish + rightward * end.radius
        var leftSag = SIMD2<Float>.zero
        var rightSag = SIMD2<Float>.zero
        if !piece.isStraight {
            // In its middle a parabola runs along its chord.
            let (middleLeft, middleRight) = Self.touching(piece.direction, piece.taper)
            let middle = (start + finish) * 0.5 + piece.sag
            let middleRadius = (radius + end.radius) * 0.5
            leftSag = middle + middleLeft * middleRadius - (left + endLeft) * 0.5
            rightSag = middle + middleRight * middleRadius - (right + endRight) * 0.5
        }
        area.add(
            Side(start: left, end: endLeft, sag: leftSag, sign: -1),
            Side(start: right, end: endRight, sag: rightSag, sign: 1))
        left = endLeft
        right = endRight
    }

    /// Where the sides touch the disc on its way, on the left and on the right.
    @inline(__always)
    private static func touching(_ direction: SIMD2<Float>, _ taper: Float) -> (SIMD2<Float>, SIMD2<Float>) {
        let across = direction.left
        guard taper != 0 else { return (across, -across) }
        let ahead = direction * taper
        let aside = across * (1 - taper * taper).root
        return (ahead + aside, ahead - aside)
    }

    /// The middle between the sides, where a cut would be.
    var middle: SIMD2<Float> { (left + right) * 0.5 }

    /// Ends the outline.
    mutating func finish(_ kind: End) {
        guard !isEmpty else { return }
        isEmpty = true
        var place = right
        if kind == .round {
            let centre = SIMD2(end.x, end.y)
            place = fan(at: place, around: centre, end.radius, from: rightward, to: arriving, sign: 1)
            place = fan(at: place, around: centre, end.radius, from: arriving, to: leftward, sign: 1)
        }
        if place != left { area.add(Side(start: place, end: left, sign: 1)) }
        area.settle()
    }

    /// Draws the outline of one disc.
    mutating func disc(_ sample: CentreSample) {
        let centre = SIMD2(sample.x, sample.y)
        let spokes: [SIMD2<Float>] = [SIMD2(1, 0), SIMD2(0, -1), SIMD2(-1, 0), SIMD2(0, 1), SIMD2(1, 0)]
        var place = centre + spokes[0] * sample.radius
        for (from, to) in zip(spokes, spokes.dropFirst()) {
            place = fan(at: place, around: centre, sample.radius, from: from, to: to, sign: 1)
        }
        area.settle()
    }

    /// Goes around a joint where it is on the outer side and deep; elsewhere the next side begins where the last ended.
    /// Returns where it has come to.
    @inline(__always)
    private mutating func turn(
        at place: SIMD2<Float>, around centre: SIMD2<Float>, _ radius: Float, from: SIMD2<Float>, to: SIMD2<Float>,
        sign: Float
    ) -> SIMD2<Float> {
        let gap = from - to
        guard gap.dot(gap) * radius > 8 * Self.mitre else { return place }
        if from.cross(to) * sign < 0 {
            return fan(at: place, around: centre, radius, from: from, to: to, sign: sign)
        }
        let next = centre + to * radius
        area.add(Side(start: place, end: next, sign: sign))
        return next
    }

    /// Goes around a disc by less than half a turn, and returns where it has come to.
    private mutating func fan(
        at place: SIMD2<Float>, around centre: SIMD2<Float>, _ radius: Float, from: SIMD2<Float>, to: SIMD2<Float>,
        sign: Float
    ) -> SIMD2<Float> {
        var cosine = from.dot(to)
        var sine = from.cross(to)
        var count = 1
        // Halved until a parabola is near enough; 2 − 2·cos is about the square of the angle.
        while cosine < 0.5 || (1 - cosine) * (1 - cosine) * radius * (4 * 0.0016) > Self.tolerance,
            count < Self.mostSides
        {
            let half = ((1 + cosine) * 0.5).raised(to: 1e-6).root
            sine = sine / (2 * half)
            cosine = half
            count &*= 2
        }
        let scale = 1 / ((1 + cosine) * 2).raised(to: 1e-6).root
        var place = place
        var spoke = from
        for index in 1...count {
            let next =
                index == count
                ? to : SIMD2(spoke.x * cosine - spoke.y * sine, spoke.y * cosine + spoke.x * sine)
            let reached = centre + next * radius
            let middle = centre + (spoke + next) * (scale * radius)
            area.add(Side(start: place, end: reached, sag: middle - (place + reached) * 0.5, sign: sign))
            place = reached
            spoke = next
        }
        return place
    }
}
