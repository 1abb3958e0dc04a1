public import StrokeWire

/// One cohort of a room: its cursor, and the clock that moves it.
struct Cohort: Sendable {
    let name: CohortName
    let settings: CohortSettings
    /// Nanoseconds.
    private let maxHold: Int64
    /// Operations wait for this cohort since they were logged, but not since before this.
    private(set) var waitsFrom: Instant
    /// Since when this value can release for the cohort.
    private var began: Instant
    /// Rule 10: past pauses and stalls.
    private var pauses = Pauses()
    /// When the pause began that was on when the cursor was saved, or when releases were interrupted. The next sample
    /// shows how it went on.
    private var savedPause: Instant?
    /// Whether a sample was taken since ``began``.
    private var isHeard = false
    /// Whether a sample of a pause or stall has come since then that waits for its epoch.
    private var hasStood = false
    /// Rule 16: whether the cohort has ever had a sample in this life of the room; nil where neither a sample nor what was
    /// saved says so.
    private var video: Bool?
    /// What counts then: whether a clock of the room was heard before this value could hear one.
    private var assumesVideo = false
    /// Rule 16: until then a clock that was there before may not have been heard yet.
    private var listensUntil = Instant.distantPast

    /// R: the index of the last operation released.
    private(set) var released: UInt64
    /// R as it was last saved, as far as known.
    var saved: UInt64
    /// When the last operation released was due: no later one is due before it.
    private var lastDue = Instant.distantPast
    /// nil until a sample was taken.
    var clock: CohortClock?
    /// Rule 6: when the clock last went on with a new time line that the room had no log to name in, and where the picture
    /// was on the old one; nil for never.
    var restart: (at: Instant, video: MediaTime)?
    /// The clock as it was last saved.
    private(set) var savedClock: SavedClock?
    /// A sample of an epoch that the log does not have yet.
    var waiting: WaitingSample?
    /// A first sample far below ``savedClock``: the time line has begun anew if the next one agrees.
    var doubted: WaitingSample?

    init(_ name: CohortName, settings: CohortSettings, released: UInt64, waitsFrom: Instant, at now: Instant) {
        (self.name, self.settings, self.released) = (name, settings, released)
        saved = released
        self.waitsFrom = waitsFrom
        maxHold = max(0, settings.maxHold.nanoseconds)
        began = now
    }

    // MARK: - Releasing

    /// When an operation is due, and by what.
    struct Due {
        let instant: Instant
        /// Whether the policy releases it, not the clock.
        let isLate: Bool
    }

    /// Whether operations wait for the video (rule 16).
    var isGated: Bool {
        switch settings.gate {
        case .auto: hasVideo
        case .video: true
        case .none: false
        }
    }

    /// When the operation after R is due if nothing else happens; nil for never.
    /// - Parameter foreseen: that it was logged in a provisional epoch; nil for others.
    func due(_ entry: GateTimeline.Entry, _ foreseen: Epochs.Foreseen?) -> Due? {
        let earliest = max(began, entry.loggedAt)
        guard isGated else {
            return Due(instant: settings.gate == .auto ? max(earliest, listensUntil) : earliest, isLate: false)
        }
        var overdue = waitedTooLong(entry)
        if let limit = waitedForRestart(entry, foreseen) { overdue = min(overdue ?? limit, limit) }
        guard let shown = clock?.releaseInstant(of: entry) else {
            return overdue.map { Due(instant: max(earliest, $0), isLate: true) }
        }
        if let overdue, overdue < shown { return Due(instant: max(earliest, overdue), isLate: true) }
        return Due(instant: max(earliest, shown), isLate: false)
    }

    /// Rule 10: when the operation has waited as long as it may.
    private func waitedTooLong(_ entry: GateTimeline.Entry) -> Instant? {
        guard settings.policy == .maxhold else { return nil }
        return pauses.end(of: maxHold, from: waitStart(entry), current: clock?.standing)
    }

    /// Rule 18: when an operation of a provisional epoch has waited as long as it may for the clock to restart, which others
    /// may have done; nil for others.
    private func waitedForRestart(_ entry: GateTimeline.Entry, _ foreseen: Epochs.Foreseen?) -> Instant? {
        guard let foreseen, let clock, clock.epoch < entry.epoch, let age = clock.anchor.age ?? foreseen.age else {
            return nil
        }
        return entry.loggedAt.advanced(byNanoseconds: age * 1000 + GateThresholds.provisionalSlack)
    }

