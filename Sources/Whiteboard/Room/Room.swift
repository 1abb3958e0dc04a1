public import StrokeWire

/// A room: its log, its board, and the cohorts that are shown the board in step with their video.
///
/// A value without clocks or I/O. Inputs go in by a `receive` or by `advance`, with the time; effects come
/// out for the caller to carry out. A message takes this way: ``Intake`` orders it, ``RoomLog`` keeps it and applies it to
/// a ``Board``, ``Gate`` holds it back for each cohort, ``RoomEffects`` publish it. Use it from one thread at a time.
public struct Room: Sendable {
    public let configuration: RoomConfiguration
    /// Identifies this incarnation of the room; empty until the first acceptable message.
    public internal(set) var incarnation = ""
    var intake: Intake
    var log: RoomLog
    var gate: Gate
    var views = CohortViews()
    var clockOffset = ClockOffset()
    /// Outside of the log.
    var ink: RoomInk
    var authorTimes = AuthorTimes()
    /// False while nothing can be published: no cursor moves then.
    var isOutputOpen = true
    /// Releases of the current call. Kept for its memory.
    var releases: [Release] = []
    /// When the last mark with the time at the teacher was sent.
    var headMarkAt = Instant.distantPast
    /// Whether the last call of ``advance(to:isTurn:decidesGaps:into:)`` has left something that was due.
    public internal(set) var hasMoreToRelease = false

    public init(configuration: RoomConfiguration, at now: Instant) {
        self.configuration = configuration
        intake = Intake()
        log = RoomLog(configuration)
        gate = Gate(configuration: configuration.cohorts, at: now)
        ink = RoomInk(configuration)
        addViews()
    }

    /// A room restored from the parts of a checkpoint.
    init(
        configuration: RoomConfiguration, incarnation: String, log: RoomLog, gate: Gate, intake: Intake,
        authorTimes: AuthorTimes, clockOffset: ClockOffset, at now: Instant
    ) {
        self.configuration = configuration
        self.incarnation = incarnation
        self.log = log
        self.gate = gate
        self.intake = intake
        self.authorTimes = authorTimes
        self.clockOffset = clockOffset
        ink = RoomInk(configuration)
        addViews()
        skipReleased(at: now)
    }

    /// Sets whether releases can be published. Operations that become due meanwhile are released afterwards.
    public mutating func setOutput(isOpen: Bool) { isOutputOpen = isOpen }

    /// Sets how far the log's clock, which gives messages their `loggedAt`, is ahead of the clock of `now`. Zero at
    /// first. Does not move past releases.
    public mutating func setLogClock(ahead: Duration) {
        clockOffset = ClockOffset(ahead: ahead)
        // Cursors contain log times.
        gate.noteCursorChange()
    }

    /// The board at the head of the log.
    public var head: Board { log.head }

    /// The index of the last operation; 0 before the first. Other than ``head`` it copies no board.
    public var headIndex: UInt64 { log.head.index }

    /// Whether the room has no incarnation: no acceptable message has come, and its log is empty.
    public var isBlank: Bool { incarnation.isEmpty }

    /// Whether a sample of a cohort's clock has come: such a room can tell where its video is, also while it is blank.
    public var hasClock: Bool { gate.hasSamples }

    /// Whether no cohort holds anything and no operation waits for another or for a shard. Apart from marks, only an
    /// input makes something happen then.
    public var isQuiet: Bool { !intake.hasPending && gate.cohorts.holdNothing }

    /// Bytes that it keeps in memory, about; the greatest number while something is pending, or shards wait of a stroke that was
    /// given up. Constant time.
    public var byteEstimate: Int {
        guard !intake.hasPending, intake.assemblingCount == 0 else { return .max }
        return log.byteEstimate + 1024 * intake.authorCount + 96 * intake.muted.count
    }
}

// MARK: - Strokes being drawn

extension Room {
    /// Takes an update of a stroke that its author is drawing, as it came. Changes nothing that decides about messages.
    /// - Parameters:
    ///   - session: the `Ink-Session` header.
    ///   - spare: bytes that may be added to ``wetBytes``; beyond, the update is dropped.
    public mutating func receive(
        wetUpdate bytes: [UInt8], of author: AuthorID, session: String?, spare: Int = .max, at now: Instant,
        into effects: inout RoomEffects
    ) {
        guard !intake.isMuted(author) else {
            effects.counts.wetUpdates[.muted, default: 0] += 1
            return
        }
        let session = HeaderName.validSession(session)
        let live = gate.hasAge ? liveTime(at: now) : nil
        let outcome = ink.receive(
            bytes, of: author, session: session, limits: configuration.intake,
            epoch: { time in
                guard let time, let live else { return gate.epochOfInk(isRestart: false) }
                let isRestart = Self.isRestart(
                    MediaTime(milliseconds: time), of: author, authorTimes, live: live, gate)
                return gate.epochOfInk(isRestart: isRestart)
            }, shownPage: log.head.pages.shown, spare: spare, at: now,
            isSettled: { intake.isSettled($0, session: session, of: author) }, into: &effects)
        effects.counts.wetUpdates[outcome, default: 0] += 1
    }

