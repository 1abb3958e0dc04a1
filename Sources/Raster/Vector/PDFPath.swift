internal import Ink

/// Path operators of PDF, absolute coordinates.
struct PDFPath: CurveSink, OutlineSink {
    var text: [UInt8] = []
    private var position = Vector.zero
    private var isDot = false

    mutating func begin(at point: Vector, nib: Nib) {
        move(to: point)
        isDot = true
    }

    mutating func line(to end: Vector, nib: Nib) { line(to: end) }

    /// PDF has no quadratic pieces; the cubic of two thirds of the way to the control is the same curve.
    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        cubic(
            control1: position.interpolated(to: control, at: 2.0 / 3),
            control2: end.interpolated(to: control, at: 2.0 / 3),
            to: end)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        cubic(control1: control1, control2: control2, to: end)
    }

    mutating func move(to point: Vector) { add("m", point) }

    mutating func line(to point: Vector) { add("l", point) }

    mutating func cubic(control1: Vector, control2: Vector, to point: Vector) { add("c", control1, control2, point) }

    mutating func close() { text.append("h\n") }

    /// A line of no length, whose round caps are the dot.
    mutating func endDot() {
        if isDot { add("l", position) }
    }

    private mutating func add(_ command: String, _ points: Vector...) {
        isDot = false
        for point in points {
            text.append(number: point.x)
            text.append(" ")
            text.append(number: point.y)
            text.append(" ")
            position = point
        }
        text.append(command)
        text.append("\n")
    }
}
