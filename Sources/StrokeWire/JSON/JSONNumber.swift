/// A JSON number, not decoded: its digits and the place of its decimal point.
struct JSONNumber {
    let isNegative: Bool
    /// All digits as one integer, wrapped around beyond 19 digits.
    let mantissa: UInt64
    /// Digits before and after the decimal point.
    let integerDigits: Int
    let fractionDigits: Int
    /// The written exponent, clamped to ±`exponentBound`.
    let exponent: Int
    /// Offsets in the text.
    let range: Range<Int>

    /// More than the digits of any text, so that no digits make up for a clamped exponent. With one more digit it is
    /// still an integer of 32 bits, which `Int` is in browsers.
    static let exponentBound = 100_000_000

    /// Whether `mantissa` holds all digits.
    @inline(__always)
    private var isExact: Bool { integerDigits &+ fractionDigits <= 19 }
}

extension JSONNumber {
    /// A number read as an integer.
    enum Integer: Equatable {
        /// The number, truncated if it has a fraction.
        case value(Int64, hasFraction: Bool)
        /// Beyond `Int64`, within `Double`.
        case beyond(isNegative: Bool, hasFraction: Bool)
        /// Beyond `Double`.
        case infinite
    }

    /// The number by decimal arithmetic, so that `1.0` and `1e3` are integers and no digit is lost to rounding.
    func integer(_ text: borrowing Span<UInt8>) -> Integer {
        if fractionDigits == 0, exponent == 0, mantissa <= UInt64(Int64.max), isExact {
            return .value(isNegative ? -Int64(mantissa) : Int64(mantissa), hasFraction: false)
        }
        let (magnitude, hasFraction) = parts(text)
        if let magnitude, let value = Int64(magnitude: magnitude, isNegative: isNegative) {
            // A number too small for a `Double` is 0, as an integer too.
            let isVanishing = hasFraction && value == 0 && doubleValue(text) == 0
            return .value(value, hasFraction: hasFraction && !isVanishing)
        }
        return doubleValue(text).isInfinite ? .infinite : .beyond(isNegative: isNegative, hasFraction: hasFraction)
    }

    /// The number as an integer of any width; nil where it has a fraction or does not fit.
    func exactly<Number: FixedWidthInteger>(_ text: borrowing Span<UInt8>) -> Number? {
        guard case (let magnitude?, hasFraction: false) = parts(text) else { return nil }
        return isNegative
            ? Int64(magnitude: magnitude, isNegative: true).flatMap { Number(exactly: $0) } : Number(exactly: magnitude)
    }

    /// The digits before the decimal point once the exponent is applied, nil beyond `UInt64`; and whether a digit after
    /// it is not zero.
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
    /// The number with one more decimal digit, nil on overflow.
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

extension JSONNumber {
    /// The nearest `Double`, ties to even; infinite on overflow, 0 on underflow.
    @inline(__always)
    func doubleValue(_ text: borrowing Span<UInt8>) -> Double {
        // Both operands are exact, so there is one rounding only (W. D. Clinger, How to Read Floating Point Numbers
        // Accurately, 1990).
        if exponent == 0, mantissa <= 1 << 53, isExact {
            return signed(Double(mantissa) / PowersOfTen.doubles[fractionDigits])
        }
        return slowDoubleValue(text)
    }

    /// A substitute for ``doubleValue(_:)`` in range checks: finite exactly if that is finite, and at most 65536 in
    /// magnitude exactly if that is. Its cost is linear in the number of digits; rounding a long number exactly costs
    /// far more.
    @inline(__always)
    func rangeCheckValue(_ text: borrowing Span<UInt8>) -> Double {
        exponent == 0 && mantissa <= 1 << 53 && isExact ? doubleValue(text) : slowRangeCheckValue(text)
    }

    private func slowRangeCheckValue(_ text: borrowing Span<UInt8>) -> Double {
        guard let first = firstDigit(text) else { return 0 }
        // 10^(places − 1) ≤ magnitude < 10^places.
        let places = integerDigits + exponent - first.leadingZeros
        switch places {
        case ...4: return 0
        // The bound 65536 lies here. A large exponent would need as many digits.
        case 5: return doubleValue(text)
        case 6...308: return 1e5
        case 309: return isBelowInfinity(text, from: first.offset) ? 1e5 : .infinity
        default: return .infinity
        }
    }

    /// The first digit other than 0; nil if all are 0.
    private func firstDigit(_ text: borrowing Span<UInt8>) -> (offset: Int, leadingZeros: Int)? {
        var leadingZeros = 0
        for offset in range {
            switch text[offset] {
            case UInt8(ascii: "0"): leadingZeros += 1
            case UInt8(ascii: "1")...UInt8(ascii: "9"): return (offset, leadingZeros)
            case UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
            default: break
            }
        }
        return nil
    }

    /// Whether a number with 309 digits before its decimal point rounds to a finite `Double`.
    private func isBelowInfinity(_ text: borrowing Span<UInt8>, from first: Int) -> Bool {
        var place = 0
        for offset in first..<range.upperBound where text[offset] != UInt8(ascii: ".") {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[offset])
            guard isDigit, place < Self.infinity.utf8CodeUnitCount else { break }
            let limit = Self.infinity.utf8Start[place]
            if text[offset] != limit { return text[offset] < limit }
            place += 1
        }
        return place < Self.infinity.utf8CodeUnitCount
    }

    /// The least integer that rounds to infinity, 2¹⁰²⁴ − 2⁹⁷⁰.
    private static let infinity: StaticString = """
        1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070\
        9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447\
        5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904\
        174497792
        """

    @inline(__always)
    private func signed(_ magnitude: Double) -> Double { isNegative ? -magnitude : magnitude }

    private func slowDoubleValue(_ text: borrowing Span<UInt8>) -> Double {
        guard isExact else { return parsed(text) }
        let power = exponent - fractionDigits
        switch power {
        case _ where mantissa == 0: return signed(0)
        case -22 ... -1 where mantissa <= 1 << 53: return signed(Double(mantissa) / PowersOfTen.doubles[-power])
        case 0...22 where mantissa <= 1 << 53: return signed(Double(mantissa) * PowersOfTen.doubles[power])
        case -19 ... -1: return signed(Self.quotient(mantissa, PowersOfTen.integers[-power]))
        default: return parsed(text)
        }
    }

    /// The `Double` nearest to the quotient of two integers other than 0: for computed coordinates of 17 digits, whose
    /// mantissa does not fit a `Double`.
    private static func quotient(_ dividend: UInt64, _ divisor: UInt64) -> Double {
        let dividendShift = dividend.leadingZeroBitCount
        let divisorShift = divisor.leadingZeroBitCount
        let normalised = dividend << UInt64(dividendShift)
        // Both have their top bit set, so the quotient of (normalised · 2⁶³) has 63 or 64 bits.
        let (quotient, remainder) = (divisor << UInt64(divisorShift))
            .dividingFullWidth((normalised >> 1, normalised << 63))
        // The remainder matters for ties only: a sticky bit far below the last place stands for it.
        let sticky = quotient | (remainder == 0 ? 0 : 1)
        return Double(sign: .plus, exponent: divisorShift - dividendShift - 63, significand: Double(sticky))
    }

    /// Parsed by the standard library, which rounds numbers of any length correctly.
    private func parsed(_ text: borrowing Span<UInt8>) -> Double {
        let digits = text.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        return Double(digits) ?? .infinity
    }
}

/// Powers of ten that their types hold exactly.
enum PowersOfTen {
    static let doubles: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    static let integers: [UInt64] = [
        1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
        100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
        10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
    ]
}
