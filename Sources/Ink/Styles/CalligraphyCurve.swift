internal import StrokeWire

/// The `calligraphy` style: quadratics between midpoints; the faster or harder the pen, the wider the line. After
/// Krzysztof Zabłocki, "Smooth drawing".
///
/// The size is 1 … 40, speed / 166 or 1 + 39·force, from the third point on 0.2 of it and 0.8 of the size before, and is
/// scaled by l/16: size 16 is the line width of the stroke. Points closer than 1.5 units to the one before are left out,
/// but the last one is reached. The pieces are not cut into a fixed number of samples here: whoever flattens them knows
/// the resolution.
struct CalligraphyCurve: Sendable {
    private static let nearest = 1.5

    private let width: Double
    private var clock = PointClock()
    private var pieces = MidpointQuadratics()
    private var last: Vector?
    /// A point that was too near, and may yet be the last.
    private var skipped: Vector?
    /// The width of the first point, held back until it is known to be more than a dot.
    private var first: Nib?
    private var size = 1.0
    private var count = 0

    init(width: Double) {
        self.width = width
    }

    mutating func add(_ point: StrokePoint, into sink: inout some CurveSink) {
        let place = Vector(point.x, point.y)
        if let last, (place - last).length < Self.nearest {
            skipped = place
            return
        }
        // The clock sees the points that are drawn: the way from one to the next over the time that it took.
        let speed = clock.speed(to: point)
        let fresh = point.force.map { 1 + 39 * $0 } ?? min(max(speed / 166, 1), 40)
        size = count >= 2 ? 0.2 * fresh + 0.8 * size : fresh
        count += 1
        skipped = nil
        let nib = Nib(width: size * width / 16)
        if let last, let first {
            pieces.add(last, nib: first, into: &sink)
            self.first = nil
        }
        if count == 1 { first = nib } else { pieces.add(place, nib: nib, into: &sink) }
        last = place
    }

    func finish(into sink: inout some CurveSink) {
        guard let last else { return }
        guard count > 1 else {
            // A dot is as wide as the line.
            sink.begin(at: last, nib: Nib(width: width))
            if let skipped { sink.line(to: skipped, nib: Nib(width: width)) }
            return
        }
        var pieces = pieces
        if let skipped { pieces.add(skipped, nib: Nib(width: size * width / 16), into: &sink) }
        pieces.finish(into: &sink)
    }
}