    /// Rule 10: since when an operation waits.
    private func waitStart(_ entry: GateTimeline.Entry) -> Instant {
        let start = max(entry.loggedAt, waitsFrom)
        return isHeard ? start : max(start, began)
    }

    /// Moves the cursor over the next operation.
    mutating func release(due: Instant, isLate: Bool) -> Release {
        released += 1
        lastDue = max(lastDue, due)
        return Release(cohort: name, index: released, isLate: isLate, due: lastDue)
    }

    // MARK: - Waiting

    /// Rule 10: the cohort is released to from `start` on. Its clock may be live, in a long pause, and not have been
    /// heard yet: until it is, waiting counts from `start`.
    mutating func begin(at start: Instant) {
        if isHeard { savedPause = pauseSince }
        (isHeard, hasStood) = (false, false)
        began = start
        listensUntil = max(listensUntil, start + GateThresholds.listening)
    }

    /// Rule 16: until when what is not gated waits for a clock that may not have been heard yet; nil for not at all.
    func listens(at now: Instant) -> Instant? { settings.gate == .auto && now < listensUntil ? listensUntil : nil }

    /// Rule 16: whether the cohort has a video. Stays true once that is known.
    var hasVideo: Bool { video ?? assumesVideo }

    /// Rule 16: notes that the cohort has a video, or what was saved of that.
    mutating func noteVideo(_ hasVideo: Bool = true) { video = hasVideo || video == true }

    /// Rule 16: notes that somebody has heard a clock of the room, where it is not known of which cohort.
    mutating func assumeVideo() { assumesVideo = true }

    /// Notes what a cohort's earlier value knew of its video.
    mutating func noteVideo(of earlier: Cohort) { (video, assumesVideo) = (earlier.video, earlier.assumesVideo) }

    /// Notes that a sample waits for its epoch: before the log has that, the picture may move again.
    mutating func expect(_ state: ClockSample.State) { hasStood = hasStood || state.isStill }

    /// Notes that a sample is taken. The pause before it lasted until now, or as long as the clock was live.
    /// - Parameter isStill: whether the sample itself is of a pause or stall.
    mutating func hear(isStill: Bool, at now: Instant) {
        if let standing = clock?.standing {
            pauses.add(Pauses.Span(from: standing.from, to: min(standing.to, now)))
        }
        guard !isHeard else { return }
        isHeard = true
        if let since = savedPause { pauses.add(Pauses.Span(from: since, to: now)) }
        // When the pause began is not known.
        if isStill || hasStood { waitsFrom = max(waitsFrom, began) }
        savedPause = nil
    }

    /// When the current pause began; nil where there is none.
    private var pauseSince: Instant? {
        guard let standing = clock?.standing else { return nil }
        guard let last = pauses.spans.last, standing.from <= last.to else { return standing.from }
        return min(last.from, standing.from)
    }

    // MARK: - Cursor

    /// ``hasVideo`` where it matters.
    private var savedVideo: Bool? { settings.gate == .auto ? hasVideo : nil }

    /// The clock as it is saved.
    var clockToSave: SavedClock? {
        clock.map { SavedClock(epoch: $0.epoch, media: $0.anchor.media) } ?? savedClock
    }

    /// Takes over a clock that was saved; nil where none was.
    mutating func restore(_ clock: SavedClock?) { savedClock = clock ?? savedClock }

    /// The cursor as it is saved.
    /// - Parameter next: the operation after R; nil where there is none.
    func cursor(next: GateTimeline.Entry?) -> CohortCursor {
        var cursor = CohortCursor(released, hasVideo: savedVideo, clock: clockToSave)
        guard settings.policy == .maxhold, isGated else { return cursor }
        let since = isHeard ? pauseSince : savedPause
        let paused = next.map { pauses.time(from: max($0.loggedAt, waitsFrom), to: since ?? .distantFuture) }
        (cursor.pausedTime, cursor.pausedSince) = (.nanoseconds(paused ?? 0), since)
        return cursor
    }

    /// Moves the cursor over operations that another process has released. A cursor behind this one changes nothing.
    ///
    /// The saved pause time of the next operation counts for all later ones too: none waits too short.
    mutating func skip(to cursor: CohortCursor, at now: Instant) {
        guard cursor.released >= released else { return }
        released = cursor.released
        saved = released
        restore(cursor.clock)
        savedPause = cursor.pausedSince.map { min($0, now) }
        let end = savedPause ?? now
        pauses = Pauses()
        pauses.add(Pauses.Span(from: end.advanced(byNanoseconds: -max(0, cursor.pausedTime.nanoseconds)), to: end))
    }
}

