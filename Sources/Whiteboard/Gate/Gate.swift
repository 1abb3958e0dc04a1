public import StrokeWire

/// The release gate of a room: which operations of its log each cohort's students may see.
///
/// A pure value. Time is a parameter and monotonic; a time that goes back counts as not having moved. Call
/// ``release(at:into:)`` for what is due before any other mutation. Takes 32 bytes for each operation until
/// ``forget(through:)``; otherwise bounded by the number of cohorts.
///
/// "Rule" means a rule of the release gate's specification, by its number.
public struct Gate: Sendable {
    var cohorts: CohortTable
    private(set) var timeline: GateTimeline
    /// Whether strokes may grow in a cohort.
    let isProgressive: Bool
    /// Whether any cohort has ever had a clock.
    var hasClocks: Bool { cohorts.hasClocks }
    /// Rule 18: no operation up to this index begins a provisional epoch any more: the first of the last one, or the last before
    /// the log's last epoch.
    var lastProvisional: UInt64 = 0
    /// Rule 18: what that was before this gate began the last provisional epoch by itself.
    var earlierProvisional: UInt64 = 0
    /// Rule 18: whether the log has the decision that began the last provisional epoch.
    var isProvisionalLogged = false
    /// Rule 18: a restart that came while the provisional epoch was overdue: another begins when the log says that it is over.
    var nextProvisional: (first: UInt64, age: Int64, loggedAt: Instant)?
    /// Rule 18: when the log was last asked to end a provisional epoch.
    private var endAskedAt = Instant.distantPast
    /// The last epoch that the room was asked to log.
    var asked: (epoch: Int64, at: Instant)?
    /// The latest time seen.
    private var latest: Instant
    private var takenClamped = 0

    /// A gate before the first operation after `index`.
    public init(configuration: CohortsConfiguration, after index: UInt64 = 0, at now: Instant) {
        latest = now
        isProgressive = configuration.hasProgressive
        timeline = GateTimeline(after: index, hasEnds: isProgressive, at: now)
        cohorts = CohortTable(configuration, waitsFrom: .distantPast, at: now, by: timeline)
    }

    /// A gate restored from a checkpoint's timeline. Its cohorts' cursors lie before the operations in `timeline`.
    init(configuration: CohortsConfiguration, timeline: GateTimeline, at now: Instant) {
        latest = now
        isProgressive = configuration.hasProgressive
        self.timeline = timeline
        cohorts = CohortTable(configuration, waitsFrom: now, at: now, by: timeline)
    }

    /// The settings of the cohorts.
    public var configuration: CohortsConfiguration { cohorts.configuration }
}

// MARK: - Time

extension Gate {
    /// Moves the gate's time on.
    /// - Returns: the time to reckon with.
    mutating func advance(to now: Instant) -> Instant {
        latest = monotonic(now)
        return latest
    }

    /// `now`, or the latest time seen where the clock was read in another order than its values are used.
    func monotonic(_ now: Instant) -> Instant { max(latest, now) }
}

// MARK: - Operations

extension Gate {
    /// Adds the room's next operation.
    /// - Parameters:
    ///   - time: media time in milliseconds, any value; nil where the message gave none.
    ///   - reach: microseconds from there to its last point, 0 or more; for progressive cohorts.
    ///   - loggedAt: when the operation was logged. Counts as now when in the future, and as that of the operation
    ///     before when earlier.
    public mutating func append(time: Int64?, reach: Int64 = 0, at loggedAt: Instant, now: Instant) {
        let now = advance(to: now)
        let epoch = timeline.epochs.current.number
        let time = time.map(MediaTime.init(milliseconds:)) ?? .none
        let loggedAt = min(loggedAt, now)
        let (clocks, isNear) = cohorts.clocks(
            of: epoch, in: timeline.epochs, near: time, loggedAt: loggedAt, at: now)
        timeline.append(time: time, reach: reach, at: loggedAt, clocks: clocks, isNearClock: isNear)
        cohorts.operationAppended(to: timeline)
    }

