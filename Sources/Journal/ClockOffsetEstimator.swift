/// Estimates the offset of the log's clock, the wall clock of the server that leads the stream, from the local
/// monotonic clock.
///
/// Pure. The server's time lies between a request and its answer, which gives the offset to within half of the round
/// trip. A record cannot have been logged after it came, so the offset is at least the difference of these times. If
/// the 16 to 32 newest records that were delivered as soon as they were logged all give a lower bound, the server's
/// clock was set back, or another server leads.
///
/// Each input returns the offset when it has changed by more than ``tolerance``.
struct ClockOffsetEstimator {
    /// The largest change that is not reported, in nanoseconds.
    static let tolerance: Int64 = 20_000_000
    /// The records of one window; two full windows may lower the offset.
    static let window = 16

    /// In nanoseconds; nil before the first answer.
    private(set) var offset: Int64?
    /// The offset as last reported.
    private var reported: Int64?
    /// The greatest lower bound of the window.
    private var greatest: Int64 = .min
    /// The greatest lower bound of the window before.
    private var greatestBefore: Int64 = .min
    /// Records in the window.
    private var count = 0

    /// An answer with the server's time. All times in nanoseconds.
    mutating func answer(serverTime: Int64, requestedAt: Int64, answeredAt: Int64) -> Duration? {
        let least = serverTime &- answeredAt
        let most = serverTime &- requestedAt
        // A known offset within the bounds is as good or better.
        if let known = offset, least <= known, known <= most { return nil }
        set(least &+ (most &- least) / 2)
        return report()
    }

    /// A record that was delivered while none was logged after it.
    mutating func record(loggedAt: Int64, receivedAt: Int64) -> Duration? {
        let bound = loggedAt &- receivedAt
        greatest = max(greatest, bound)
        count += 1
        if let known = offset, bound > known { offset = bound }
        if count == Self.window {
            let recent = max(greatest, greatestBefore)
            if greatestBefore != .min, let known = offset, recent < known &- Self.tolerance { offset = recent }
            (greatestBefore, greatest, count) = (greatest, .min, 0)
        }
        return report()
    }

    private mutating func set(_ value: Int64) {
        offset = value
        (greatest, greatestBefore, count) = (.min, .min, 0)
    }

    private mutating func report() -> Duration? {
        guard let offset else { return nil }
        if let reported, abs(offset &- reported) <= Self.tolerance { return nil }
        reported = offset
        return .nanoseconds(offset)
    }
}
