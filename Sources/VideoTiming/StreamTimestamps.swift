/// Makes microseconds without wraps of a stream's own times, over all its parts and connections.
package struct StreamTimestamps: Sendable {
    private var unwrapper: CounterUnwrapper?
    private var wrapBits = 0

    package init() {}

    /// Larger times are damage: some 34,000 years.
    private static let largest: Int64 = 1 << 40

    /// The times of a picture in microseconds; nil where it has none.
    ///
    /// - Parameters:
    ///   - presentation: in units of the stream; nil where it is not given.
    ///   - decoding: likewise.
    ///   - numerator: seconds a unit, as a fraction.
    ///   - denominator: likewise.
    ///   - wrapBits: bits after which the times wrap; 48 or more for never.
    package mutating func read(
        presentation: Int64?, decoding: Int64?, numerator: Int64, denominator: Int64, wrapBits: Int
    ) -> (presentation: Int64, decoding: Int64)? {
        guard let raw = decoding ?? presentation, numerator > 0, denominator > 0 else { return nil }
        let shown = presentation ?? raw
        let continued = unwrap(raw, wrapBits, tolerance: 60 * denominator / numerator)
        var composition = shown &- raw
        if (16..<48).contains(wrapBits) {
            let period = Int64(1) << Int64(wrapBits)
            if composition > period / 2 { composition -= period }
            if composition < -period / 2 { composition += period }
        }
        guard let decoding = Self.microseconds(continued, numerator, denominator),
            let presentation = Self.microseconds(continued &+ composition, numerator, denominator)
        else { return nil }
        return (presentation, decoding)
    }

    private mutating func unwrap(_ raw: Int64, _ bits: Int, tolerance: Int64) -> Int64 {
        guard (16..<48).contains(bits) else { return raw }
        if bits != wrapBits {
            unwrapper = CounterUnwrapper(bits: bits, tolerance: tolerance)
            wrapBits = bits
        }
        return unwrapper?.unwrap(raw) ?? raw
    }

    private static func microseconds(_ units: Int64, _ numerator: Int64, _ denominator: Int64) -> Int64? {
        let seconds = (units / denominator).multipliedReportingOverflow(by: numerator)
        guard !seconds.overflow, seconds.partialValue.magnitude < UInt64(largest) else { return nil }
        let rest = (units % denominator).multipliedReportingOverflow(by: numerator)
        guard !rest.overflow, rest.partialValue.magnitude < UInt64(largest) else { return nil }
        return seconds.partialValue * 1_000_000 + rest.partialValue * 1_000_000 / denominator
    }
}
