/// Quadratic pieces between the midpoints of neighbouring points, each with the point between them as control. The
/// first piece begins at the first point and the last one ends at the last, so that three points are one quadratic.
struct MidpointQuadratics: Sendable {
    private struct Stop: Sendable {
        var place: Vector
        var nib: Nib

        func midpoint(to other: Stop) -> Stop {
            Stop(place: place.midpoint(to: other.place), nib: nib.interpolated(to: other.nib, at: 0.5))
        }
    }

    private var hasBegun = false
    private var from: Stop
    private var control: Stop?
    private var end: Stop?

    init() {
        from = Stop(place: .zero, nib: Nib(width: 0))
    }

    mutating func add(_ place: Vector, nib: Nib, into sink: inout some CurveSink) {
        let stop = Stop(place: place, nib: nib)
        guard hasBegun else {
            hasBegun = true
            from = stop
            sink.begin(at: place, nib: nib)
            return
        }
        guard let control else {
            self.control = stop
            return
        }
        if let end {
            let joint = control.midpoint(to: end)
            Self.draw(from, control, joint, into: &sink)
            from = joint
            self.control = end
        }
        end = stop
    }

    func finish(into sink: inout some CurveSink) {
        guard let control else { return }
        if let end {
            Self.draw(from, control, end, into: &sink)
        } else {
            sink.line(to: control.place, nib: control.nib)
        }
    }

    /// The width is a quadratic of the parameter like the place; two halves with linear widths come close enough, and
    /// one is exact where the width does not change.
    private static func draw(_ from: Stop, _ control: Stop, _ end: Stop, into sink: inout some CurveSink) {
        guard from.nib != end.nib || control.nib != end.nib else {
            return sink.quadratic(control: control.place, to: end.place, nib: end.nib)
        }
        let first = from.midpoint(to: control)
        let second = control.midpoint(to: end)
        let middle = first.midpoint(to: second)
        sink.quadratic(control: first.place, to: middle.place, nib: middle.nib)
        sink.quadratic(control: second.place, to: end.place, nib: end.nib)
    }
}
