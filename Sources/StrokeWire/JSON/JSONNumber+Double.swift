extension JSONNumber {
    /// The nearest `Double`, ties to even; infinite where the number is beyond all of them, 0 below all of them.
    @inline(__always)
    func doubleValue(_ text: borrowing Span<UInt8>) -> Double {
        // Both operands are exact, so that one rounding is left (W. D. Clinger, How to Read Floating Point Numbers
        // Accurately, 1990).
        if exponent == 0, mantissa <= 1 << 53, isExact {
            return signed(Double(mantissa) / PowersOfTen.doubles[fractionDigits])
        }
        return unusualDoubleValue(text)
    }

    @inline(__always)
    private func signed(_ magnitude: Double) -> Double { isNegative ? -magnitude : magnitude }

    private func unusualDoubleValue(_ text: borrowing Span<UInt8>) -> Double {
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

    /// The `Double` nearest to the quotient of two integers other than 0. Clients write 17 digits where their numbers
    /// come from a computation; a mantissa of that length does not fit a `Double`.
    static func quotient(_ dividend: UInt64, _ divisor: UInt64) -> Double {
        let dividendShift = dividend.leadingZeroBitCount
        let divisorShift = divisor.leadingZeroBitCount
        let normalised = dividend << UInt64(dividendShift)
        // Both have their top bit set, so the quotient of (normalised · 2⁶³) has 63 or 64 bits.
        let (quotient, remainder) = (divisor << UInt64(divisorShift))
            .dividingFullWidth((normalised >> 1, normalised << 63))
        // What is left over can only matter for ties: one bit far below the last place stands for it.
        let sticky = quotient | (remainder == 0 ? 0 : 1)
        return Double(sign: .plus, exponent: divisorShift - dividendShift - 63, significand: Double(sticky))
    }

    /// By the standard library's parser, which rounds correctly whatever the length.
    private func parsed(_ text: borrowing Span<UInt8>) -> Double {
        let digits = text.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        return Double(digits) ?? .infinity
    }
}
