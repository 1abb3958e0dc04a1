/// How far the log's clock, the wall clock of the server that leads the stream, is ahead of the local monotonic clock.
///
/// Pure. Between a question and its answer lies the server's time: that gives the difference to within half of the time
/// between. A record cannot have been logged after it came: so the clock is at least that far ahead. If the 16 to 32
/// newest records that were delivered as soon as they were logged all say less, the server's clock was set back, or
/// another server leads.
struct LogClock {
    /// Less than this is no news.
    static let tolerance: Int64 = 20_000_000
    /// Records that a lower value is judged by.
    static let window = 16

    /// In nanoseconds; nil before the first answer.
    private var ahead: Int64?
    /// As last told.
    private var told: Int64?
    private var greatest: Int64 = .min
    private var greatestBefore: Int64 = .min
    private var count = 0

    /// An answer with the server's time: the difference, if that is news.
    mutating func answer(serverTime: Int64, askedAt: Int64, answeredAt: Int64) -> Duration? {
        let least = serverTime &- answeredAt
        let most = serverTime &- askedAt
        // A value within the bounds is as good, and may be better.
        if let known = ahead, least <= known, known <= most { return nil }
        set(least &+ (most &- least) / 2)
        return news()
    }

    /// A record that was delivered when nothing was logged after it.
    mutating func record(loggedAt: Int64, receivedAt: Int64) -> Duration? {
        let bound = loggedAt &- receivedAt
        greatest = max(greatest, bound)
        count += 1
        if let known = ahead, bound > known { ahead = bound }
        if count == Self.window {
            let recent = max(greatest, greatestBefore)
            if greatestBefore != .min, let known = ahead, recent < known &- Self.tolerance { ahead = recent }
            (greatestBefore, greatest, count) = (greatest, .min, 0)
        }
        return news()
    }

    private mutating func set(_ value: Int64) {
        ahead = value
        (greatest, greatestBefore, count) = (.min, .min, 0)
    }

    private mutating func news() -> Duration? {
        guard let ahead else { return nil }
        if let told, abs(ahead &- told) <= Self.tolerance { return nil }
        told = ahead
        return .nanoseconds(ahead)
    }
}
