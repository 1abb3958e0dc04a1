/// Makes a time line without end of a counter that wraps: 32 bits of milliseconds in FLV and RTMP, 33 bits at 90 kHz in
/// MPEG-TS.
package struct CounterUnwrapper: Sendable {
    private let period: Int64
    private let tolerance: Int64
    private var last: Int64?
    /// A value beyond the tolerance: damage, unless the next one continues it.
    private var doubted: Int64?

    /// - Parameters:
    ///   - bits: after which it wraps, at most 48.
    ///   - tolerance: a step over the wrap is one of at most so many units, in either direction; any other step is
    ///     damage, or a jump of the time line where a second value agrees. A quarter of the period unless given.
    package init(bits: Int, tolerance: Int64? = nil) {
        precondition((1...48).contains(bits))
        period = 1 << bits
        self.tolerance = tolerance ?? 1 << (bits - 2)
    }

    /// The value that continues the ones before.
    package mutating func unwrap(_ raw: Int64) -> Int64 {
        guard let last else {
            self.last = raw
            return raw
        }
        if let value = continuation(of: last, raw) ?? doubted.flatMap({ continuation(of: $0, raw) }) {
            self.last = value
            doubted = nil
            return value
        }
        doubted = raw
        return raw
    }

    private func continuation(of last: Int64, _ raw: Int64) -> Int64? {
        var step = (raw &- last) % period
        if step > period / 2 { step -= period }
        if step < -period / 2 { step += period }
        return abs(step) <= tolerance ? last &+ step : nil
    }
}
