internal import Ink

/// An edge of an outline: a parabola, or a straight line where `sag` is 0. Stroking makes edges, rasterizing takes them.
struct Edge {
    var start: SIMD2<Float>
    var end: SIMD2<Float>
    /// From the middle of the chord to the middle of the parabola, in pixels.
    var sag = SIMD2<Float>.zero
    /// The winding: 1, or −1 where the outline runs from `end` to `start`.
    var sign: Float

    /// Whether y has an extremum between the ends.
    @inline(__always)
    var turnsBack: Bool { abs(sag.y) * 4 > abs(end.y - start.y) }

    /// Both parts of an edge that turns back, cut at the extremum of y.
    var monotoneParts: (Edge, Edge) {
        let rise = end.y - start.y
        let at = (0.5 + rise / (sag.y * 8)).raised(to: 0).lowered(to: 1)
        let peak = start + ((end - start) + sag * (4 * (1 - at))) * at
        return (
            Edge(start: start, end: peak, sag: sag * (at * at), sign: sign),
            Edge(start: peak, end: end, sag: sag * ((1 - at) * (1 - at)), sign: sign)
        )
    }
}

/// Receives the edges of outlines, in any order.
protocol EdgeSink {
    mutating func add(_ edge: Edge)
    /// Adds two edges, which may be processed together.
    mutating func add(_ one: Edge, _ other: Edge)
    /// Ends an outline: all of its edges are there.
    mutating func flush()
}

/// How the outline of a run begins or ends.
enum LineCap {
    /// With half a disc.
    case round
    /// Straight across: another run goes on there.
    case butt
}

/// Sends the outline of a run of segments to a sink: both edges of each segment at once, the right one ahead (sign 1),
/// the left one back (sign −1).
///
/// The winding number of a place is the number of discs whose distance to it is a local minimum along the run, less that
/// of the local maxima: at least 1 where the run covers and 0 elsewhere, however tight it bends. Edges touch the discs
/// where those of the exact tapered capsules do; the edges of a parabola are taken as parabolas.
struct StrokeOutliner<Sink: EdgeSink> {
    /// The largest distance of a parabola from the arc that it stands for, in pixels.
    private static var arcTolerance: Float { 0.004 }
    /// The largest depth of the gap on the outer side of a bend that is left without an arc, in pixels.
    private static var joinTolerance: Float { 0.01 }
    private static var maxEdgesPerArc: Int { 64 }

    /// Where the edges go.
    var sink: Sink
    /// Where both edges have come to.
    private var left = SIMD2<Float>.zero
    private var right = SIMD2<Float>.zero
    /// Where the edges touch the last disc, from its centre, as unit vectors.
    private var leftContact = SIMD2<Float>.zero
    private var rightContact = SIMD2<Float>.zero
    private var end = CentreSample(x: 0, y: 0, radius: 0)
    private var endTangent = SIMD2<Float>.zero
    private(set) var isEmpty = true

    init(_ sink: Sink) { self.sink = sink }

    /// Goes on with a segment that begins where the last one ended and turns by less than a quarter.
    @inline(__always)
    mutating func add(_ segment: StrokeSegment, startCap: LineCap) {
        let start = segment.startCentre
        let radius = segment.start.radius
        let (startLeft, startRight) = Self.contacts(segment.startTangent, segment.contacts.start)
        if isEmpty, startCap == .round {
            left = start + startLeft * radius
            right = start + startRight * radius
            let behind = arc(at: left, around: start, radius, from: startLeft, to: -segment.startTangent, sign: 1)
            _ = arc(at: behind, around: start, radius, from: -segment.startTangent, to: startRight, sign: 1)
        } else {
            // After a butt cap the edges go on from where those of the last run ended.
            if isEmpty { sink.add(Edge(start: left, end: right, sign: 1)) }
            left = join(at: left, around: start, radius, from: leftContact, to: startLeft, sign: -1)
            right = join(at: right, around: start, radius, from: rightContact, to: startRight, sign: 1)
        }
        isEmpty = false
        end = segment.end
        endTangent = segment.endTangent
        (leftContact, rightContact) = Self.contacts(segment.endTangent, segment.contacts.end)
        let finish = segment.endCentre
        let endLeft = finish + leftContact * end.radius
        let endRight = finish + rightContact * end.radius
        var leftSag = SIMD2<Float>.zero
        var rightSag = SIMD2<Float>.zero
        if !segment.isStraight {
            // The tangent in the middle of a parabola is parallel to its chord.
            let (middleLeft, middleRight) = Self.contacts(segment.direction, segment.contacts.middle)
            let middle = (start + finish) * 0.5 + segment.sag
            let middleRadius = (radius + end.radius) * 0.5
            leftSag = middle + middleLeft * middleRadius - (left + endLeft) * 0.5
            rightSag = middle + middleRight * middleRadius - (right + endRight) * 0.5
        }
        sink.add(
            Edge(start: left, end: endLeft, sag: leftSag, sign: -1),
            Edge(start: right, end: endRight, sag: rightSag, sign: 1))
        left = endLeft
        right = endRight
    }

