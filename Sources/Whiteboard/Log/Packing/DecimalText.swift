/// A JSON number as its digits: `mantissa` · 10^−`decimals`. Only forms that print back to the same bytes are read.
struct DecimalText: Equatable {
    var mantissa: Int64
    /// Digits after the point, 0 … 15.
    var decimals: Int

    static let mostDigits = 15

    /// Reads a number at `position` and moves behind it; nil for one that would not come back as it was: with an
    /// exponent, a negative zero, or more digits than a double carries.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        var at = position
        let isNegative = at < bytes.count && bytes[at] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        var value: Int64 = 0
        var digits = 0
        var point: Int?
        scan: while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                guard digits <= Self.mostDigits else { return nil }
                value = value * 10 + Int64(bytes[at] - UInt8(ascii: "0"))
            case UInt8(ascii: "."): point = digits
            case UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
            default: break scan
            }
            at += 1
        }
        guard digits > 0, !(isNegative && value == 0) else { return nil }
        mantissa = isNegative ? -value : value
        decimals = point.map { digits - $0 } ?? 0
        position = at
    }

    init(mantissa: Int64, decimals: Int) {
        self.mantissa = mantissa
        self.decimals = decimals
    }

    /// Whether nothing would be taken off by ``trimmed(to:)``.
    func isTrimmed(to least: Int) -> Bool {
        decimals == least || mantissa % 10 != 0
    }

    /// The same value with trailing zeros taken off, down to `least` decimals.
    func trimmed(to least: Int) -> DecimalText {
        var text = self
        while text.decimals > least, text.mantissa % 10 == 0 {
            text.mantissa /= 10
            text.decimals -= 1
        }
        return text
    }

    func append(to bytes: inout [UInt8]) {
        if mantissa < 0 { bytes.append(UInt8(ascii: "-")) }
        let value = mantissa.magnitude
        // At least one digit stands before the point.
        var place: UInt64 = 1
        var digits = 1
        while digits <= decimals || place <= value / 10 {
            place *= 10
            digits += 1
        }
        var left = value
        while digits > 0 {
            if digits == decimals { bytes.append(UInt8(ascii: ".")) }
            bytes.append(UInt8(ascii: "0") + UInt8(left / place))
            left %= place
            place /= 10
            digits -= 1
        }
    }
}
