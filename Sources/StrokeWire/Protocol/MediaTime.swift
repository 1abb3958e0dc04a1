/// A time on the time line of a room's video, in microseconds. Arithmetic saturates.
public struct MediaTime: Hashable, Sendable {
    public let microseconds: Int64

    /// Before every other time.
    public static let distantPast = MediaTime(microseconds: .min)
    /// After every other time.
    public static let distantFuture = MediaTime(microseconds: .max)

    @inlinable
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Saturates.
    @inlinable
    public init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
        microseconds = overflow ? (milliseconds < 0 ? .min : .max) : product
    }

    /// Rounds to the nearest microsecond.
    /// - Returns: nil unless |milliseconds| ≤ 2⁵³.
    public init?(milliseconds: Double) {
        guard milliseconds.magnitude <= 0x1p53 else { return nil }
        // The whole part is converted apart, so that the fraction keeps its precision; 2⁵³ · 1000 fits.
        let whole = milliseconds.rounded(.towardZero)
        microseconds = Int64(whole) * 1000 + Int64(((milliseconds - whole) * 1000).rounded())
    }

    /// Later by `microseconds`.
    @inlinable
    public static func + (time: MediaTime, microseconds: Int64) -> MediaTime {
        let (sum, overflow) = time.microseconds.addingReportingOverflow(microseconds)
        return MediaTime(microseconds: overflow ? (microseconds < 0 ? .min : .max) : sum)
    }

    /// Earlier by `microseconds`.
    @inlinable
    public static func - (time: MediaTime, microseconds: Int64) -> MediaTime {
        let (difference, overflow) = time.microseconds.subtractingReportingOverflow(microseconds)
        return MediaTime(microseconds: overflow ? (microseconds < 0 ? .max : .min) : difference)
    }

    /// Microseconds from `b` to `a`.
    @inlinable
    public static func - (a: MediaTime, b: MediaTime) -> Int64 {
        let (difference, overflow) = a.microseconds.subtractingReportingOverflow(b.microseconds)
        return overflow ? (b.microseconds < 0 ? .max : .min) : difference
    }
}

extension MediaTime: Comparable {
    @inlinable
    public static func < (a: MediaTime, b: MediaTime) -> Bool { a.microseconds < b.microseconds }
}

extension Duration {
    /// Whole microseconds, rounded toward zero and clamped to `Int64`.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        guard overflow || carry else { return sum }
        return seconds < 0 ? .min : .max
    }
}

extension [UInt8] {
    /// Milliseconds, exactly: an integer, or with up to three decimals. Beyond ±2⁵³, which no reader takes: that.
    mutating func append(time: MediaTime) {
        let magnitude = Swift.min(time.microseconds.magnitude, 1000 << 53)
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
