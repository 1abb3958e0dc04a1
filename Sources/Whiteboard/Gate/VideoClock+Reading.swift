import StrokeWire

/// Rules 3 and 9: the video time V, and when it passes a gate time.
extension VideoClock {
    /// Rule 9: how long a pause has to last before ink at its very picture appears; nanoseconds.
    private static let pauseDelay: Int64 = 500_000_000
    /// Rule 9: how long the end has to last before everything is released; nanoseconds.
    private static let endDelay: Int64 = 2_000_000_000
    /// Rule 3: the longest sample interval that counts; nanoseconds.
    private static let longestInterval: Int64 = 10_000_000_000

    /// Nanoseconds for which the last sample is believed.
    private var lifetime: Int64 {
        max(staleAfter, 3 * max(0, min(interval ?? 0, Self.longestInterval)))
    }

    /// The last instant at which the clock is live.
    var liveUntil: Instant { anchor.received.advanced(byNanoseconds: lifetime) }

    func isLive(at now: Instant) -> Bool { now <= liveUntil }

    /// The video time V.
    func videoTime(at now: Instant) -> MediaTime {
        let elapsed = now.nanoseconds(since: anchor.received)
        return switch extrapolation {
        case .frozen: media(after: 0, at: now)
        case .untilStale: media(after: min(elapsed, lifetime), at: now)
        case .endless: media(after: elapsed, at: now)
        }
    }

    /// V as it would be if the last sample were believed for ever: what the next one is measured by.
    func prediction(at now: Instant) -> MediaTime {
        media(after: now.nanoseconds(since: anchor.received), at: now)
    }

    private func media(after elapsed: Int64, at now: Instant) -> MediaTime {
        guard anchor.state == .pause, now >= pauseCounts else { return anchor.media(after: elapsed) }
        return anchor.media + MediaDistance.pauseStep
    }

    private var pauseCounts: Instant { stateSince.advanced(byNanoseconds: Self.pauseDelay) }

    /// The first instant at which V is greater than `time` if no other sample comes; nil for never.
    func passes(_ time: MediaTime) -> Instant? {
        if anchor.state == .pause, time >= anchor.media {
            return time < anchor.media + MediaDistance.pauseStep ? max(anchor.received, pauseCounts) : nil
        }
        guard let elapsed = anchor.elapsed(toPass: time) else { return nil }
        let reach: Int64 =
            switch extrapolation {
            case .frozen: 0
            case .untilStale: lifetime
            case .endless: .max
            }
        return elapsed <= reach ? anchor.received.advanced(byNanoseconds: elapsed) : nil
    }

    /// Rule 9: when the end of the video releases everything.
    var endCounts: Instant? {
        anchor.state == .end ? stateSince.advanced(byNanoseconds: Self.endDelay) : nil
    }
}
