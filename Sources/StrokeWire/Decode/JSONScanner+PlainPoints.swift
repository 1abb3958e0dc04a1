extension JSONScanner {
    /// Takes a point as nearly all clients write it: without white space, its members known and numbers, and as it has
    /// to be.
    /// - Returns: nil for any other, of which nothing has been taken then.
    @inline(__always)
    mutating func takePlainPoint(_ text: borrowing Span<UInt8>) -> StrokePoint? {
        // All that is known of it stays in registers; a `PointReading` does not.
        var (x, y) = (Double.nan, Double.nan)
        var (force, altitude, azimuth, milliseconds) = (Double.nan, Double.nan, Double.nan, Double.nan)
        var scanner = self
        var separator = UInt8(ascii: "{")
        repeat {
            guard scanner.next(text) == separator, scanner.peek(text, 1) == UInt8(ascii: "\""),
                scanner.peek(text, 3) == UInt8(ascii: "\""), scanner.peek(text, 4) == UInt8(ascii: ":")
            else { return nil }
            let key = scanner.peek(text, 2)
            scanner.position &+= 5
            guard let number = try? scanner.takeNumber(text) else { return nil }
            let value = number.doubleValue(text)
            guard value.isFinite else { return nil }
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
        } while scanner.next(text) != UInt8(ascii: "}")
        // Neither holds where a coordinate is missing.
        guard x.magnitude <= PointReading.bound, y.magnitude <= PointReading.bound else { return nil }
        position = scanner.position &+ 1
        var point = StrokePoint(x: x, y: y)
        point.storedForce = StrokePoint.clamped(force: force)
        point.storedAltitude = altitude
        point.storedAzimuth = azimuth
        point.storedMilliseconds = milliseconds
        return point
    }
}
