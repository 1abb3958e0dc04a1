/// The outline of what a disc covers on its way from one place to another: together, under the nonzero rule, the
/// outlines of all steps of a stroke are the stroke. All run the same way round.
struct CapsuleOutline {
    /// Sends the outline of the hull of two discs.
    static func trace(
        from a: Vector, radius ra: Double, to b: Vector, radius rb: Double, into sink: inout some OutlineSink
    ) {
        let way = b - a
        let distance = way.length
        guard distance > abs(ra - rb) else {
            return ra > rb ? disc(a, ra, into: &sink) : disc(b, rb, into: &sink)
        }
        let along = way / distance
        let normal = Vector(-along.y, along.x)
        // The common tangents touch both discs at the same angle from the axis.
        let cosine = (ra - rb) / distance
        let sine = (1 - cosine * cosine).squareRoot()
        let right = along * cosine + normal * sine
        let left = along * cosine - normal * sine
        sink.move(to: a + right * ra)
        arc(a, ra, from: right, over: -along, into: &sink)
        arc(a, ra, from: -along, over: left, into: &sink)
        sink.line(to: b + left * rb)
        arc(b, rb, from: left, over: along, into: &sink)
        arc(b, rb, from: along, over: right, into: &sink)
        sink.close()
    }

    /// Sends the outline of one disc.
    static func disc(_ centre: Vector, _ radius: Double, into sink: inout some OutlineSink) {
        let right = Vector(1, 0)
        let down = Vector(0, 1)
        sink.move(to: centre + right * radius)
        arc(centre, radius, from: right, over: down, into: &sink)
        arc(centre, radius, from: down, over: -right, into: &sink)
        arc(centre, radius, from: -right, over: -down, into: &sink)
        arc(centre, radius, from: -down, over: right, into: &sink)
        sink.close()
    }

    /// The arc from one unit vector to another that is less than half a turn away, in one or two pieces.
    private static func arc(
        _ centre: Vector, _ radius: Double, from start: Vector, over end: Vector, into sink: inout some OutlineSink
    ) {
        let sum = start + end
        let length = sum.length
        guard length < 1.4, length > 1e-9 else { return quarter(centre, radius, start, end, into: &sink) }
        let middle = sum / length
        quarter(centre, radius, start, middle, into: &sink)
        quarter(centre, radius, middle, end, into: &sink)
    }

    /// One cubic for at most about a quarter of a turn; the handles are 4/3·tan(φ/4) of the radius.
    private static func quarter(
        _ centre: Vector, _ radius: Double, _ start: Vector, _ end: Vector, into sink: inout some OutlineSink
    ) {
        let half = ((1 + max(-1, start.dot(end))) * 0.5).squareRoot()
        let sine = (1 - min(half * half, 1)).squareRoot()
        guard sine > 1e-9 else { return sink.line(to: centre + end * radius) }
        let handle = 4.0 / 3.0 * (1 - half) / sine * (start.cross(end) >= 0 ? 1 : -1)
        let turnedStart = Vector(-start.y, start.x)
        let turnedEnd = Vector(-end.y, end.x)
        sink.cubic(
            control1: centre + (start + turnedStart * handle) * radius,
            control2: centre + (end - turnedEnd * handle) * radius, to: centre + end * radius)
    }
}
