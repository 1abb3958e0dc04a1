/// A JSON number as its digits: `mantissa` · 10^−`decimals`. Only forms that print back to the same bytes are read.
struct DecimalText: Equatable {
    var mantissa: Int64
    /// Digits after the point, 0 … 15.
    var decimals: Int

    static let mostDigits = 15
    static let powers: [Int64] = (0...mostDigits).map { (0..<$0).reduce(1) { power, _ in power * 10 } }

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
        var power = UInt64(Self.powers[decimals])
        while power <= value / 10 { power *= 10 }
        var left = value
        var place = power
        while place > 0 {
            if decimals > 0, place == UInt64(Self.powers[decimals - 1]) { bytes.append(UInt8(ascii: ".")) }
            bytes.append(UInt8(ascii: "0") + UInt8(left / place))
            left %= place
            place /= 10
        }
    }
}
