extension JSONScanner {
    /// Takes a number. Its decimal digits are read on the way, so that its value costs no second look at the text.
    @inline(__always)
    mutating func takeNumber(_ text: borrowing Span<UInt8>) throws(JSONFault) -> JSONNumber {
        let start = position
        let isNegative = take(UInt8(ascii: "-"), text)
        var mantissa: UInt64 = 0
        let integerStart = position
        if !take(UInt8(ascii: "0"), text) { try takeDigits(&mantissa, text) }
        let integerDigits = position &- integerStart
        var fractionDigits = 0
        if take(UInt8(ascii: "."), text) {
            let fractionStart = position
            try takeDigits(&mantissa, text)
            fractionDigits = position &- fractionStart
        }
        var exponent = 0
        if next(text) | 0x20 == UInt8(ascii: "e") { exponent = try takeExponent(text) }
        return JSONNumber(
            isNegative: isNegative, mantissa: mantissa, integerDigits: integerDigits, fractionDigits: fractionDigits,
            exponent: exponent, range: start..<position)
    }

    /// Takes one digit or more, and wraps around where `mantissa` does not hold them.
    @inline(__always)
    private mutating func takeDigits(_ mantissa: inout UInt64, _ text: borrowing Span<UInt8>) throws(JSONFault) {
        var digit = next(text) &- UInt8(ascii: "0")
        guard digit < 10 else { throw unexpected(text) }
        repeat {
            mantissa = mantissa &* 10 &+ UInt64(digit)
            position &+= 1
            digit = next(text) &- UInt8(ascii: "0")
        } while digit < 10
    }

    private mutating func takeExponent(_ text: borrowing Span<UInt8>) throws(JSONFault) -> Int {
        position &+= 1
        let isNegative = next(text) == UInt8(ascii: "-")
        if isNegative || next(text) == UInt8(ascii: "+") { position &+= 1 }
        var exponent = 0
        var digit = next(text) &- UInt8(ascii: "0")
        guard digit < 10 else { throw unexpected(text) }
        repeat {
            exponent = min(exponent &* 10 &+ Int(digit), JSONNumber.exponentBound)
            position &+= 1
            digit = next(text) &- UInt8(ascii: "0")
        } while digit < 10
        return isNegative ? -exponent : exponent
    }
}
