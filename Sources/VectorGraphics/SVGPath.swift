package import Ink
package import PathGeometry

/// A path of a vector format. It takes closed contours, and the curves of centre lines.
package protocol VectorPath: CurveSink {
    /// Begins a contour.
    mutating func move(to point: Vector)
    mutating func line(to end: Vector)
    mutating func quadratic(control: Vector, to end: Vector)
    mutating func cubic(control1: Vector, control2: Vector, to end: Vector)
    /// Ends the contour with a line to its beginning.
    mutating func close()
}

extension VectorPath {
    package mutating func line(to end: Vector, nib: Nib) { line(to: end) }

    package mutating func quadratic(control: Vector, to end: Vector, nib: Nib) { quadratic(control: control, to: end) }

    package mutating func cubic(control1: Vector, control2: Vector, to end: Vector, nib: Nib) {
        cubic(control1: control1, control2: control2, to: end)
    }
}

extension Contour {
    /// Sends the contour, closed, to a path of a vector format; nothing where it has no segments.
    package func trace(into path: inout some VectorPath) {
        guard !segments.isEmpty else { return }
        path.move(to: start)
        for segment in segments {
            switch segment {
            case .line(_, let end): path.line(to: end)
            case .quadratic(_, let control, let end): path.quadratic(control: control, to: end)
            case .cubic(_, let control1, let control2, let end):
                path.cubic(control1: control1, control2: control2, to: end)
            }
        }
        path.close()
    }
}

/// The data of one path element: relative commands, with the letter written once for a run of the same command.
struct SVGPath: VectorPath {
    private(set) var text: [UInt8] = []
    private let precision: SVGPrecision
    private var x = 0
    private var y = 0
    private var startX = 0
    private var startY = 0
    private var command: UInt8 = 0
    /// Whether the current curve is still a single point.
    private var isDot = false

    init(precision: SVGPrecision) { self.precision = precision }

    /// Begins a curve. A curve that stays a single point becomes a line of length 0, whose round caps are a dot.
    mutating func begin(at point: Vector, nib: Nib) {
        move(to: point)
        isDot = true
    }

    /// Ends a curve.
    mutating func finish() {
        if isDot { text.append("h0") }
    }

    mutating func cubic(control1: Vector, control2: Vector, to end: Vector) {
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

    mutating func quadratic(control: Vector, to point: Vector) {
        begin("q")
        add(control)
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
        let right = precision.steps(point.x) - x
        let down = precision.steps(point.y) - y
        if right != 0 || down != 0 { isDot = false }
        add(right)
        add(down)
    }

    private mutating func go(to point: Vector) {
        add(point)
        x = precision.steps(point.x)
        y = precision.steps(point.y)
    }

    private mutating func add(_ steps: Int) {
        // After a letter or before a minus sign no space is needed.
        if steps >= 0, let last = text.last, last < UInt8(ascii: "A") { text.append(UInt8(ascii: " ")) }
        text.append(steps: steps, decimals: precision.decimals)
    }
}

/// The precision of a document: coordinates are whole numbers of its smallest step.
///
/// A path goes from one rounded point to the next, so that rounding errors do not add up.
struct SVGPrecision: Sendable {
    /// Digits after the decimal point, 2 … 6: 2 for a board of 500 units or more, else so many that the longer side has
    /// at least 50,000 steps.
    let decimals: Int
    private let steps: Double

    init(width: Double, height: Double) {
        var decimals = 2
        var steps = 100.0
        while decimals < 6, max(width, height) * steps < 50_000 {
            decimals += 1
            steps *= 10
        }
        (self.decimals, self.steps) = (decimals, steps)
    }

    /// A number rounded to steps, at most ±10¹²; NaN is 0.
    func steps(_ number: Double) -> Int {
        let rounded = (number * steps).rounded()
        guard !rounded.isNaN else { return 0 }
        return Int(min(max(rounded, -1e12), 1e12))
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }

    /// Appends bytes in base 64, with padding (RFC 4648, 4).
    mutating func append(base64 bytes: [UInt8]) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        reserveCapacity(count + (bytes.count + 2) / 3 * 4)
        var place = 0
        while place < bytes.count {
            let rest = bytes.count - place
            let word =
                UInt32(bytes[place]) << 16 | (rest > 1 ? UInt32(bytes[place + 1]) << 8 : 0)
                | (rest > 2 ? UInt32(bytes[place + 2]) : 0)
            append(digits[Int(word >> 18)])
            append(digits[Int(word >> 12 & 63)])
            append(rest > 1 ? digits[Int(word >> 6 & 63)] : UInt8(ascii: "="))
            append(rest > 2 ? digits[Int(word & 63)] : UInt8(ascii: "="))
            place += 3
        }
    }

    /// Appends a number of steps as a decimal number without needless zeros: `-.5`, `12`, `3.25`.
    mutating func append(steps: Int, decimals: Int) {
        var digits = steps.magnitude
        var places = decimals
        while places > 0, digits % 10 == 0 {
            digits /= 10
            places -= 1
        }
        if steps < 0 { append(UInt8(ascii: "-")) }
        let text = String(digits).utf8
        guard places > 0 else { return append(contentsOf: text) }
        append(contentsOf: text.dropLast(places))
        append(UInt8(ascii: "."))
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: Swift.max(places - text.count, 0)))
        append(contentsOf: text.suffix(places))
    }
}

extension [Vector] {
    /// Sends an open polyline to a path of a vector format.
    func trace(into sink: inout some CurveSink) {
        guard let first else { return }
        sink.begin(at: first, nib: Nib(width: 0))
        for corner in dropFirst() { sink.line(to: corner, nib: Nib(width: 0)) }
    }
}

extension Path {
    /// Sends the contours, closed, to a path of a vector format.
    func trace(into path: inout some VectorPath) {
        for contour in contours { contour.trace(into: &path) }
    }
}
