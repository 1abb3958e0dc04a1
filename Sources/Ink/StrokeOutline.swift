internal import StrokeWire

extension InkStroke {
    /// Sends outlines that cover the stroke when filled by the nonzero rule: one capsule for each segment of the
    /// flattened line, scaled by `scale`, within ``Flattener/tolerance`` of the curve.
    ///
    /// Returns the mean opacity of the line, 0 … 1: a filled outline has only one.
    @discardableResult
    public func outline(scale: Double, into sink: inout some OutlineSink) -> Double {
        var flattener = Flattener(scale: scale, canvasWidth: 1 << 40, canvasHeight: 1 << 40)
        trace(into: &flattener)
        let samples = flattener.samples
        guard let first = samples.first else { return 1 }
        func centre(_ sample: CentreSample) -> Vector { Vector(Double(sample.x), Double(sample.y)) }
        if samples.count == 1 { CapsuleOutline.disc(centre(first), Double(first.radius), into: &sink) }
        for (a, b) in zip(samples, samples.dropFirst()) where a != b {
            CapsuleOutline.trace(
                from: centre(a), radius: Double(a.radius), to: centre(b), radius: Double(b.radius), into: &sink)
        }
        return samples.reduce(0) { $0 + Double($1.opacity) } / Double(samples.count)
    }
}

/// Receives closed outlines, for vector formats.
public protocol OutlineSink {
    /// Begins an outline.
    mutating func move(to point: Vector)
    /// Adds a straight side.
    mutating func line(to point: Vector)
    /// Adds a cubic Bézier side.
    mutating func cubic(control1: Vector, control2: Vector, to point: Vector)
    /// Ends the outline with a straight side to its beginning.
    mutating func close()
}

/// The outline of the area that a disc sweeps on a straight line. Filled together by the nonzero rule, the outlines of
/// a stroke's segments are the stroke: all have the same winding direction.
private enum CapsuleOutline {
    /// Sends the outline of the hull of two discs.
    static func trace(
        from a: Vector, radius ra: Double, to b: Vector, radius rb: Double, into sink: inout some OutlineSink
    ) {
        let axis = b - a
        let distance = axis.length
        guard distance > abs(ra - rb) else {
            return ra > rb ? disc(a, ra, into: &sink) : disc(b, rb, into: &sink)
        }
        let along = axis / distance
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

    /// The arc from one unit vector to another that is less than half a turn away, in one or two cubics.
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
