public import StrokeWire

/// A room: its log, its board, and the cohorts that are shown the board in step with their video.
///
/// A value without clocks or I/O. Inputs go in by a `receive` or by `advance`, with the time; effects come
/// out for the caller to carry out. A message takes this way: ``Intake`` orders it, ``RoomLog`` keeps it and applies it to
/// a ``Board``, ``Gate`` holds it back for each cohort, ``RoomEffects`` publish it. Use it from one thread at a time.
public struct Room: Sendable {
    public let configuration: RoomConfiguration
    /// Identifies this incarnation of the room; empty until the first acceptable message.
    public private(set) var incarnation = ""
    private(set) var intake: Intake
    private(set) var log: RoomLog
    var gate: Gate
    private(set) var views = CohortViews()
    private(set) var clockOffset = ClockOffset()
    /// Outside of the log.
    private(set) var ink: RoomInk
    private var authorTimes = AuthorTimes()
    /// False while nothing can be published: no cursor moves then.
    private var isOutputOpen = true
    /// Releases of the current call. Kept for its memory.
    private var releases: [Release] = []
    /// When the last mark with the time at the teacher was sent.
    private var headMarkAt = Instant.distantPast
    /// Whether the last call of ``advance(to:isTurn:decidesGaps:into:)`` has left something that was due.
    public private(set) var hasMoreToRelease = false

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
        clockOffset: ClockOffset, at now: Instant
    ) {
        self.configuration = configuration
        self.incarnation = incarnation
        self.log = log
        self.gate = gate
        self.intake = intake
        self.clockOffset = clockOffset
        ink = RoomInk(configuration)
        addViews()
        skipReleased(at: now)
    }

    /// Sets whether releases can be published. Operations that become due meanwhile are released afterwards.
    public mutating func setOutput(isOpen: Bool) {
        isOutputOpen = isOpen
    }

    /// Sets how far the log's clock, which gives messages their `loggedAt`, is ahead of the clock of `now`. Zero at
    /// first. Does not move past releases.
    public mutating func setLogClock(ahead: Duration) {
        clockOffset = ClockOffset(ahead: ahead)
        // Cursors contain log times.
        gate.noteCursorChange()
    }

    /// The board at the head of the log.
    public var head: Board { log.head }

    /// Whether the room has no incarnation: no acceptable message has come, and its log is empty.
    public var isBlank: Bool { incarnation.isEmpty }

    /// Whether a sample of a cohort's clock has come: such a room can tell where its video is, also while it is blank.
    public var hasClock: Bool { gate.hasSamples }

    /// Whether no cohort holds anything and no operation waits for another or for a shard. Apart from marks, only an
    /// input makes something happen then.
    public var isQuiet: Bool {
        !intake.hasPending && gate.cohorts.holdNothing
    }

    /// Bytes that it keeps in memory, about; the greatest number while something is pending. Constant time.
    public var byteEstimate: Int {
        guard !intake.hasPending else { return .max }
        return log.byteEstimate + 1024 * intake.authorCount + 96 * intake.muted.count
    }
}

// MARK: - Messages and decisions

extension Room {
    /// Takes a message of an author, in log order.
    /// - Parameter incarnation: identifies the room's incarnation if this is its first message.
    public mutating func receive(
        _ incoming: IncomingMessage, incarnation: () -> String, at now: Instant, into effects: inout RoomEffects
    ) {
        let isNew = self.incarnation.isEmpty
        if isNew { self.incarnation = incarnation() }
        var output = IntakeOutput()
        intake.receive(incoming, intakeContext, into: &output)
        apply(output, of: incoming.author, loggedAt: incoming.loggedAt, at: now, into: &effects)
        forgetRejected(incoming.author, isNew: isNew, at: now, into: &effects)
        // Clocks may have named an epoch before the room had a log.
        if isNew, !isBlank, let epoch = gate.askForEpoch(at: now) { effects.list.append(.record(.epoch(epoch))) }
    }

