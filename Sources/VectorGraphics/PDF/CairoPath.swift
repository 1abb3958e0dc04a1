#if canImport(CCairo)
internal import CCairo
internal import Ink

/// Adds to the current path of a context that it does not own.
struct CairoPath: CurveSink, ContourSink {
    private let context: OpaquePointer?
    private var position = Vector.zero
    private var start = Vector.zero
    /// Whether the current curve has gone nowhere yet.
    private var isDot = false

    init(context: OpaquePointer?) {
        self.context = context
    }

    /// Begins a curve. One that goes nowhere becomes a line of no length, whose round caps are a dot.
    mutating func begin(at point: Vector, nib: Nib) {
        move(to: point)
        isDot = true
    }

    /// Ends a curve.
    mutating func finish() {
        if isDot { line(to: position) }
    }

    mutating func line(to end: Vector, nib: Nib) {
        line(to: end)
    }

    /// Cairo has no quadratic pieces; the cubic with two thirds of the way to the control is the same curve.
    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        cubic(
            control1: position.interpolated(to: control, at: 2.0 / 3),
            control2: end.interpolated(to: control, at: 2.0 / 3), to: end, nib: nib)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        cairo_curve_to(context, control1.x, control1.y, control2.x, control2.y, end.x, end.y)
        reach(end)
    }

    mutating func move(to point: Vector) {
        cairo_move_to(context, point.x, point.y)
        position = point
        start = point
    }

    mutating func line(to point: Vector) {
        cairo_line_to(context, point.x, point.y)
        reach(point)
    }

    /// One cubic; its handles are 4/3·tan(φ/4) of the radius, and off the circle by less than 0.03 % of it.
    mutating func arc(to point: Vector, around centre: Vector, radius: Double) {
        guard radius > 0 else { return line(to: point) }
        let from = (position - centre) / radius
        let to = (point - centre) / radius
        let cosine = min(max(from.dot(to), -1), 1)
        // With c = cos φ/2, tan φ/4 is the square root of (1 − c) / (1 + c).
        let half = ((1 + cosine) * 0.5).squareRoot()
        let handle = radius * 4.0 / 3.0 * ((1 - half) / (1 + half)).squareRoot()
        cubic(
            control1: position + Vector(-from.y, from.x) * handle, control2: point + Vector(to.y, -to.x) * handle,
            to: point, nib: Nib(width: 0))
    }

    mutating func close() {
        cairo_close_path(context)
        position = start
    }

    private mutating func reach(_ end: Vector) {
        isDot = isDot && end == position
        position = end
    }
}
#endif
