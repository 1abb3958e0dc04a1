/// Tokens that come back with time, up to a burst.
struct TokenBucket {
    typealias Instant = ContinuousClock.Instant

    let burst: Double
    let perSecond: Double
    private(set) var tokens: Double
    private(set) var updated: Instant

    /// A full one.
    init(burst: Double, perSecond: Double, at now: Instant) {
        (self.burst, self.perSecond) = (burst, perSecond)
        (tokens, updated) = (burst, now)
    }

    var isFull: Bool { tokens >= burst }

    mutating func refill(at now: Instant) {
        // Threads come here in another order than they have looked at the clock.
        tokens = min(burst, tokens + max(0, (now - updated) / .seconds(1)) * perSecond)
        updated = max(updated, now)
    }

    /// Seconds until it holds so many, or is full: then it gives more than it has, and owes the rest.
    func wait(for amount: Double) -> Double { (min(amount, burst) - tokens) / perSecond }

    mutating func take(_ amount: Double) { tokens -= amount }
}