    /// Applies a decision, where it stands in the log.
    /// - Parameter loggedAt: the log's own time of the record.
    public mutating func receive(
        _ record: ControlRecord, loggedAt: Instant, at now: Instant, into effects: inout RoomEffects
    ) {
        // It is about an earlier incarnation.
        guard !isBlank else { return }
        switch record {
        case .gaveUp(let author, let from, let to, let life):
            // Whoever wrote it may not have read yet that the incarnation had ended.
            guard life == nil || life == incarnation else { return }
            var output = IntakeOutput()
            intake.giveUp(author, from: from, to: to, intakeContext, into: &output)
            apply(output, of: author, loggedAt: loggedAt, at: now, into: &effects)
            forgetRejected(author, isNew: false, at: now, into: &effects)
        case .mute(let author):
            var output = IntakeOutput()
            guard intake.mute(author, intakeContext, into: &output) else { return }
            apply(output, of: author, loggedAt: loggedAt, at: now, into: &effects)
            ink.forget(author, into: &effects)
            forgetRejected(author, isNew: false, at: now, into: &effects)
        case .unmute(let author):
            intake.unmute(author)
            forgetRejected(author, isNew: false, at: now, into: &effects)
        case .epoch(let epoch):
            let before = gate.timeline.epochs
            gate.beginEpoch(epoch, at: clockOffset.localTime(of: loggedAt), now: now)
            let after = gate.timeline.epochs
            // Highest first: a number that is given away may be the next one's.
            if let old = before.provisional?.number {
                ink.nameEpoch(old, after.provisional?.number ?? after.current.number)
            }
            if !before.isNamed { ink.nameEpoch(Epochs.unnamed, after.confirmed.number) }
            ink.noteClockChange()
        case .provisionalEpoch(let first, let age):
            gate.beginProvisionalEpoch(
                from: first, age: age, isLogged: true, at: clockOffset.localTime(of: loggedAt), now: now)
            ink.noteClockChange()
        case .provisionalEpochOver(let first):
            gate.endProvisionalEpoch(from: first, now: now)
            ink.noteClockChange()
        case .close, .erase:
            close(at: now, into: &effects)
        case .full:
            rejectAll(into: &effects)
            close(at: now, into: &effects)
        case .restore:
            // Whoever hosts the room fetches the state that it goes on from, and names the incarnation.
            break
        }
    }

    /// Goes on in another incarnation with the same board, because the log has lost what was released in this one.
    public mutating func renew(incarnation: String, at now: Instant, into effects: inout RoomEffects) {
        guard !isBlank else { return }
        ink.end(into: &effects)
        self.incarnation = incarnation
        tell(settledNumbers, into: &effects)
    }

    /// The numbers through which each author's operations are settled, in the count that the author is at.
    public struct SettledNumber: Sendable, Equatable {
        public let author: AuthorID
        /// The author's session; nil for an unnamed one.
        public let session: String?
        public let number: Int64
    }

    /// See ``SettledNumber``; of authors that have settled some.
    public var settledNumbers: [SettledNumber] {
        intake.authorsByName.compactMap { author in
            guard let sequence = author.sequence, sequence.expected > sequence.start else { return nil }
            return SettledNumber(
                author: author.id, session: author.sessions.current, number: sequence.expected - 1)
        }
    }

    /// Tells authors, and those at the head, that a checkpoint holds what authors have settled through these numbers.
    public func tell(_ covered: [SettledNumber], into effects: inout RoomEffects) {
        for author in covered {
            effects.list.append(
                .feedback(
                    author.author, session: author.session,
                    .covered(number: author.number, incarnation: incarnation)))
            let mark = Mark(
                room: incarnation, index: head.index, digest: head.digest, page: head.pages.shown, video: nil,
                covered: Mark.Covered(author: author.author, session: author.session, number: author.number))
            effects.list.append(.mark(nil, mark))
        }
    }

    private var intakeContext: IntakeContext {
        IntakeContext(
            limits: configuration.intake, head: log.head.index, shownPage: log.head.pages.shown,
            lastClears: log.head.lastClears)
    }

