extension [UInt8] {
    /// Milliseconds: an integer where it is one, else with up to three decimals, exactly.
    mutating func append(time: MediaTime) {
        let magnitude = time.microseconds.magnitude
        if time.microseconds < 0 { append(UInt8(ascii: "-")) }
        append(integer: magnitude / 1000)
        var fraction = magnitude % 1000
        var unit: UInt64 = 100
        guard fraction > 0 else { return }
        append(UInt8(ascii: "."))
        while fraction > 0 {
            append(integer: fraction / unit)
            fraction %= unit
            unit /= 10
        }
    }
}
