/// Coordinates as whole numbers of the smallest step that a document tells apart, and their text.
///
/// A path is written in steps from one rounded place to the next, so that rounding never adds up.
struct SVGScale: Sendable {
    /// Digits behind the decimal point: 2 for a board of 1024 units, more for a smaller one, so that a step is at most
    /// 1/50000 of the longer side or a hundredth.
    let decimals: Int
    private let steps: Double

    init(width: Double, height: Double) {
        var decimals = 2
        var steps = 100.0
        while decimals < 6, max(width, height) * steps < 50_000 {
            decimals += 1
            steps *= 10
        }
        self.decimals = decimals
        self.steps = steps
    }

    /// The steps nearest to a number. What is not a number is 0; beyond 10¹² steps nothing is told apart.
    func steps(_ number: Double) -> Int {
        let rounded = (number * steps).rounded()
        guard !rounded.isNaN else { return 0 }
        return Int(min(max(rounded, -1e12), 1e12))
    }
}

extension [UInt8] {
    /// Appends text.
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends a whole number.
    mutating func append(integer: Int) {
        append(contentsOf: String(integer).utf8)
    }

    /// Appends a number of steps as a decimal number, without zeros that say nothing: `-.5`, `12`, `3.25`.
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