    /// Drops the operations through `index` that every cohort has released. A cohort made later starts after them.
    public mutating func forget(through index: UInt64) {
        timeline.forget(through: min(index, cohorts.slowest?.released ?? index))
    }

    /// Number of operations counted as clamped (rule 7) since the last call.
    public mutating func takeClampedCount() -> Int {
        defer { takenClamped = timeline.clampedCount }
        return timeline.clampedCount - takenClamped
    }
}

// MARK: - Clock samples

extension Gate {
    /// Takes a sample of a cohort's clock. Moves the clock; ``release(at:into:)`` moves the cursor.
    /// - Parameter received: when the sample came, which may be before the last release: the video has gone on since.
    public mutating func receive(
        _ sample: ClockSample, cohort name: CohortName, at received: Instant
    ) -> ClockOutcome {
        let now = advance(to: received)
        guard let position = cohorts.position(of: name) ?? cohorts.admit(name, at: now, by: timeline) else {
            return configuration.open ? .tooManyCohorts : .unknownCohort
        }
        return take(sample, by: position, received: received, at: now)
    }

    /// - Parameter received: when the sample came; before now where it waited for its epoch.
    private mutating func take(
        _ sample: ClockSample, by position: Int, received: Instant, at now: Instant
    ) -> ClockOutcome {
        let clock = cohorts[position].clock
        if !cohorts[position].hasVideo {
            cohorts[position].noteVideo()
            cohorts.cursorChanges += 1
            cohorts.reschedule(position, by: timeline)
        }
        if let clock, clock.stream != sample.stream, clock.isLive(at: received) { return .ignored(.otherStream) }
        let current = timeline.epochs.confirmed.number
        if let epoch = sample.epoch, epoch > current { return wait(for: epoch, sample, by: position, at: now) }
        let epoch = sample.epoch ?? clock?.epoch ?? epoch(of: sample, first: position)
        if epoch > current { return beginAnew(epoch, with: sample, by: position, at: received) }
        guard let clock, clock.epoch >= epoch else {
            // The clock that was saved has been there already.
            if clock == nil, let saved = cohorts[position].savedClock,
                timeline.epochs.number(ofSaved: saved.epoch) > epoch
            {
                return .ignored(.olderEpoch)
            }
            enter(epoch, with: sample, by: position, received: received, at: now)
            return .taken
        }
        if clock.epoch > epoch { return .ignored(.olderEpoch) }
        // A later sample may have been taken while this one waited for its epoch.
        guard received >= clock.anchor.received else { return .ignored(.repeated) }
        return judge(sample, by: position, clock, at: received)
    }

    /// The epoch of a cohort's first sample without `ep` (rule 6): that of its clock as it was saved, for the room may be in a
    /// newer one, which this video has not reached. Where the video has restarted meanwhile, the sample lies far below the
    /// saved clock, and its epoch is the next, which the log may not have.
    private func epoch(of sample: ClockSample, first position: Int) -> Int64 {
        guard let saved = cohorts[position].savedClock else { return timeline.epochs.confirmed.number }
        let epoch = timeline.epochs.number(ofSaved: saved.epoch)
        let fall = saved.media - sample.unwrappedMedia(near: saved.media)
        return fall > GateThresholds.timelineRestart ? timeline.epochs.successor(of: epoch) : epoch
    }

    /// Rule 6: a time line that has begun anew, without `ep`, since the cohort's clock was saved. The room would go on at the
    /// times of the old one.
    private mutating func beginAnew(
        _ epoch: Int64, with sample: ClockSample, by position: Int, at received: Instant
    ) -> ClockOutcome {
        let doubted = cohorts[position].doubted
        if let number = sample.number, number == doubted?.sample.number, sample.stream == doubted?.sample.stream {
            return .ignored(.repeated)
        }
        cohorts[position].expect(sample.state)
        cohorts[position].doubted = WaitingSample(sample: sample, received: received, epoch: epoch)
        let isAgreed = doubted.map { earlier in
            let first = ClockAnchor(earlier.sample, media: earlier.sample.media, received: earlier.received)
            let media = sample.unwrappedMedia(near: first.media)
            return (media - first.media(at: received)).magnitude <= GateThresholds.agreement.magnitude
        }
        guard isAgreed ?? false || sample.isDiscontinuity else { return .candidate }
        return wait(for: epoch, sample, by: position, at: received)
    }

