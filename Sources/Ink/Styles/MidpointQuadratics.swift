/// Quadratic pieces between the midpoints of neighbouring points, each with the point between them as control.
///
/// The first piece begins at the first point and the last one ends at the last, so that two points are a line and three
/// points one quadratic. The width is linear along each piece, between the means of neighbouring widths.
struct MidpointQuadratics: Sendable {
    private var control = PenStop.none
    private var end = PenStop.none
    /// How many points came: 0, 1, 2, and 3 for more.
    private var count = 0

    mutating func add(_ stop: PenStop, into sink: inout some CurveSink) {
        switch count {
        case 0: sink.begin(at: stop.place, nib: stop.nib)
        case 1: break
        case 2: control = end
        default:
            let joint = control.midpoint(to: end)
            sink.quadratic(control: control.place, to: joint.place, nib: joint.nib)
            control = end
        }
        end = stop
        count = min(count + 1, 3)
    }

    func finish(into sink: inout some CurveSink) {
        switch count {
        case 2: sink.line(to: end.place, nib: end.nib)
        case 3: sink.quadratic(control: control.place, to: end.place, nib: end.nib)
        default: break
        }
    }
}