    /// Forgets the strokes being drawn, and tells those who have points of them, before the room leaves memory.
    public mutating func endDrawing(into effects: inout RoomEffects) { ink.end(into: &effects) }

    /// Whether somebody has points of a stroke that is not over: they have to be told when the room leaves memory.
    public var isShowingInk: Bool { ink.isShown }

    /// Bytes of strokes that grow, about.
    public var wetBytes: Int { ink.byteCount }

    /// Whether a stroke is being drawn.
    public var isDrawing: Bool { ink.strokes.hasStrokes }
}

// MARK: - Clock samples

extension Room {
    /// Takes a sample of a cohort's video clock, as it came.
    public mutating func receive(
        clockSample bytes: [UInt8], cohort: CohortName, at now: Instant, into effects: inout RoomEffects
    ) {
        let sample: ClockSample
        do {
            sample = try ClockSample(decoding: bytes)
        } catch {
            effects.counts.samplesRejected += 1
            return
        }
        let mayJudge = mayJudge
        switch gate.receive(sample, cohort: cohort, at: now) {
        case .taken:
            effects.counts.samplesTaken += 1
        case .newEpochs(let epochs):
            effects.counts.samplesTaken += 1
            guard !isBlank else {
                gate.forgetOldTimeLine(at: now)
                break
            }
            if mayJudge { judge(by: sample, at: now, into: &effects) }
            effects.list.append(contentsOf: epochs.map { .record(.epoch($0)) })
        case .candidate, .ignored, .awaitingEpoch, .unknownCohort, .tooManyCohorts:
            effects.counts.samplesIgnored += 1
        }
        ink.noteClockChange()
        addViews()
        judgeUnjudged(mayJudge, at: now, into: &effects)
    }

    /// Adds a view for each new cohort of the gate.
    private mutating func addViews() {
        for _ in views.count..<gate.cohorts.count { views.append(log.base) }
    }
}

// MARK: - Cohorts and cursors

extension Room {
    /// Whether students of a cohort are served: it exists or may be made.
    public func serves(_ cohort: CohortName) -> Bool {
        gate.cohorts.position(of: cohort) != nil || configuration.cohorts.open
    }

    /// The board as released to a cohort; empty for one that does not exist.
    public func board(of cohort: CohortName) -> Board {
        gate.cohorts.position(of: cohort).map { views[$0].board } ?? Board(configuration)
    }

    /// The position of the cursor that is farthest behind: that of a cohort, or of the head where there is no cohort.
    public var slowestCursor: UInt64 { gate.cohorts.slowest?.released ?? log.head.index }

    /// The cursors of the existing cohorts.
    public var cursors: [CohortName: CohortCursor] {
        Dictionary(
            uniqueKeysWithValues: gate.cohorts.map { cohort in
                var cursor = gate.cursor(of: cohort)
                cursor.pausedSince = cursor.pausedSince.map(clockOffset.logTime)
                return (cohort.name, cursor)
            })
    }

    /// Grows with every change to ``cursors``, over all incarnations. The cursors are the same while it is.
    public var cursorChanges: UInt64 { gate.cohorts.cursorChanges }

    /// The greatest number of operations that a cohort was released since its cursor was saved.
    public var mostUnsavedReleases: UInt64 { gate.cohorts.mostUnsaved }

    /// Notes that these cursors, taken from this incarnation, have been saved.
    public mutating func noteSaved(_ cursors: [CohortName: CohortCursor]) { gate.noteSaved(cursors) }

    /// Notes that due operations are published from now on: after a restart, a change of owner, or a time without a
    /// connection. Clocks not heard since may be in a long pause.
    /// - Parameter start: now, or earlier for a room that was not in memory then.
    public mutating func beginReleases(at start: Instant) {
        gate.begin(at: start)
        ink.noteClockChange()
    }

    /// Restores cursors that are newer than the checkpoint, and makes their cohorts where they are missing and allowed.
    /// The operations up to them are not released again. A cursor beyond the log goes to its end; none goes back.
    public mutating func restoreCursors(_ cursors: [CohortName: CohortCursor], at now: Instant) {
        for (name, cursor) in cursors.sorted(by: { $0.key < $1.key }) {
            var cursor = cursor
            cursor.pausedSince = cursor.pausedSince.map(clockOffset.localTime)
            gate.restore(cursor, of: name, at: now)
        }
        addViews()
        skipReleased(at: now)
        trimLog(keeping: configuration.log)
    }

    /// Brings every cohort's board to its cursor.
    private mutating func skipReleased(at now: Instant) {
        for (position, cohort) in gate.cohorts.enumerated() {
            let shown = views[position].board.index
            views.skip(log.operations.tail(after: shown, through: cohort.released) ?? [], to: position, at: now)
        }
    }
}
