import StrokeWire

/// A moment on a clock: nanoseconds from its origin.
///
/// There are two clocks: the monotonic one of the process, whose origin is arbitrary, and the log's own. Their times are
/// not compared with each other.
///
/// Arithmetic saturates at ``distantPast`` and ``distantFuture`` (about 292 years from the origin) and never traps, so
/// that times from outside need no check.
public struct Instant: Hashable, Sendable {
    /// Nanoseconds after the origin; negative before it.
    public let nanoseconds: Int64

    /// The moment that lies `nanoseconds` after the origin.
    @inlinable
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Earlier than every other instant.
    public static let distantPast = Instant(nanoseconds: .min)

    /// Later than every other instant.
    public static let distantFuture = Instant(nanoseconds: .max)
}

extension Instant: Comparable {
    @inlinable
    public static func < (earlier: Instant, later: Instant) -> Bool {
        earlier.nanoseconds < later.nanoseconds
    }
}

extension Instant {
    /// The moment `duration` later; earlier where it is negative. Saturates.
    @inlinable
    public static func + (instant: Instant, duration: Duration) -> Instant {
        instant.advanced(byNanoseconds: duration.nanoseconds)
    }

    /// The time from `earlier` to `later`; negative where `later` comes first. Saturates at ±292 years.
    @inlinable
    public static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(later.nanoseconds(since: earlier))
    }

    /// Nanoseconds from `earlier` to this instant. Saturates.
    @usableFromInline
    func nanoseconds(since earlier: Instant) -> Int64 {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        guard overflow else { return difference }
        return nanoseconds < earlier.nanoseconds ? .min : .max
    }

    /// The moment `step` nanoseconds later. Saturates.
    @usableFromInline
    func advanced(byNanoseconds step: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
        guard overflow else { return Instant(nanoseconds: sum) }
        return step < 0 ? .distantPast : .distantFuture
    }
}

extension Duration {
    /// Whole nanoseconds, rounded toward zero. Saturates at the ends of `Int64`.
    @usableFromInline
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard overflow || carry else { return sum }
        return seconds < 0 ? .min : .max
    }
}

/// The offset between the log's clock and the local monotonic one.
///
/// Decisions that every replica takes alike go by log time, which outlives a process; releases go by local time, which
/// never jumps.
struct ClockOffset: Sendable {
    /// Nanoseconds by which log time is ahead of local time.
    private let ahead: Int64

    init() { ahead = 0 }

    init(ahead: Duration) { self.ahead = max(-.max, ahead.nanoseconds) }

    /// ``Instant/distantPast`` stays as it is.
    func logTime(of local: Instant) -> Instant {
        local == .distantPast ? local : local.advanced(byNanoseconds: ahead)
    }

    /// UTC at a local time; nil where the log's clock is the local one, which counts from elsewhere.
    func utc(at local: Instant) -> MediaTime? {
        let logged = logTime(of: local)
        // No machine has been up for so long.
        return logged.nanoseconds > 1_000_000_000_000_000_000 ? MediaTime(microseconds: logged.nanoseconds / 1000) : nil
    }

    func localTime(of logged: Instant) -> Instant {
        logged == .distantPast ? logged : logged.advanced(byNanoseconds: -ahead)
    }
}
