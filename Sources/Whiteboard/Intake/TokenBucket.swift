/// Counts what an author may send: `rate` a second, and bursts of twice that.
struct TokenBucket: Sendable {
    private let rate: Int64
    /// Available, in billionths of a token, so that slow refills are exact.
    private var level: Int64
    private(set) var filledAt: Instant

    private static let unit: Int64 = 1_000_000_000

    /// - Parameter rate: tokens a second, 1 … 2·10⁹: a full bucket and its refill fit into 64 bits together.
    init(rate: Int, at now: Instant) {
        self.rate = Int64(max(1, min(rate, 2_000_000_000)))
        level = 2 * self.rate * Self.unit
        filledAt = now
    }

    /// A bucket that was filled at `instant` and lacked `shortfall` billionths of a token then.
    init(rate: Int, shortfall: UInt64, at instant: Instant) {
        self.init(rate: rate, at: instant)
        level -= Int64(min(shortfall, UInt64(level)))
    }

    /// What it lacked to be full at ``filledAt``, in billionths of a token.
    var shortfall: UInt64 { UInt64(max(0, 2 * rate * Self.unit - level)) }

    /// Whether `tokens` are available at `now`, without taking them.
    mutating func holds(_ tokens: Int, at now: Instant) -> Bool {
        refill(at: now)
        return level >= Int64(min(tokens, 4_000_000_000)) * Self.unit
    }

    /// Takes `tokens` that are available.
    mutating func take(_ tokens: Int) {
        level -= Int64(tokens) * Self.unit
    }

    private mutating func refill(at now: Instant) {
        guard now > filledAt else { return }
        // Two seconds fill the bucket from empty; a longer time adds nothing.
        let elapsed = min(now.nanoseconds(since: filledAt), 2 * Self.unit)
        filledAt = now
        level = min(2 * rate * Self.unit, level + elapsed * rate)
    }
}
