/// A number as it stands in a JSON text: its digits and where the decimal point goes.
struct JSONNumber {
    let isNegative: Bool
    /// All digits as one integer. Wrapped around where there are more than 19 of them.
    let mantissa: UInt64
    /// Digits before and after the decimal point.
    let integerDigits: Int
    let fractionDigits: Int
    /// The power of ten that was written, held within ±`exponentBound`.
    let exponent: Int
    /// Offsets in the text.
    let range: Range<Int>

    /// More than any text has digits, so that no digit can bring an exponent held at it back into range.
    static let exponentBound = 1_000_000_000

    /// Whether `mantissa` is what was written.
    @inline(__always)
    var isExact: Bool { integerDigits &+ fractionDigits <= 19 }
}