    /// Judges a sample of the cohort's own epoch (rules 4 and 5).
    private mutating func judge(
        _ sample: ClockSample, by position: Int, _ clock: CohortClock, at received: Instant
    ) -> ClockOutcome {
        let media = sample.unwrappedMedia(near: clock.prediction(at: received))
        switch clock.verdict(on: sample, media: media, at: received) {
        case .repeated:
            return .ignored(.repeated)
        case .doubted:
            cohorts[position].clock?.doubt(sample, media: media, at: received)
            return .candidate
        case .believed:
            if sample.epoch == nil, clock.behind(media, at: received) > GateThresholds.timelineRestart {
                return startOver(sample, media: media, by: position, clock, at: received)
            }
            let before = cohorts.cursor(of: cohorts[position], in: timeline)
            cohorts[position].hear(isStill: sample.state.isStill, at: received)
            cohorts[position].clock?.take(sample, media: media, received: received)
            if !cohorts.cursor(of: cohorts[position], in: timeline).isSame(as: before) { cohorts.cursorChanges += 1 }
            cohorts.reschedule(position, by: timeline)
            return .taken
        }
    }

    /// Rule 6: a time line that starts over without `ep` stands for a new epoch.
    private mutating func startOver(
        _ sample: ClockSample, media: MediaTime, by position: Int, _ clock: CohortClock, at now: Instant
    ) -> ClockOutcome {
        let next = timeline.epochs.successor(of: clock.epoch)
        guard next > timeline.epochs.confirmed.number else {
            enter(next, with: sample, by: position, received: now, at: now)
            return .taken
        }
        // The old clock goes on until the epoch is logged; samples until then confirm each other.
        cohorts[position].clock?.doubt(sample, media: media, at: now)
        return wait(for: next, sample, by: position, at: now)
    }

    /// Keeps a sample until its epoch is in the log.
    private mutating func wait(
        for epoch: Int64, _ sample: ClockSample, by position: Int, at now: Instant
    ) -> ClockOutcome {
        if let number = sample.number, let waiting = cohorts[position].waiting, waiting.epoch == epoch,
            let last = waiting.sample.number, number <= last
        {
            return .ignored(.repeated)
        }
        cohorts[position].expect(sample.state)
        cohorts[position].waiting = WaitingSample(sample: sample, received: now, epoch: epoch)
        if let asked, asked.epoch == epoch, now - asked.at < GateThresholds.epochRetry { return .awaitingEpoch }
        asked = (epoch, now)
        // The first record of a room without a named epoch would name the old one.
        let needsName = sample.epoch == nil && !timeline.epochs.isNamed
        return .newEpochs(needsName ? [epoch - 1, epoch] : [epoch])
    }

    /// Rule 6: a time line that begins anew without `ep` in a room that has no log to say so. Nothing was drawn on the one
    /// before: the clocks go on with the new one, once no cohort's is on the old one any more.
    mutating func forgetOldTimeLine(at now: Instant) {
        let restarted = cohorts.indices.filter { position in
            guard let waiting = cohorts[position].waiting, waiting.sample.epoch == nil else { return false }
            return cohorts[position].clock.map { waiting.received >= $0.anchor.received } ?? true
        }
        guard cohorts.indices.allSatisfy({ cohorts[$0].clock == nil || restarted.contains($0) }) else { return }
        let now = advance(to: now)
        asked = nil
        for position in restarted {
            cohorts[position].restart = (now, cohorts[position].clock?.videoTime(at: now) ?? .none)
            cohorts[position].clock = nil
        }
        for position in restarted {
            guard let waiting = cohorts[position].waiting else { continue }
            cohorts[position].waiting = nil
            let epoch = timeline.epochs.confirmed.number
            enter(epoch, with: waiting.sample, by: position, received: waiting.received, at: now)
        }
    }

