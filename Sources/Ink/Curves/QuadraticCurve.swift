/// The `quadratic` style: consecutive midpoints with the touch point between them as control, constant width.
struct QuadraticCurve: Sendable {
    private let nib: Nib
    private var segments = MidpointQuadratics()

    init(width: Double) {
        nib = Nib(width: width)
    }

    mutating func add(_ point: Vector, into sink: inout some CurveSink) {
        segments.add(PenSample(position: point, nib: nib), into: &sink)
    }

    func finish(into sink: inout some CurveSink) {
        segments.finish(into: &sink)
    }
}

/// Quadratic segments between the midpoints of neighbouring points, each with the point between them as control.
///
/// The first segment begins at the first point and the last one ends at the last, so that two points are a line and three
/// points one quadratic. The width is linear along each segment, between the means of neighbouring widths.
struct MidpointQuadratics: Sendable {
    private var control = PenSample.none
    private var end = PenSample.none
    /// How many points were added: 0, 1, 2, and 3 for more.
    private var count = 0

    mutating func add(_ sample: PenSample, into sink: inout some CurveSink) {
        switch count {
        case 0: sink.begin(at: sample.position, nib: sample.nib)
        case 1: break
        case 2: control = end
        default:
            let joint = control.midpoint(to: end)
            sink.quadratic(control: control.position, to: joint.position, nib: joint.nib)
            control = end
        }
        end = sample
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        switch count {
        case 2: sink.line(to: end.position, nib: end.nib)
        case 3: sink.quadratic(control: control.position, to: end.position, nib: end.nib)
        default: break
        }
    }
}
