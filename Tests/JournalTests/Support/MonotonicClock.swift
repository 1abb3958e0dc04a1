import Whiteboard

/// The tests' own monotonic clock, from an origin of its own.
enum MonotonicClock {
    private static let origin = ContinuousClock.now

    static func now() -> Instant {
        let (seconds, attoseconds) = origin.duration(to: .now).components
        return Instant(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