/// A sample that waits for its epoch to be written to the room's log.
struct WaitingSample: Sendable {
    let sample: ClockSample
    let received: Instant
    let epoch: Int64
}

/// A cohort's position in a room's log, as it is saved.
public struct CohortCursor: Sendable, Equatable {
    /// R: the index of the last operation released, 0 before the first.
    public var released: UInt64
    /// Rule 10: total time of past pauses and stalls since the operation after R was logged. Waiting does not count in
    /// them.
    public var pausedTime: Duration
    /// When the current pause or stall began, by the log's clock; nil where there is none.
    public var pausedSince: Instant?
    /// Rule 16: whether the cohort has ever had a clock sample; nil where that does not matter, and where an
    /// earlier release has not said.
    public var hasVideo: Bool?
    /// Rule 6: the cohort's clock; nil where it had none, and where an earlier release has not said.
    public var clock: SavedClock?

    public init(
        _ released: UInt64, pausedTime: Duration = .zero, pausedSince: Instant? = nil, hasVideo: Bool? = nil,
        clock: SavedClock? = nil
    ) {
        self.released = released
        self.pausedTime = pausedTime
        self.pausedSince = pausedSince
        self.hasVideo = hasVideo
        self.clock = clock
    }

    /// Whether an earlier one says the same but for the time that the clock showed, which moves with every sample: that alone
    /// is no reason to save a cursor again, unless it has gone back, which a successor could take for a restart.
    public func isSame(as earlier: CohortCursor) -> Bool {
        var cursor = self
        if let old = earlier.clock, let clock, clock.epoch == old.epoch, clock.media >= old.media { cursor.clock = old }
        return cursor == earlier
    }
}

/// The saved position of a cohort's clock. After a restart it assigns samples without `ep` to the right epoch.
public struct SavedClock: Sendable, Equatable {
    /// The room's epoch that it was in, -1 for one that the log had not named.
    public var epoch: Int64
    /// The media time of its last sample.
    public var media: MediaTime

    public init(epoch: Int64, media: MediaTime) {
        self.epoch = epoch
        self.media = media
    }
}

extension CohortCursor {
    /// Whether a cohort with these settings, which is not in memory, has a video; nil where that is not known.
    public func gate(_ settings: CohortSettings) -> GateState? {
        switch settings.gate {
        case .auto: hasVideo.map { $0 ? .video : .open }
        case .video: .video
        case .none: .open
        }
    }
}

extension CohortCursor: ExpressibleByIntegerLiteral {
    /// The cursor of a cohort that has never paused.
    public init(integerLiteral released: UInt64) { self.init(released) }
}

/// Rule 10: when a cohort's picture stood still while its clock was live. Waiting does not count then.
///
/// At most 16 spans. Beyond, the two nearest are merged with the time between them, so that an operation may wait longer
/// than it has to, but is never released early.
struct Pauses: Sendable {
    struct Span: Sendable, Equatable {
        var from: Instant
        var to: Instant
    }

    /// In order, not touching.
    private(set) var spans: [Span] = []

    private static let capacity = 16

    /// Adds a span that begins no earlier than the last one.
    mutating func add(_ span: Span) {
        guard span.from < span.to else { return }
        if let last = spans.last, span.from <= last.to {
            spans[spans.count - 1].to = max(last.to, span.to)
            return
        }
        spans.append(span)
        if spans.count > Self.capacity { mergeNearest() }
    }

    private mutating func mergeNearest() {
        func gap(before position: Int) -> Int64 {
            spans[position].from.nanoseconds(since: spans[position - 1].to)
        }
        guard let upper = (1..<spans.count).min(by: { gap(before: $0) < gap(before: $1) }) else { return }
        spans[upper - 1].to = spans.remove(at: upper).to
    }

    /// Nanoseconds of pauses between two instants.
    func time(from start: Instant, to end: Instant) -> Int64 {
        spans.reduce(0) { sum, span in
            sum + max(0, min(span.to, end).nanoseconds(since: max(span.from, start)))
        }
    }

    /// When something that waits since `start` has waited `wait` nanoseconds, not counting pauses.
    /// - Parameter current: the current pause, after the others; nil for none.
    func end(of wait: Int64, from start: Instant, current: Span?) -> Instant {
        var at = start
        var left = wait
        func pass(_ span: Span) {
            guard span.to > at else { return }
            let counted = max(0, span.from.nanoseconds(since: at))
            guard counted < left else { return }
            left -= counted
            at = span.to
        }
        for span in spans { pass(span) }
        if let current { pass(current) }
        return at.advanced(byNanoseconds: left)
    }
}
