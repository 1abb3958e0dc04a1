import StrokeWire

extension TokenBucket {
    typealias Instant = ContinuousClock.Instant

    private static let origin = Instant.now

    init(rate: Int, burst: Int? = nil, at now: Instant) {
        self.init(rate: rate, burst: burst, nanoseconds: Self.nanoseconds(at: now))
    }

    mutating func refill(at now: Instant) {
        // Threads come here in another order than they have looked at the clock.
        refill(nanoseconds: max(filledAt, Self.nanoseconds(at: now)))
    }

    /// Whether nothing was taken of it that has not come back.
    func isFull(at now: Instant) -> Bool {
        var bucket = self
        bucket.refill(at: now)
        return bucket.isFull
    }

    private static func nanoseconds(at now: Instant) -> Int64 {
        let (seconds, attoseconds) = origin.duration(to: now).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
