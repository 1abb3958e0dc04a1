/// The `bspline` style: a uniform cubic B-spline, which the points pull at; both end points count three times, so that
/// it reaches them. After Explain Everything, "Ink".
///
/// A point d board units from the one before has the width l · (½ + ½ · 8 / (8 + d)): l where the pen rests, ½ · l in the
/// limit. The width changes linearly along each segment; how finely a segment is cut is left to the sink, which knows
/// the resolution. Up to three points are drawn as in every style: a spline would not be one quadratic.
struct BSplineCurve: Sendable {
    /// The distance at which half of what speed takes off the width is gone, in board units.
    private static let halving = 8.0

    private let width: Double
    private var a = PenStop.none
    private var b = PenStop.none
    private var c = PenStop.none
    /// How many of a, b, c are there; once there are three, they are the last three.
    private var count = 0
    private var hasBegun = false

    init(width: Double) {
        self.width = width
    }

    mutating func add(_ point: Vector, into sink: inout some CurveSink) {
        switch count {
        case 0: a = PenStop(place: point, nib: Nib(width: width))
        case 1:
            b = stop(at: point, after: a)
            // The first point is as wide as the way to the second says.
            a.nib = b.nib
        case 2: c = stop(at: point, after: b)
        default:
            if !hasBegun {
                begin(into: &sink)
                hasBegun = true
            }
            let d = stop(at: point, after: c)
            Self.draw(a, b, c, d, into: &sink)
            (a, b, c) = (b, c, d)
        }
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        guard !hasBegun else {
            Self.draw(a, b, c, c, into: &sink)
            Self.draw(b, c, c, c, into: &sink)
            return
        }
        guard count > 0 else { return }
        sink.begin(at: a.place, nib: a.nib)
        if count == 2 { sink.line(to: b.place, nib: b.nib) }
        if count == 3 { sink.quadratic(control: b.place, to: c.place, nib: c.nib) }
    }

    private func begin(into sink: inout some CurveSink) {
        sink.begin(at: a.place, nib: a.nib)
        Self.draw(a, a, a, b, into: &sink)
        Self.draw(a, a, b, c, into: &sink)
    }

    private func stop(at point: Vector, after last: PenStop) -> PenStop {
        let distance = (point - last.place).length
        return PenStop(
            place: point, nib: Nib(width: width * (0.5 + 0.5 * Self.halving / (Self.halving + distance))))
    }

    private static func draw(
        _ a: PenStop, _ b: PenStop, _ c: PenStop, _ d: PenStop, into sink: inout some CurveSink
    ) {
        let segment = BSplineSegment(a.place, b.place, c.place, d.place)
        sink.cubic(control1: segment.control1, control2: segment.control2, to: segment.end, nib: c.nib)
    }
}
