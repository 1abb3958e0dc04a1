extension [UInt8] {
    /// Appends text.
    mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    /// Appends a number in decimal, with at most three places behind the point and no exponent, as SVG and PDF have it.
    mutating func append(number: Double) {
        // Beyond this nothing is visible on any board; it keeps the digits in a word.
        let clamped = Swift.min(Swift.max(number, -1e12), 1e12)
        let thousandths = Int((clamped * 1000).rounded())
        if thousandths < 0 { append(UInt8(ascii: "-")) }
        let whole = thousandths.magnitude / 1000
        let rest = thousandths.magnitude % 1000
        append(String(whole))
        guard rest > 0 else { return }
        append(UInt8(ascii: "."))
        var digits = [UInt8(rest / 100), UInt8(rest / 10 % 10), UInt8(rest % 10)]
        while digits.last == 0 { digits.removeLast() }
        append(contentsOf: digits.map { $0 + UInt8(ascii: "0") })
    }
}