    /// Starts a cohort's clock with its first sample of an epoch.
    private mutating func enter(
        _ epoch: Int64, with sample: ClockSample, by position: Int, received: Instant, at now: Instant
    ) {
        cohorts[position].hear(isStill: sample.state.isStill, at: now)
        cohorts[position].doubted = nil
        let cohort = cohorts[position]
        if let clock = cohort.clock {
            // Other authors have gone on by the old time line until the video followed.
            let farthest = timeline.epochs[epoch]?.wasProvisional == true ? clock.liveTime(at: now) : nil
            timeline.leave(clock.epoch, at: max(clock.videoTime(at: now), farthest ?? .none))
        }
        let media = sample.unwrappedMedia(near: timeline.firstTime(after: cohort.released, of: epoch))
        cohorts[position].clock = CohortClock(
            sample, media: media, epoch: epoch, settings: cohort.settings, received: received, entered: now,
            after: cohort.clock)
        cohorts.hasClocks = true
        if let clocks = cohorts.clocks(of: epoch, in: timeline.epochs, at: now) {
            timeline.judge(epoch: epoch, clocks: clocks)
        }
        // A cohort's first sample in an epoch may change the gate times for all cohorts.
        cohorts.cursorChanges += 1
        cohorts.rescheduleAll(by: timeline)
    }
}

// MARK: - Epochs

extension Gate {
    /// The room's epoch; nil before any was named.
    public var epoch: Int64? { timeline.epochs.isNamed ? timeline.epochs.confirmed.number : nil }

    /// Applies an epoch record, where it stands in the room's log (rule 6). The first one names the epoch that is there
    /// already; one that is not greater than the current epoch changes nothing.
    /// - Parameter loggedAt: when the record was logged. Counts as now when in the future.
    public mutating func beginEpoch(_ epoch: Int64, at loggedAt: Instant, now: Instant) {
        let now = advance(to: now)
        guard epoch > timeline.epochs.confirmed.number else { return }
        // Whoever had the room has heard a clock: of which cohort may not have been saved.
        if !hasSamples { for position in cohorts.indices { cohorts[position].assumeVideo() } }
        if timeline.epochs.isNamed {
            followRestart(to: epoch, loggedAt: min(loggedAt, now))
            nextProvisional = nil
            // Where this gate's own provisional epoch is not in the log yet, the log has its operations in the epoch before.
            lastProvisional = max(lastProvisional, timeline.last)
            if timeline.epochs.provisional != nil {
                timeline.confirm(epoch, at: min(loggedAt, now))
            } else {
                timeline.begin(epoch, at: min(loggedAt, now))
            }
        } else {
            timeline.name(epoch)
            for position in cohorts.indices where cohorts[position].clock != nil {
                cohorts[position].clock?.epoch = epoch
            }
        }
        cohorts.cursorChanges += 1
        cohorts.rescheduleAll(by: timeline)
        for position in cohorts.indices { resume(position, at: now) }
    }

    /// Rule 6: a process that had read operations has a restart named that clocks here have followed already. Not where a sample
    /// waits for the epoch: that is a later restart, which the other cohorts' pictures have not reached.
    private mutating func followRestart(to epoch: Int64, loggedAt: Instant) {
        guard !cohorts.contains(where: { $0.waiting?.epoch == epoch }) else { return }
        for position in cohorts.indices {
            guard let restart = cohorts[position].restart, loggedAt - restart.at <= GateThresholds.stragglerTime,
                let old = cohorts[position].clock?.epoch
            else { continue }
            timeline.leave(old, at: restart.video)
            cohorts[position].clock?.epoch = epoch
        }
    }

    /// The number of the epoch that a stroke belongs to which is being drawn and is not in the log yet.
    /// - Parameter isRestart: whether its time begins a provisional epoch.
    func epochOfInk(isRestart: Bool) -> Int64 {
        let current = timeline.epochs.current.number
        return isRestart && timeline.epochs.provisional == nil ? current + 1 : current
    }

