/// Converts between the log's own time and the local monotonic one.
///
/// What every replica has to decide alike goes by the log's time, which outlives a process; what is shown when goes by
/// the local clock, which never jumps.
struct LogClock: Sendable {
    /// Nanoseconds by which log time is ahead of local time.
    private let ahead: Int64

    /// The two are the same.
    init() {
        ahead = 0
    }

    init(ahead: Duration) {
        self.ahead = max(-.max, ahead.nanoseconds)
    }

    /// "Always" stays what it is.
    func logTime(of local: Instant) -> Instant {
        local == .distantPast ? local : local.advanced(byNanoseconds: ahead)
    }

    func localTime(of logged: Instant) -> Instant {
        logged == .distantPast ? logged : logged.advanced(byNanoseconds: -ahead)
    }
}
