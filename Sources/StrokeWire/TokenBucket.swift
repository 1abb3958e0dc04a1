/// A rate limit: tokens that come back at a rate, up to a burst.
///
/// It calculates with integers, so that those who take the same tokens at the same times decide alike. Times are nanoseconds
/// of one clock.
package struct TokenBucket: Sendable {
    private static let unit: Int64 = 1_000_000_000

    private let rate: Int64
    private let capacity: Int64
    /// Available tokens in billionths, so that slow refills are exact; negative where more were taken than there were.
    private var level: Int64
    package private(set) var filledAt: Int64

    /// A full bucket.
    /// - Parameters:
    ///   - rate: tokens a second, 1 … 2·10⁹: a full bucket and its refill fit into 64 bits together.
    ///   - burst: tokens of a full bucket, 1 … 4·10⁹; nil for twice the rate.
    package init(rate: Int, burst: Int? = nil, nanoseconds now: Int64) {
        let rate = Int64(max(1, min(rate, 2_000_000_000)))
        let burst = burst.map { max(1, min(Int64($0), 4_000_000_000)) } ?? 2 * rate
        self.rate = rate
        capacity = burst * Self.unit
        level = burst * Self.unit
        filledAt = now
    }

    /// A bucket that was filled at a time and lacked `shortfall` billionths of a token then.
    package init(rate: Int, shortfall: UInt64, nanoseconds time: Int64) {
        self.init(rate: rate, nanoseconds: time)
        level -= Int64(min(shortfall, UInt64(level)))
    }

    /// Billionths of a token that the bucket lacked at ``filledAt``.
    package var shortfall: UInt64 { UInt64(max(0, capacity - level)) }

    package var isFull: Bool { level >= capacity }

    /// Whole tokens that are available.
    package var tokens: Int { Int(clamping: level / Self.unit) }

    /// Whether `tokens` are available, without taking them.
    package func holds(_ tokens: Int) -> Bool { level >= min(Int64(tokens), 4_000_000_000) * Self.unit }

    /// The time until `tokens` are available, or the bucket is full; zero where they are.
    package func wait(for tokens: Int) -> Duration {
        let missing = min(min(Int64(tokens), 4_000_000_000) * Self.unit, capacity) - level
        return missing > 0 ? .nanoseconds((missing + rate - 1) / rate) : .zero
    }

    /// Takes `tokens`. Those that are not available are owed.
    package mutating func take(_ tokens: Int) { level -= Int64(tokens) * Self.unit }

    /// A clock that was set back adds nothing, and goes on from where it is: else it would add nothing until it is back.
    package mutating func refill(nanoseconds now: Int64) {
        let (difference, overflow) = now.subtractingReportingOverflow(filledAt)
        let elapsed: Int64 = overflow ? (now < filledAt ? 0 : .max) : max(0, difference)
        filledAt = now
        let missing = capacity - level
        level = elapsed > missing / rate ? capacity : level + elapsed * rate
    }
}