    /// Rule 18: begins a provisional epoch with an operation of the log, where the log says so or is about to; where there is one,
    /// which is overdue, when the log has ended that. Changes nothing where the operation is not of the current epoch.
    /// - Parameters:
    ///   - isLogged: whether the log has the decision. It takes the place of this gate's own.
    ///   - age: microseconds.
    mutating func beginProvisionalEpoch(
        from index: UInt64, age: Int64, isLogged: Bool, at loggedAt: Instant, now: Instant
    ) {
        let now = advance(to: now)
        if let provisional = timeline.epochs.provisional {
            guard isLogged else {
                nextProvisional = nextProvisional ?? (index, age, loggedAt)
                return
            }
            guard !isProvisionalLogged, index > earlierProvisional else { return }
            isProvisionalLogged = true
            if nextProvisional?.first == index { nextProvisional = nil }
            guard provisional.first != index else { return }
            timeline.endProvisional()
            lastProvisional = earlierProvisional
        }
        guard index > lastProvisional, timeline.forgotten < index, index <= timeline.last,
            timeline[index].epoch == timeline.epochs.current.number
        else { return cohorts.rescheduleAll(by: timeline) }
        (earlierProvisional, lastProvisional) = (lastProvisional, index)
        isProvisionalLogged = isLogged
        timeline.beginProvisional(first: index, age: max(0, age), at: min(loggedAt, now))
        cohorts.rescheduleAll(by: timeline)
    }

    /// Rule 18: ends the provisional epoch that began with an operation, where the log says so: the video has not followed.
    /// - Returns: the one that begins by that, of which the log is to be told; nil for none.
    mutating func endProvisionalEpoch(from index: UInt64, now: Instant) -> Epochs.Provisional? {
        let now = advance(to: now)
        guard timeline.epochs.provisional?.first == index else { return nil }
        timeline.endProvisional()
        if let (first, age, loggedAt) = nextProvisional {
            nextProvisional = nil
            beginProvisionalEpoch(from: first, age: age, isLogged: false, at: loggedAt, now: now)
        }
        cohorts.rescheduleAll(by: timeline)
        return timeline.epochs.provisional
    }

    /// Rule 18: notes that an epoch was provisional, as a checkpoint has it.
    mutating func restoreForeseen(_ epoch: Int64) { timeline.restoreForeseen(epoch) }

    /// Rule 18: the provisional epoch whose time is over, as the video should have followed by `now`; nil for none.
    func overdueProvisional(at now: Instant) -> Epochs.Provisional? {
        guard let provisional = timeline.epochs.provisional else { return nil }
        let end = timeline.epochs.current.began.advanced(
            byNanoseconds: provisional.age * 1000 + GateThresholds.provisionalSlack)
        return now > end ? provisional : nil
    }

    /// Whether the log is to be asked now to end an overdue provisional epoch: once a second, for the decision may be lost.
    mutating func asksForEnd(at now: Instant) -> Bool {
        guard now - endAskedAt >= GateThresholds.epochRetry else { return false }
        endAskedAt = now
        return true
    }

    /// The newest epoch that a sample waits for, to be logged now that the room has a log; nil for none.
    mutating func askForEpoch(at now: Instant) -> Int64? {
        guard let epoch = cohorts.compactMap({ $0.waiting?.epoch }).max() else { return nil }
        asked = (epoch, monotonic(now))
        return epoch
    }

    /// Takes the sample that a cohort kept, once the log has reached its epoch.
    private mutating func resume(_ position: Int, at now: Instant) {
        let cohort = cohorts[position]
        guard let waiting = cohort.waiting, waiting.epoch <= timeline.epochs.confirmed.number else { return }
        cohorts[position].waiting = nil
        if waiting.sample.epoch != nil {
            _ = take(waiting.sample, by: position, received: waiting.received, at: now)
        } else if cohort.clock.map({ $0.epoch < waiting.epoch }) ?? true {
            enter(waiting.epoch, with: waiting.sample, by: position, received: waiting.received, at: now)
        }
    }
}