    /// - Parameter author: whose numbers may have been settled; nil for none's.
    private mutating func apply(
        _ output: IntakeOutput, of author: AuthorID?, loggedAt: Instant, at now: Instant,
        into effects: inout RoomEffects
    ) {
        effects.counts.intake += output.counts
        for (author, session, feedback) in output.feedback {
            effects.list.append(.feedback(author, session: session, feedback))
        }
        for operation in output.ready { apply(operation, loggedAt: loggedAt, at: now, into: &effects) }
        if let author {
            ink.forgetSettled(of: author, { intake.isSettled($0, session: $1, of: author) }, into: &effects)
        }
        for (author, numbers) in output.giveUps {
            effects.list.append(
                .record(
                    .gaveUp(
                        author: author, from: numbers.lowerBound, to: numbers.upperBound, incarnation: incarnation)))
        }
    }

    /// Gives an operation its index, or rejects it where the board does not allow it.
    private mutating func apply(
        _ ready: ReadyOperation, loggedAt: Instant, at now: Instant, into effects: inout RoomEffects
    ) {
        let operation: Operation
        do {
            operation = try log.append(ready)
        } catch {
            intake.recordRejected(ready, error)
            effects.counts.intake.reject(error.code)
            let feedback = Feedback.rejected(number: ready.number, order: ready.header.shardOrder, error)
            effects.list.append(
                .feedback(ready.author, session: intake.session(of: ready.author), feedback))
            return
        }
        if log.isCompactionDue, let moves = log.compactStrokes(and: views.strokes) { views.move(moves) }
        let localTime = clockOffset.localTime(of: loggedAt)
        gate.append(time: operation.time, reach: gate.isProgressive ? ready.reach : 0, at: localTime, now: now)
        if ink.isActive {
            ink.logged(operation, session: intake.session(of: ready.author), at: now, into: &effects)
        }
        intake.recordApplied(ready, index: operation.index)
        effects.counts.count(operation.action)
        if ready.isLate { effects.counts.intake.late += 1 }
        effects.list.append(.head(operation))
        effects.list.append(
            .feedback(
                ready.author, session: intake.session(of: ready.author),
                .applied(number: ready.number, index: operation.index)))
        compareWithTeacher(operation, ready, at: min(localTime, now), now: now, into: &effects)
    }

    /// Rules 17 and 18: compares the time of an operation with that at the teacher when it was logged.
    private mutating func compareWithTeacher(
        _ operation: Operation, _ ready: ReadyOperation, at loggedAt: Instant, now: Instant,
        into effects: inout RoomEffects
    ) {
        if let provisional = gate.overdueProvisional(at: loggedAt) {
            gate.endProvisionalEpoch(from: provisional.first, now: now)
            ink.noteClockChange()
            effects.list.append(.record(.provisionalEpochOver(from: provisional.first)))
        }
        guard let time = operation.time.map(MediaTime.init(milliseconds:)) else { return }
        let live = liveTime(at: loggedAt)
        let isDraw = ready.header.action == .draw
        if let live, live - time > GateThresholds.behindLive {
            var begins = false
            if isDraw, Self.isRestart(time, of: ready.author, authorTimes, live: live, gate), let age = gate.greatestAge
            {
                begins = true
                gate.beginProvisionalEpoch(
                    from: operation.index, age: age, isLogged: false, at: loggedAt, now: now)
                ink.noteClockChange()
                effects.list.append(.record(.provisionalEpoch(from: operation.index, age: age)))
            }
            if !begins, gate.timeline.epochs.provisional == nil {
                noteBehind(live - time, ready, at: now, into: &effects)
            }
        }
        if isDraw { authorTimes.drew(ready.author, at: time, now: now) }
    }

    /// Rule 18: whether a draw shows that the time line has begun anew at the teacher.
    private static func isRestart(
        _ time: MediaTime, of author: AuthorID, _ times: borrowing AuthorTimes, live: MediaTime, _ gate: borrowing Gate
    ) -> Bool {
        guard gate.hasAge, gate.timeline.epochs.provisional == nil, let last = times.lastDraw(of: author) else {
            return false
        }
        return last - time > GateThresholds.teacherRestart && live - time > GateThresholds.teacherRestart
    }

