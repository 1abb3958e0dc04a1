import StrokeWire

/// What one sample said: the video was at `media` at `received` and moved at `rate` where it played.
struct ClockAnchor: Sendable {
    let media: MediaTime
    let received: Instant
    /// Thousandths of real time, 0 … 2000.
    let rate: Int64
    let state: ClockSample.State

    init(media: MediaTime, received: Instant, rate: Int, state: ClockSample.State) {
        self.media = media
        self.received = received
        self.rate = Int64(max(0, min(rate, 2000)))
        self.state = state
    }

    /// The video time that many nanoseconds after the sample, whole microseconds, rounded down.
    func media(after elapsed: Int64) -> MediaTime {
        guard state == .play, elapsed > 0 else { return media }
        // Split so that not even 292 years overflow.
        let (milliseconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000)
        return media + (milliseconds * rate + rest * rate / 1_000_000)
    }

    /// The video time at an instant by this sample alone.
    func media(at now: Instant) -> MediaTime {
        media(after: now.nanoseconds(since: received))
    }

    /// The least number of nanoseconds after the sample at which ``media(after:)`` is greater than `time`; nil when
    /// the video never comes so far.
    func elapsed(toPass time: MediaTime) -> Int64? {
        if time < media { return 0 }
        guard state == .play, rate > 0, time.microseconds < .max else { return nil }
        let (distance, rest) = ((time + 1) - media).quotientAndRemainder(dividingBy: rate)
        let (whole, overflow) = distance.multipliedReportingOverflow(by: 1_000_000)
        let (sum, carry) = whole.addingReportingOverflow((rest * 1_000_000 + rate - 1) / rate)
        return overflow || carry ? nil : sum
    }
}
