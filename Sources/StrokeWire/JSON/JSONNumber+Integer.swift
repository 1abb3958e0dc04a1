extension JSONNumber {
    /// A number where an integer is due.
    enum Integer: Equatable {
        /// The number; its part before the decimal point where it has a fraction.
        case value(Int64, hasFraction: Bool)
        /// Beyond `Int64`. A `Double` can still tell how far.
        case beyond(isNegative: Bool, hasFraction: Bool)
        /// Beyond `Double` too.
        case infinite
    }

    /// The number by decimal arithmetic, so that `1.0` and `1e3` are integers and no digit is lost to rounding.
    func integer(_ text: borrowing Span<UInt8>) -> Integer {
        if fractionDigits == 0, exponent == 0, mantissa <= UInt64(Int64.max), isExact {
            return .value(isNegative ? -Int64(mantissa) : Int64(mantissa), hasFraction: false)
        }
        let (magnitude, hasFraction) = parts(text)
        if let magnitude, let value = Int64(magnitude: magnitude, isNegative: isNegative) {
            // What is too small for a Double is 0, for integers too.
            let isVanishing = hasFraction && value == 0 && doubleValue(text) == 0
            return .value(value, hasFraction: hasFraction && !isVanishing)
        }
        return doubleValue(text).isInfinite ? .infinite : .beyond(isNegative: isNegative, hasFraction: hasFraction)
    }

    /// What stands before the decimal point once the exponent is applied, nil beyond `UInt64`, and whether anything
    /// but zeros stands behind it.
    private func parts(_ text: borrowing Span<UInt8>) -> (magnitude: UInt64?, hasFraction: Bool) {
        let point = integerDigits + exponent
        var magnitude: UInt64? = 0
        var hasFraction = false
        var place = 0
        for offset in range {
            let digit = text[offset] &- UInt8(ascii: "0")
            if text[offset] | 0x20 == UInt8(ascii: "e") { break }
            guard digit < 10 else { continue }
            if place < point {
                magnitude = magnitude.flatMap { $0.appending(digit: digit) }
            } else if digit != 0 {
                hasFraction = true
            }
            place += 1
        }
        while place < point, let known = magnitude, known != 0 {
            magnitude = known.appending(digit: 0)
            place += 1
        }
        return (magnitude, hasFraction)
    }
}

extension UInt64 {
    /// One more decimal digit at the end, nil where that does not fit.
    fileprivate func appending(digit: UInt8) -> UInt64? {
        let (tenfold, overflow) = multipliedReportingOverflow(by: 10)
        let (sum, carry) = tenfold.addingReportingOverflow(UInt64(digit))
        return overflow || carry ? nil : sum
    }
}

extension Int64 {
    fileprivate init?(magnitude: UInt64, isNegative: Bool) {
        if isNegative {
            guard magnitude <= Int64.min.magnitude else { return nil }
            self = 0 &- Int64(truncatingIfNeeded: magnitude)
        } else {
            guard let value = Int64(exactly: magnitude) else { return nil }
            self = value
        }
    }
}
