package import StrokeWire

/// How long before now the picture of a sample was taken at the teacher.
///
/// Where the media time is UTC, that is the distance to now. Otherwise the age is given for the moment in which the player is
/// where it should be, and grows by as much as the player falls back: its stalls.
package struct StreamAge: Sendable {
    /// A media time that is this near to UTC is UTC, microseconds.
    private static let utcDistance: Int64 = 12 * 3_600_000_000

    /// Microseconds; nil where it is not known.
    private let given: Int64?
    /// How far the media time of the first sample, and of the first after each jump, was below the clock `now`.
    private var base: Int64?

    /// - Parameter given: the age of samples of a stream that does not tell it, microseconds; nil where nobody knows it.
    package init(given: Int64? = nil) {
        self.given = given
    }

    /// The age of a sample in microseconds; nil where it is not known.
    /// - Parameters:
    ///   - now: microseconds on a clock that never goes back.
    ///   - utc: microseconds of UTC; nil where the media time is not UTC.
    package mutating func age(of sample: ClockSample, at now: Int64, utc: Int64?) -> Int64? {
        guard sample.state != .end else { return nil }
        if let utc, sample.wrapBits == nil {
            let distance = utc - sample.media.microseconds
            if distance.magnitude <= Self.utcDistance { return valid(max(0, distance)) }
        }
        guard let given else { return nil }
        let distance = now - sample.media.microseconds
        if sample.isDiscontinuity { base = nil }
        if let base, let age = valid(given + distance - base) { return age }
        // A jump, or a counter that has wrapped.
        base = distance
        return valid(given)
    }

    private func valid(_ age: Int64) -> Int64? { 0...ClockSample.greatestAge ~= age ? age : nil }
}
