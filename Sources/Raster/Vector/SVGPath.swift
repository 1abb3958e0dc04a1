internal import Ink

/// Path data of SVG, absolute coordinates.
struct SVGPath: CurveSink, OutlineSink {
    var text: [UInt8] = []
    private var isDot = false

    mutating func begin(at point: Vector, nib: Nib) {
        move(to: point)
        isDot = true
    }

    mutating func line(to end: Vector, nib: Nib) { line(to: end) }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        add("Q", control, end)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        cubic(control1: control1, control2: control2, to: end)
    }

    mutating func move(to point: Vector) { add("M", point) }

    mutating func line(to point: Vector) { add("L", point) }

    mutating func cubic(control1: Vector, control2: Vector, to point: Vector) { add("C", control1, control2, point) }

    mutating func close() { text.append("Z") }

    /// A line of no length, whose round caps are the dot.
    mutating func endDot() {
        if isDot { text.append("h0") }
    }

    private mutating func add(_ command: String, _ points: Vector...) {
        isDot = false
        text.append(command)
        for (index, point) in points.enumerated() {
            if index > 0 { text.append(" ") }
            text.append(number: point.x)
            text.append(" ")
            text.append(number: point.y)
        }
    }
}