    /// Where the edges touch a disc that moves along a tangent and shrinks, on the left and on the right.
    @inline(__always)
    private static func contacts(
        _ tangent: SIMD2<Float>, _ contact: (ahead: Float, aside: Float)
    ) -> (SIMD2<Float>, SIMD2<Float>) {
        let ahead = tangent * contact.ahead
        let aside = tangent.left * contact.aside
        return (ahead + aside, ahead - aside)
    }

    /// The middle between the ends of both edges: of a butt cap that ends the run here.
    var middle: SIMD2<Float> { (left + right) * 0.5 }

    mutating func finish(_ cap: LineCap) {
        guard !isEmpty else { return }
        isEmpty = true
        var place = right
        if cap == .round {
            let centre = SIMD2(end.x, end.y)
            place = arc(at: place, around: centre, end.radius, from: rightContact, to: endTangent, sign: 1)
            place = arc(at: place, around: centre, end.radius, from: endTangent, to: leftContact, sign: 1)
        }
        if place != left { sink.add(Edge(start: place, end: left, sign: 1)) }
        sink.flush()
    }

    mutating func disc(_ sample: CentreSample) {
        let centre = SIMD2(sample.x, sample.y)
        let spokes: [SIMD2<Float>] = [SIMD2(1, 0), SIMD2(0, -1), SIMD2(-1, 0), SIMD2(0, 1), SIMD2(1, 0)]
        var place = centre + spokes[0] * sample.radius
        for (from, to) in zip(spokes, spokes.dropFirst()) {
            place = arc(at: place, around: centre, sample.radius, from: from, to: to, sign: 1)
        }
        sink.flush()
    }

    /// Goes around a joint on its outer side where the gap is deep; elsewhere the next edge begins where the last ended.
    /// Returns where it has come to.
    @inline(__always)
    private mutating func join(
        at place: SIMD2<Float>, around centre: SIMD2<Float>, _ radius: Float, from: SIMD2<Float>, to: SIMD2<Float>,
        sign: Float
    ) -> SIMD2<Float> {
        let gap = from - to
        guard gap.dot(gap) * radius > 8 * Self.joinTolerance else { return place }
        if from.cross(to) * sign < 0 {
            return arc(at: place, around: centre, radius, from: from, to: to, sign: sign)
        }
        let next = centre + to * radius
        sink.add(Edge(start: place, end: next, sign: sign))
        return next
    }

    /// Goes around a disc by less than half a turn. Returns where it has come to.
    private mutating func arc(
        at place: SIMD2<Float>, around centre: SIMD2<Float>, _ radius: Float, from: SIMD2<Float>, to: SIMD2<Float>,
        sign: Float
    ) -> SIMD2<Float> {
        var cosine = from.dot(to)
        var sine = from.cross(to)
        var count = 1
        // Halved until a parabola is near enough; 2 − 2·cos is about the square of the angle.
        while cosine < 0.5 || (1 - cosine) * (1 - cosine) * radius * (4 * 0.0016) > Self.arcTolerance,
            count < Self.maxEdgesPerArc
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
            sink.add(Edge(start: place, end: reached, sag: middle - (place + reached) * 0.5, sign: sign))
            place = reached
            spoke = next
        }
        return place
    }
}
