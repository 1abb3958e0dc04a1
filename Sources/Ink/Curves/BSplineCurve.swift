/// The `bspline` style: a uniform cubic B-spline with the points as control points; both end points count three times,
/// so that the curve reaches them. After Explain Everything, "Ink".
///
/// A point d board units from the one before has the width l · (½ + ½ · 8 / (8 + d)): l where the pen rests, ½ · l in
/// the limit. The width changes linearly along each segment; how finely a segment is cut is left to the sink, which
/// knows the resolution. Up to three points are drawn as in every style: a spline would not be one quadratic.
struct BSplineCurve: Sendable {
    /// Distance between two points at which half of the largest thinning is reached, in board units.
    private static let halving = 8.0

    private let width: Double
    private var a = PenSample.none
    private var b = PenSample.none
    private var c = PenSample.none
    /// How many of a, b, c are set; once all are, they are the last three samples.
    private var count = 0
    private var hasBegun = false

    init(width: Double) { self.width = width }

    mutating func add(_ point: Vector, into sink: inout some CurveSink) {
        switch count {
        case 0: a = PenSample(position: point, nib: Nib(width: width))
        case 1:
            b = sample(at: point, after: a)
            // The first point has the width of the second.
            a.nib = b.nib
        case 2: c = sample(at: point, after: b)
        default:
            if !hasBegun {
                begin(into: &sink)
                hasBegun = true
            }
            let d = sample(at: point, after: c)
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
        sink.begin(at: a.position, nib: a.nib)
        if count == 2 { sink.line(to: b.position, nib: b.nib) }
        if count == 3 { sink.quadratic(control: b.position, to: c.position, nib: c.nib) }
    }

    private func begin(into sink: inout some CurveSink) {
        sink.begin(at: a.position, nib: a.nib)
        Self.draw(a, a, a, b, into: &sink)
        Self.draw(a, a, b, c, into: &sink)
    }

    private func sample(at point: Vector, after last: PenSample) -> PenSample {
        let distance = (point - last.position).length
        return PenSample(
            position: point, nib: Nib(width: width * (0.5 + 0.5 * Self.halving / (Self.halving + distance))))
    }

    private static func draw(
        _ a: PenSample, _ b: PenSample, _ c: PenSample, _ d: PenSample, into sink: inout some CurveSink
    ) {
        let segment = BSplineSegment(a.position, b.position, c.position, d.position)
        sink.cubic(control1: segment.control1, control2: segment.control2, to: segment.end, nib: c.nib)
    }
}

/// One segment of a uniform cubic B-spline as a cubic Bézier.
///
/// With the control points q0 … q3 it is p(t) = ((1−t)³q0 + (3t³−6t²+4)q1 + (−3t³+3t²+3t+1)q2 + t³q3) / 6.
public struct BSplineSegment: Sendable, Equatable {
    /// Where the segment begins: near q1.
    public let start: Vector
    /// The control beside the start.
    public let control1: Vector
    /// The control beside the end.
    public let control2: Vector
    /// Where the segment ends: near q2.
    public let end: Vector

    /// Makes the segment of four control points.
    public init(_ q0: Vector, _ q1: Vector, _ q2: Vector, _ q3: Vector) {
        // As displacements from q1 and q2, so that equal points give exactly that point.
        start = q1 + ((q0 - q1) + (q2 - q1)) / 6
        control1 = q1 + (q2 - q1) / 3
        control2 = q2 + (q1 - q2) / 3
        end = q2 + ((q1 - q2) + (q3 - q2)) / 6
    }
}
