extension JSONScanner {
    /// Bytes that a member of a plain point has at most: a separator, a key, a sign, digits, a decimal point, and what
    /// is behind it.
    private static let longestMember = 40
    /// More digits than this are not plain; fewer are exact in a `Double`.
    private static let mostDigits = 15

    /// Takes a point as nearly all clients write it: without white space, its members known and plain decimal numbers,
    /// and as it has to be.
    /// - Returns: nil for any other, of which nothing has been taken then.
    @inline(__always)
    mutating func takePlainPoint(_ text: borrowing Span<UInt8>) -> StrokePoint? {
        var (x, y) = (Double.nan, Double.nan)
        var (force, altitude, azimuth, milliseconds) = (Double.nan, Double.nan, Double.nan, Double.nan)
        var place = position
        var separator = UInt8(ascii: "{")
        repeat {
            guard place &+ Self.longestMember <= text.count, text[unchecked: place] == separator,
                text[unchecked: place &+ 1] == UInt8(ascii: "\""), text[unchecked: place &+ 3] == UInt8(ascii: "\""),
                text[unchecked: place &+ 4] == UInt8(ascii: ":")
            else { return nil }
            let key = text[unchecked: place &+ 2]
            place &+= 5
            guard let value = Self.plainNumber(text, &place) else { return nil }
            switch key {
            case UInt8(ascii: "x"): x = value
            case UInt8(ascii: "y"): y = value
            case UInt8(ascii: "f"): force = value
            case UInt8(ascii: "i"): altitude = value
            case UInt8(ascii: "z"): azimuth = value
            case UInt8(ascii: "m"): milliseconds = value
            default: return nil
            }
            separator = UInt8(ascii: ",")
        } while text[unchecked: place] != UInt8(ascii: "}")
        // Neither holds where a coordinate is missing.
        guard x.magnitude <= PointReading.bound, y.magnitude <= PointReading.bound else { return nil }
        position = place &+ 1
        var point = StrokePoint(x: x, y: y)
        point.storedForce = force < 0 ? 0 : force > 1 ? 1 : force
        point.storedAltitude = altitude
        point.storedAzimuth = azimuth
        point.storedMilliseconds = milliseconds
        return point
    }

    @inline(__always)
    private static func plainNumber(_ text: borrowing Span<UInt8>, _ place: inout Int) -> Double? {
        let isNegative = text[unchecked: place] == UInt8(ascii: "-")
        if isNegative { place &+= 1 }
        let start = place
        let end = place &+ mostDigits
        var mantissa: UInt64 = 0
        var digit = text[unchecked: place] &- UInt8(ascii: "0")
        let isZeroFirst = digit == 0
        while digit < 10, place <= end {
            mantissa = mantissa &* 10 &+ UInt64(digit)
            place &+= 1
            digit = text[unchecked: place] &- UInt8(ascii: "0")
        }
        let whole = place &- start
        guard whole > 0, !isZeroFirst || whole == 1 else { return nil }
        var fraction = 0
        if text[unchecked: place] == UInt8(ascii: ".") {
            let point = place
            place &+= 1
            digit = text[unchecked: place] &- UInt8(ascii: "0")
            while digit < 10, place <= end {
                mantissa = mantissa &* 10 &+ UInt64(digit)
                place &+= 1
                digit = text[unchecked: place] &- UInt8(ascii: "0")
            }
            fraction = place &- point &- 1
            guard fraction > 0 else { return nil }
        }
        guard whole &+ fraction <= mostDigits, digit > 9, text[unchecked: place] | 0x20 != UInt8(ascii: "e") else {
            return nil
        }
        // Both operands are exact, so that one rounding is left, as for any other number.
        let magnitude = Double(mantissa) / PowersOfTen.doubles[fraction]
        return isNegative ? -magnitude : magnitude
    }
}
