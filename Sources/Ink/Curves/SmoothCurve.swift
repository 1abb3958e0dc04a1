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

    init(width: Double) {
        nib = Nib(width: width)
    }

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
