import StrokeWire

/// A cohort's video clock within one epoch: what its samples say about the picture that its students see.
struct VideoClock: Sendable {
    /// Beyond the last sample, video time …
    enum Extrapolation: Sendable {
        /// … stays what the sample said,
        case frozen
        /// … runs on until the clock is stale,
        case untilStale
        /// … runs on for ever.
        case endless
    }

    /// The room's epoch that the samples belong to.
    var epoch: Int64
    /// When the cohort came to this epoch.
    let entered: Instant
    let extrapolation: Extrapolation
    /// Nanoseconds.
    let staleAfter: Int64

    /// The last sample taken.
    private(set) var anchor: ClockAnchor
    private(set) var number: Int64?
    private(set) var stream: String
    /// Nanoseconds between the last two samples taken.
    private(set) var interval: Int64?
    /// Since when the state is the anchor's.
    private(set) var stateSince: Instant
    /// When a pause or stall last ended, or became the other.
    private(set) var thawed: Instant
    /// A sample too far off to be believed alone.
    var candidate: ClockCandidate?

    /// - Parameter earlier: the cohort's clock of the epoch before, of which only the rhythm of samples is kept.
    init(
        _ sample: ClockSample, media: MediaTime, epoch: Int64, settings: CohortSettings, received: Instant,
        entered: Instant, after earlier: VideoClock?
    ) {
        self.epoch = epoch
        self.entered = entered
        extrapolation = !settings.extrapolate ? .frozen : settings.policy == .freerun ? .endless : .untilStale
        staleAfter = max(0, settings.staleAfter.nanoseconds)
        anchor = ClockAnchor(media: media, received: received, rate: sample.rate, state: sample.state)
        number = sample.number
        stream = sample.stream
        interval = earlier.map { received.nanoseconds(since: $0.anchor.received) }
        stateSince = received
        thawed = earlier?.anchor.state.isStill == true ? entered : .distantPast
    }

    /// Moves the clock to a sample.
    /// - Parameter media: the sample's media time, unwrapped.
    mutating func take(_ sample: ClockSample, media: MediaTime, received: Instant) {
        let old = anchor.state
        if sample.state != old {
            stateSince = received
            if old.isStill { thawed = received }
        }
        interval = received.nanoseconds(since: anchor.received)
        anchor = ClockAnchor(media: media, received: received, rate: sample.rate, state: sample.state)
        // Numbers of another stream say nothing about this one's.
        number = sample.number ?? (sample.stream == stream ? number : nil)
        stream = sample.stream
        candidate = nil
    }
}

extension ClockSample.State {
    /// Whether the picture stands still and is expected to go on.
    var isStill: Bool { self == .pause || self == .stall }
}
