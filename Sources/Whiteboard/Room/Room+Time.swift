internal import StrokeWire

// What a room does by itself as time goes on.

extension Room {
    /// When ``advance(to:isTurn:decidesGaps:into:)`` has something to do after it was called at `now`; nil for never.
    /// After `now`.
    public func nextWake(after now: Instant, decidesGaps: Bool = true) -> Instant? {
        var earliest = decidesGaps ? intake.deadline.map(clockOffset.localTime) : nil
        func consider(_ instant: Instant?) {
            if let instant { earliest = min(earliest ?? instant, instant) }
        }
        if isOutputOpen {
            // What is left of the releases has its turn after the other rooms.
            consider(gate.nextRelease(after: now).map { max($0, now + .nanoseconds(1)) })
            if ink.isActive { consider(ink.nextWake.map { max($0, now + .nanoseconds(1)) }) }
            consider(compactionDue)
            consider(views.nextMark)
        }
        return earliest
    }

    /// When something is due that must not wait for an input: a release, a notice or a give-up; nil for never. Possibly
    /// too early, never too late.
    public func nextDue(after now: Instant) -> Instant? {
        [intake.deadline.map(clockOffset.localTime), gate.nextRelease(after: now)].compactMap { $0 }.min()
    }

    /// Does what is due: tells authors what is missing, asks for give-ups, releases, sends marks, compacts.
    /// - Parameters:
    ///   - isTurn: whether the room may release a large operation. Where a thread has many rooms, each has its turn when its
    ///     ``nextWake(after:decidesGaps:)`` has come, not with each input.
    ///   - decidesGaps: false where the log may have records that were not received yet: what is missing may be among them.
    public mutating func advance(
        to now: Instant, isTurn: Bool = true, decidesGaps: Bool = true, into effects: inout RoomEffects
    ) {
        if decidesGaps { checkGaps(at: now, into: &effects) }
        guard isOutputOpen else { return }
        release(at: now, isTurn: isTurn, into: &effects)
        if ink.isActive {
            ink.advance(gate, log.operations, at: now, into: &effects)
        }
        sendMarks(at: now, into: &effects)
        compact(at: now)
    }

    private mutating func checkGaps(at now: Instant, into effects: inout RoomEffects) {
        let logTime = clockOffset.logTime(of: now)
        guard let deadline = intake.deadline, deadline <= logTime else { return }
        var output = IntakeOutput()
        intake.checkGaps(at: logTime, heldLimit: configuration.intake.held, into: &output)
        apply(output, of: nil, loggedAt: logTime, at: now, into: &effects)
    }

    /// Bytes of messages that are released at once. A clock that jumps may make all due that a room holds, for several
    /// cohorts: other rooms of the same thread have their turn in between.
    private static var releaseBytes: Int { 128 * 1024 }

    /// Moves the cohorts' cursors over what is due, or over a part of that: the rest is due at once.
    private mutating func release(at now: Instant, isTurn: Bool, into effects: inout RoomEffects) {
        releases.removeAll(keepingCapacity: true)
        hasMoreToRelease = Self.release(&gate, log.operations, at: now, isTurn: isTurn, into: &releases)
        publishReleases(at: now, into: &effects)
        effects.counts.clamped += gate.takeClampedCount()
        while log.operations.heldBytes > configuration.log.heldBytes, let slowest = gate.slowestCohort {
            releases.removeAll(keepingCapacity: true)
            gate.force(slowest.cohort, through: slowest.released + 1, at: now, into: &releases)
            guard !releases.isEmpty else { break }
            publishReleases(at: now, into: &effects)
        }
    }

    /// Static, so that no copy of the log is alive when it is trimmed, which would copy all of it.
    /// - Returns: whether something that is due is left.
    private static func release(
        _ gate: inout Gate, _ log: borrowing OperationLog, at now: Instant, isTurn: Bool, into releases: inout [Release]
    ) -> Bool {
        var bytes = 0
        var hasMore = false
        gate.release(at: now, into: &releases) { index in
            let size = log.messageByteCount(of: index)
            hasMore = bytes + size > releaseBytes && (bytes > 0 || !isTurn)
            bytes += size
            return !hasMore
        }
        return hasMore
    }

    private mutating func publishReleases(at now: Instant, into effects: inout RoomEffects) {
        guard !releases.isEmpty else { return }
        for release in releases {
            let operation = log.operations[release.index]
            if let position = gate.cohorts.position(of: release.cohort) {
                views.apply(operation, to: position, at: now)
            }
            effects.list.append(.release(release.cohort, operation, isLate: release.isLate, due: release.due))
        }
        trimLog(keeping: configuration.log)
    }

    /// Packs what every cohort has released, and drops all but a tail of it.
    mutating func trimLog(keeping retention: LogRetention) {
        log.trim(through: gate.slowestCohort?.released ?? log.head.index, keeping: retention)
        gate.forget(through: log.base.index)
    }

    private mutating func sendMarks(at now: Instant, into effects: inout RoomEffects) {
        while let position = views.takeDueMark(at: now) {
            let cohort = gate.cohorts[position].name
            let board = views[position].board
            let mark = Mark(
                room: incarnation, index: board.index, digest: board.digest, page: board.pages.shown,
                video: gate.videoTime(of: cohort, at: now), gate: gate.cohorts[position].isGated ? .video : .open)
            effects.list.append(.mark(cohort, mark))
            sendHeadMark(at: now, into: &effects)
        }
    }

    /// Rule 17: tells those at the head the time at the teacher, with the marks of the cohorts.
    private mutating func sendHeadMark(at now: Instant, into effects: inout RoomEffects) {
        guard headMarkAt != now, let live = liveTime(at: now) else { return }
        headMarkAt = now
        let mark = Mark(
            room: incarnation, index: head.index, digest: head.digest, page: head.pages.shown, video: nil, live: live)
        effects.list.append(.mark(nil, mark))
    }

    /// Sends the marks that tell of boards for the first time before they are due, because the room leaves memory: no
    /// later mark would bring a student on whose last operation was lost.
    public mutating func sendLastMarks(at now: Instant, into effects: inout RoomEffects) {
        guard isOutputOpen else { return }
        views.hastenMarks(to: now)
        sendMarks(at: now, into: &effects)
    }

    /// When a quiet room drops its log; nil while something is held or pending, or where the log is empty.
    var compactionDue: Instant? {
        guard log.operations.count > 0, isQuiet else { return nil }
        return views.lastRelease.map { $0 + configuration.log.quiet }
    }

    /// Drops what only an active room needs. All cohorts have been released everything and share one board.
    private mutating func compact(at now: Instant) {
        guard let due = compactionDue, due <= now else { return }
        log.compact()
        gate.forget(through: log.head.index)
        views.share(log.head)
        releases = []
    }
}
