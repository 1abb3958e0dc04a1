internal import Ink

/// The data of one path element: relative commands, each letter written once for a run of the same command.
struct SVGPath: CurveSink, ContourSink {
    private(set) var text: [UInt8] = []
    private let scale: SVGScale
    private var x = 0
    private var y = 0
    private var startX = 0
    private var startY = 0
    private var command: UInt8 = 0
    /// Whether the current curve has gone nowhere yet.
    private var isDot = false

    init(scale: SVGScale) {
        self.scale = scale
    }

    /// Begins a curve. One that goes nowhere becomes a line of no length, whose round caps are a dot.
    mutating func begin(at point: Vector, nib: Nib) {
        move(to: point)
        isDot = true
    }

    /// Ends a curve.
    mutating func finish() {
        if isDot { text.append("h0") }
    }

    mutating func line(to end: Vector, nib: Nib) { line(to: end) }

    mutating func quadratic(control: Vector, to end: Vector, nib: Nib) {
        begin("q")
        add(control)
        go(to: end)
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        begin("c")
        add(control1)
        add(control2)
        go(to: end)
    }

    mutating func move(to point: Vector) {
        command = 0
        x = 0
        y = 0
        begin("M")
        go(to: point)
        startX = x
        startY = y
    }

    mutating func line(to point: Vector) {
        begin("l")
        go(to: point)
    }

    mutating func arc(to point: Vector, around centre: Vector, radius: Double) {
        begin("a")
        // The chord between the rounded ends is never longer than the diameter by more than rounding, which readers
        // make good by widening the arc.
        let steps = scale.steps(radius)
        add(steps)
        add(steps)
        text.append(" 0 0 1")
        go(to: point)
    }

    mutating func close() {
        text.append(UInt8(ascii: "z"))
        command = 0
        x = startX
        y = startY
    }

    private mutating func begin(_ letter: Unicode.Scalar) {
        let letter = UInt8(ascii: letter)
        guard letter != command else { return }
        command = letter
        text.append(letter)
    }

    private mutating func add(_ point: Vector) {
        let right = scale.steps(point.x) - x
        let down = scale.steps(point.y) - y
        if right != 0 || down != 0 { isDot = false }
        add(right)
        add(down)
    }

    private mutating func go(to point: Vector) {
        add(point)
        x = scale.steps(point.x)
        y = scale.steps(point.y)
    }

    private mutating func add(_ steps: Int) {
        // A letter or a minus sign parts two numbers as well as a space.
        if steps >= 0, let last = text.last, last < UInt8(ascii: "A") { text.append(UInt8(ascii: " ")) }
        text.append(steps: steps, decimals: scale.decimals)
    }
}
