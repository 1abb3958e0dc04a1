import StrokeWire

/// A cohort's video clock within one epoch: what its samples say about the picture that its students see.
///
/// `ReleaseGate.md` has the rules by their numbers.
struct CohortClock: Sendable {
    /// What video time does after the last sample.
    private enum Extrapolation: Sendable {
        /// It stays at the sample.
        case frozen
        /// It runs on until the clock is stale.
        case untilStale
        /// It runs on for ever.
        case endless
    }

    /// The room's epoch that the samples belong to.
    var epoch: Int64
    /// When the cohort came to this epoch.
    private let entered: Instant
    private let extrapolation: Extrapolation
    /// Nanoseconds.
    private let staleAfter: Int64

    /// The last sample taken.
    private(set) var anchor: ClockAnchor
    private var number: Int64?
    private(set) var stream: String
    /// Nanoseconds between the last two samples taken.
    private var interval: Int64?
    /// Since when the state is the anchor's.
    private var stateSince: Instant
    /// A sample too far off to be believed alone.
    private var candidate: Candidate?

    private struct Candidate: Sendable {
        let anchor: ClockAnchor
        let number: Int64?
        let stream: String
    }

    /// - Parameter earlier: the cohort's clock of the epoch before, which gives the sample interval.
    init(
        _ sample: ClockSample, media: MediaTime, epoch: Int64, settings: CohortSettings, received: Instant,
        entered: Instant, after earlier: CohortClock?
    ) {
        (self.epoch, self.entered) = (epoch, entered)
        extrapolation = !settings.extrapolate ? .frozen : settings.policy == .freerun ? .endless : .untilStale
        staleAfter = max(0, settings.staleAfter.nanoseconds)
        anchor = ClockAnchor(sample, media: media, received: received)
        number = sample.number
        stream = sample.stream
        interval = earlier.map { received.nanoseconds(since: $0.anchor.received) }
        stateSince = received
    }
}

// MARK: - Samples: rules 4 and 5

extension CohortClock {
    /// Whether a sample is believed.
    enum Verdict {
        case believed
        case doubted
        case repeated
    }

    /// Judges a sample of the clock's own epoch.
    /// - Parameter media: the sample's media time, unwrapped.
    func verdict(on sample: ClockSample, media: MediaTime, at now: Instant) -> Verdict {
        if isRepeat(sample, at: now) { return .repeated }
        if sample.isDiscontinuity { return .believed }
        let ahead = media - prediction(at: now)
        if ahead <= GateThresholds.forwardJump, behind(media, at: now) <= GateThresholds.backwardStep {
            return .believed
        }
        guard let candidate else { return .doubted }
        let difference = media - candidate.anchor.media(at: now)
        return (-GateThresholds.agreement...GateThresholds.agreement).contains(difference) ? .believed : .doubted
    }

    private func isRepeat(_ sample: ClockSample, at now: Instant) -> Bool {
        guard let given = sample.number else { return false }
        if let number, given <= number, isLive(at: now) { return true }
        // A sample that comes twice must not confirm itself.
        return candidate?.number == given && candidate?.stream == sample.stream
    }

    /// Microseconds by which a media time lies behind V.
    func behind(_ media: MediaTime, at now: Instant) -> Int64 { videoTime(at: now) - media }

    /// Keeps a doubted sample, to be confirmed by the next one or not.
    mutating func doubt(_ sample: ClockSample, media: MediaTime, at now: Instant) {
        candidate = Candidate(
            anchor: ClockAnchor(sample, media: media, received: now),
            number: sample.number, stream: sample.stream)
    }

    /// Moves the clock to a sample.
    /// - Parameter media: the sample's media time, unwrapped.
    mutating func take(_ sample: ClockSample, media: MediaTime, received: Instant) {
        if sample.state != anchor.state { stateSince = received }
        interval = received.nanoseconds(since: anchor.received)
        anchor = ClockAnchor(sample, media: media, received: received)
        // Sample numbers of two streams cannot be compared.
        number = sample.number ?? (sample.stream == stream ? number : nil)
        stream = sample.stream
        candidate = nil
    }
}

// MARK: - Video time: rules 3, 6 and 9

extension CohortClock {
    /// Nanoseconds for which the last sample is believed.
    private var lifetime: Int64 {
        max(staleAfter, 3 * max(0, min(interval ?? 0, GateThresholds.longestInterval)))
    }

    /// The last instant at which the clock is live.
    private var liveUntil: Instant { anchor.received.advanced(byNanoseconds: lifetime) }

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

    /// V without the stale cap: what the next sample is compared with.
    func prediction(at now: Instant) -> MediaTime {
        media(after: now.nanoseconds(since: anchor.received), at: now)
    }

