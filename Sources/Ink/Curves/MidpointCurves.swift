/// The `smooth` style: midpoint smoothing over every fifth point, constant width.
///
/// With five points p0 … p4 at hand, p3 is replaced by the midpoint of p2 and p4, so that neighbouring segments meet
/// without a corner; the cubic p0 → p3 with controls p1, p2 is drawn, and p3, p4 start the next segment. After tuts+,
/// "Smooth Freehand Drawing on iOS". Points left over at the end are drawn as a line, a quadratic or a cubic.
struct SmoothCurve: Sendable {
    private let nib: Nib
    private var p0 = Vector.zero
    private var p1 = Vector.zero
    private var p2 = Vector.zero
    private var p3 = Vector.zero
    /// How many of p0 … p3 are set.
    private var waiting = 0

    init(width: Double, opacity: Double = 1) { nib = Nib(width: width, opacity: opacity) }

    mutating func add(_ point: Vector, into sink: inout some CurveSink) {
        switch waiting {
        case 0:
            sink.begin(at: point, nib: nib)
            p0 = point
        case 1: p1 = point
        case 2: p2 = point
        case 3: p3 = point
        default:
            let joint = p2.midpoint(to: point)
            sink.cubic(control1: p1, control2: p2, to: joint, nib: nib)
            p0 = joint
            p1 = point
            waiting = 1
        }
        waiting += 1
    }

    func finish(into sink: inout some CurveSink) {
        switch waiting {
        case 2: sink.line(to: p1, nib: nib)
        case 3: sink.quadratic(control: p1, to: p2, nib: nib)
        case 4: sink.cubic(control1: p1, control2: p2, to: p3, nib: nib)
        default: break
        }
    }
}

/// The `quadratic` style: consecutive midpoints with the touch point between them as control, constant width.
struct QuadraticCurve: Sendable {
    private let nib: Nib
    private var segments = MidpointQuadratics()

    init(width: Double) { nib = Nib(width: width) }

    mutating func add(_ point: Vector, into sink: inout some CurveSink) {
        segments.add(PenSample(position: point, nib: nib), into: &sink)
    }

    func finish(into sink: inout some CurveSink) { segments.finish(into: &sink) }
}

/// Quadratic segments between the midpoints of neighbouring points, each with the point between them as control.
///
/// The first segment begins at the first point and the last one ends at the last, so that two points are a line and three
/// points one quadratic. A joint has the mean of its neighbours' widths; along a segment the width is linear, or in the same
/// quadratic basis as the position.
struct MidpointQuadratics: Sendable {
    private let isSwelling: Bool
    private var start = PenSample.none
    private var control = PenSample.none
    private var end = PenSample.none
    /// How many points were added: 0, 1, 2, and 3 for more.
    private var count = 0

    /// - Parameter isSwelling: whether the width is quadratic along a segment, not linear.
    init(isSwelling: Bool = false) { self.isSwelling = isSwelling }

    mutating func add(_ sample: PenSample, into sink: inout some CurveSink) {
        switch count {
        case 0:
            sink.begin(at: sample.position, nib: sample.nib)
            start = sample
        case 1: break
        case 2: control = end
        default:
            let joint = control.midpoint(to: end)
            draw(to: joint, into: &sink)
            start = joint
            control = end
        }
        end = sample
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        switch count {
        case 2: sink.line(to: end.position, nib: end.nib)
        case 3: draw(to: end, into: &sink)
        default: break
        }
    }

    private func draw(to end: PenSample, into sink: inout some CurveSink) {
        if isSwelling {
            sink.quadratic(SwellingQuadratic(start: start, control: control, end: end))
        } else {
            sink.quadratic(control: control.position, to: end.position, nib: end.nib)
        }
    }
}