    /// Rule 17: counts an operation whose time lies below L. A stroke is logged at its end and has the time of its beginning.
    private mutating func noteBehind(
        _ distance: Int64, _ ready: ReadyOperation, at now: Instant, into effects: inout RoomEffects
    ) {
        var distance = distance
        if ready.header.action == .draw, ready.header.points.count > 2 {
            let reach = ready.reach
            distance -= reach > 0 ? reach : GateThresholds.longestStroke
        }
        guard distance > GateThresholds.behindLive else { return }
        effects.counts.behindLive += 1
        guard authorTimes.wasBehind(ready.author, now: now) else { return }
        effects.list.append(
            .feedback(
                ready.author, session: intake.session(of: ready.author),
                .behindLive(number: ready.number, milliseconds: distance / 1000)))
    }

    /// L: the media time at the teacher now; nil while unknown.
    public func liveTime(at now: Instant) -> MediaTime? {
        gate.liveTime(at: now, utc: clockOffset.utc(at: now))
    }

    /// Authors whose ink has run ahead of the voice in the last minute, in the order of their names.
    func authorsBehindLive(at now: Instant) -> [AuthorID] { authorTimes.behind(at: now) }

    /// Forgets an author without a trace while the room has no operation and nothing is pending for the author: a room
    /// exists from its first acceptable message. One that has muted somebody stays.
    private mutating func forgetRejected(
        _ author: AuthorID, isNew: Bool, at now: Instant, into effects: inout RoomEffects
    ) {
        guard log.head.index == 0, intake.forgetUnlessPending(author) else { return }
        if isNew { incarnation = "" } else { restart(at: now, into: &effects) }
    }

    /// Ends this incarnation and tells its cohorts. The next message begins another.
    private mutating func close(at now: Instant, into effects: inout RoomEffects) {
        for cohort in gate.cohortNames {
            effects.list.append(.mark(cohort, Mark(room: "", index: 0, digest: .empty, video: nil)))
        }
        restart(at: now, into: &effects)
    }

    private mutating func restart(at now: Instant, into effects: inout RoomEffects) {
        ink.end(into: &effects)
        var blank = Room(configuration: configuration, at: now)
        blank.isOutputOpen = isOutputOpen
        blank.clockOffset = clockOffset
        // Their samples go on in the next life.
        blank.gate.noteVideo(of: gate.liveCohorts(at: now))
        blank.gate.noteCursorChange(after: gate.cohorts.cursorChanges)
        self = blank
    }

    /// Tells authors what was applied in this incarnation, as far as the log has it: for a host that could not before.
    public func tellApplied(into effects: inout RoomEffects) {
        for operation in log.operations.kept {
            effects.list.append(
                .feedback(
                    operation.author, session: intake.session(of: operation.author),
                    .applied(number: operation.number, index: operation.index)))
        }
    }

    /// Tells authors that everything of this incarnation is rejected, as far as it is known.
    private func rejectAll(into effects: inout RoomEffects) {
        let applied = log.operations.kept.map { (author: $0.author, number: $0.number) }
        for (author, number) in applied + intake.pendingNumbers {
            effects.counts.intake.reject(.roomFull)
            effects.list.append(
                .feedback(
                    author, session: intake.session(of: author),
                    .rejected(number: number, order: nil, .tooManyRooms)))
        }
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
        switch gate.receive(sample, cohort: cohort, at: now) {
        case .taken:
            effects.counts.samplesTaken += 1
        case .newEpochs(let epochs):
            effects.counts.samplesTaken += 1
            // A blank room has no log.
            if !isBlank { effects.list.append(contentsOf: epochs.map { .record(.epoch($0)) }) }
        case .candidate, .ignored, .awaitingEpoch, .unknownCohort, .tooManyCohorts:
            effects.counts.samplesIgnored += 1
        }
        ink.noteClockChange()
        addViews()
    }

    /// Adds a view for each new cohort of the gate.
    private mutating func addViews() {
        for _ in views.count..<gate.cohorts.count { views.append(log.base) }
    }
}

// MARK: - Time

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
    public mutating func noteSaved(_ cursors: [CohortName: CohortCursor]) {
        gate.noteSaved(cursors)
    }

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