    /// Rule 17: see ``ClockAnchor/liveTime(at:)``.
    func liveTime(at now: Instant) -> MediaTime? { anchor.liveTime(at: now) }

    private func media(after elapsed: Int64, at now: Instant) -> MediaTime {
        guard anchor.state == .pause, now >= pauseStepInstant else { return anchor.media(after: elapsed) }
        return anchor.media + GateThresholds.pauseStep
    }

    /// Rule 9: when a pause has lasted long enough for ``GateThresholds/pauseStep``.
    private var pauseStepInstant: Instant { stateSince.advanced(byNanoseconds: GateThresholds.pauseDelay) }

    /// Rule 9: when the end of the video releases everything; nil before the end.
    private var endInstant: Instant? {
        anchor.state == .end ? stateSince.advanced(byNanoseconds: GateThresholds.endDelay) : nil
    }

    /// The first instant at which the clock releases an operation if no other sample comes; nil for never.
    func releaseInstant(of entry: GateTimeline.Entry) -> Instant? {
        guard entry.epoch <= epoch else { return nil }
        guard entry.epoch == epoch else { return entered }
        guard let end = endInstant else { return instantPassing(entry.gateTime).map { max(entered, $0) } }
        return max(entered, min(end, instantPassing(entry.gateTime) ?? end))
    }

    /// The first instant at which V is greater than `time` if no other sample comes; nil for never.
    func instantPassing(_ time: MediaTime) -> Instant? {
        if anchor.state == .pause, time >= anchor.media {
            return time < anchor.media + GateThresholds.pauseStep ? max(anchor.received, pauseStepInstant) : nil
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

    /// Rule 10: the current pause or stall, as long as the clock is live if no other sample comes; nil for none.
    var standing: Pauses.Span? {
        anchor.state.isStill ? Pauses.Span(from: anchor.received, to: liveUntil) : nil
    }
}

/// What one sample said: the video was at `media` at `received` and moved at `rate` where it played.
struct ClockAnchor: Sendable {
    let media: MediaTime
    let received: Instant
    /// Thousandths of real time, 0 … 2000.
    let rate: Int64
    let state: ClockSample.State
    /// Microseconds from the picture at the teacher to this cohort; nil while unknown.
    let age: Int64?

    /// - Parameter media: the sample's media time, unwrapped.
    init(_ sample: ClockSample, media: MediaTime, received: Instant) {
        (self.media, self.received) = (media, received)
        rate = Int64(max(0, min(sample.rate, 2000)))
        state = sample.state
        age = sample.age
    }

    /// The video time `elapsed` nanoseconds after the sample, in whole microseconds, rounded down.
    func media(after elapsed: Int64) -> MediaTime {
        guard state == .play, elapsed > 0 else { return media }
        return media + distance(after: elapsed)
    }

    /// Rule 17: the media time at the teacher, who goes on while the students' picture stands; nil where the sample does not
    /// tell it, or is too old for that, or too new.
    /// - Parameter now: before the sample, too: a log may be read late.
    func liveTime(at now: Instant) -> MediaTime? {
        guard let age, state != .end else { return nil }
        let elapsed = now.nanoseconds(since: received)
        guard elapsed.magnitude <= GateThresholds.liveLifetime.magnitude else { return nil }
        return media + age + (elapsed < 0 ? -distance(after: -elapsed) : distance(after: elapsed))
    }

    /// Microseconds that a video at the sample's rate plays in so many nanoseconds, 0 or more, rounded down.
    func distance(after elapsed: Int64) -> Int64 {
        // Split so that not even 292 years overflow.
        let (milliseconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000)
        return milliseconds * rate + rest * rate / 1_000_000
    }

    /// The video time at an instant by this sample alone.
    func media(at now: Instant) -> MediaTime { media(after: now.nanoseconds(since: received)) }

    /// The least number of nanoseconds after the sample at which ``media(after:)`` is greater than `time`; nil where
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

extension ClockSample {
    /// Rule 8: the media time; of a counter that wraps, the reading nearest to `reference`.
    func unwrappedMedia(near reference: MediaTime?) -> MediaTime {
        guard let wrapBits, (1...52).contains(wrapBits), let reference else { return media }
        let period = (Int64(1) << Int64(wrapBits)) * 1000
        let distance = reference - media
        let rest = distance % period
        let nearest = media + (distance - rest)
        if rest > period / 2 { return nearest + period }
        return rest < -period / 2 ? nearest - period : nearest
    }
}

extension ClockSample.State {
    /// Whether the picture stands still and is expected to go on.
    var isStill: Bool { self == .pause || self == .stall }
}
