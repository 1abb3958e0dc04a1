public import StrokeWire

// What a message or a decision of the log does to a room.

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
            // Its writer may not have read yet that the incarnation had ended.
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
            let (before, mayJudge) = (gate.timeline.epochs, mayJudge)
            gate.beginEpoch(epoch, at: clockOffset.localTime(of: loggedAt), now: now)
            let after = gate.timeline.epochs
            if after.confirmed.number > before.confirmed.number {
                // Highest first: a number that is given away may be the next one's.
                let foreseen = before.provisional?.number ?? before.current.number + 1
                ink.nameEpoch(foreseen, before.isNamed ? after.current.number : after.confirmed.number + 1)
                if !before.isNamed { ink.nameEpoch(Epochs.unnamed, after.confirmed.number) }
            }
            ink.noteClockChange()
            // A sample that has waited for the name is taken.
            judgeUnjudged(mayJudge, at: now, into: &effects)
        case .provisionalEpoch(let first, let age):
            gate.beginProvisionalEpoch(
                from: first, age: age, isLogged: true, at: clockOffset.localTime(of: loggedAt), now: now)
            ink.noteClockChange()
        case .provisionalEpochOver(let first):
            if let next = gate.endProvisionalEpoch(from: first, now: now) {
                effects.list.append(.record(.provisionalEpoch(from: next.first, age: next.age)))
            }
            ink.noteClockChange()
        case .close, .erase:
            close(at: now, into: &effects)
        case .full:
            rejectAll(into: &effects)
            close(at: now, into: &effects)
        case .restore:
            // The host fetches the state that the room goes on from, and names the incarnation.
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
    mutating func apply(
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
            answer(ready.author, feedback, into: &effects)
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
        answer(ready.author, .applied(number: ready.number, index: operation.index), into: &effects)
        compareWithTeacher(operation, ready, at: min(localTime, now), now: now, into: &effects)
    }

    /// Rules 17 and 18: compares the time of an operation with that at the teacher when it was logged.
    private mutating func compareWithTeacher(
        _ operation: Operation, _ ready: ReadyOperation, at loggedAt: Instant, now: Instant,
        into effects: inout RoomEffects
    ) {
        // Until the log says that it is over its operations wait: the log may have the new epoch first.
        let overdue = gate.overdueProvisional(at: loggedAt)
        if let overdue, gate.asksForEnd(at: now) {
            effects.list.append(.record(.provisionalEpochOver(from: overdue.first)))
        }
        let isAwaiting = gate.timeline.epochs.provisional != nil && overdue == nil
        guard let time = operation.time.map(MediaTime.init(milliseconds:)) else { return }
        let live = liveTime(at: loggedAt)
        let isDraw = ready.header.action == .draw
        if let live, live - time > GateThresholds.behindLive {
            if isDraw, !isAwaiting, Self.isRestart(time, of: ready.author, authorTimes, live: live, gate),
                let age = gate.greatestAge
            {
                beginProvisional(from: operation.index, age: age, at: loggedAt, now: now, into: &effects)
            } else if !isAwaiting {
                noteBehind(live - time, ready, at: now, into: &effects)
            }
        }
        // Rule 7: one bad time does not shift what follows.
        guard isDraw, gate.timeline[operation.index].time != .none else { return }
        if let last = authorTimes.lastDraw(of: ready.author) {
            // Nothing has judged it yet.
            if time - last > GateThresholds.absurdWithoutAnchor, !gate.timeline.isJudged(operation.index) { return }
            // Under a clock that tells no age nothing is ever judged.
            if !gate.hasClocks, last - time > GateThresholds.teacherRestart {
                authorTimes.noteUnjudged(
                    AuthorTimes.UnjudgedDraw(index: operation.index, time: time, loggedAt: loggedAt))
            }
        }
        authorTimes.drew(ready.author, at: time, now: now)
    }

    /// Whether there is a draw that no clock's age tells about yet.
    var mayJudge: Bool { authorTimes.unjudged != nil && !gate.hasAge && gate.hasEverHeard }

    /// Judges that draw, or forgets it, where a clock tells its age now.
    mutating func judgeUnjudged(_ mayJudge: Bool, at now: Instant, into effects: inout RoomEffects) {
        guard authorTimes.unjudged != nil, gate.hasAge, let draw = authorTimes.takeUnjudged() else { return }
        if mayJudge { judge(draw, at: now, into: &effects) }
    }

    /// Rule 18: judges a draw that came while no clock told its age, as after a restart, now that one does.
    private mutating func judge(_ draw: AuthorTimes.UnjudgedDraw, at now: Instant, into effects: inout RoomEffects) {
        guard let age = gate.greatestAge, let live = liveTime(at: now) else { return }
        let waited = now.nanoseconds(since: draw.loggedAt)
        guard waited <= age * 1000 + GateThresholds.provisionalSlack,
            live - draw.time > GateThresholds.teacherRestart + waited / 1000
        else { return }
        beginProvisional(from: draw.index, age: age, at: draw.loggedAt, now: now, into: &effects)
    }

    /// Rule 18: the same where the video has followed before a clock was heard: by its first sample on the new time line, which
    /// the log has no epoch for.
    mutating func judge(by sample: ClockSample, at now: Instant, into effects: inout RoomEffects) {
        guard let age = sample.age, let saved = gate.savedMedia, let draw = authorTimes.unjudged,
            saved - draw.time > GateThresholds.teacherRestart
        else { return }
        let live = sample.media + age + draw.loggedAt.nanoseconds(since: now) / 1000
        guard draw.time - live <= GateThresholds.teacherRestart else { return }
        beginProvisional(from: draw.index, age: age, at: draw.loggedAt, now: now, into: &effects)
    }

    /// Rule 18: begins a provisional epoch with an operation; where there is one that is overdue, when the log has ended that.
    private mutating func beginProvisional(
        from index: UInt64, age: Int64, at loggedAt: Instant, now: Instant, into effects: inout RoomEffects
    ) {
        let overdue = gate.overdueProvisional(at: loggedAt)
        guard gate.timeline.epochs.provisional == nil || overdue != nil else { return }
        gate.beginProvisionalEpoch(from: index, age: age, isLogged: false, at: loggedAt, now: now)
        guard gate.timeline.epochs.provisional != nil else { return }
        ink.noteClockChange()
        if let overdue {
            if gate.asksForEnd(at: now) { effects.list.append(.record(.provisionalEpochOver(from: overdue.first))) }
            return
        }
        effects.list.append(.record(.provisionalEpoch(from: index, age: age)))
    }

    /// Rule 18: whether a draw shows that the time line has begun anew at the teacher.
    static func isRestart(
        _ time: MediaTime, of author: AuthorID, _ times: borrowing AuthorTimes, live: MediaTime, _ gate: borrowing Gate
    ) -> Bool {
        guard gate.hasAge, let last = times.lastDraw(of: author) else { return false }
        // Rule 7: an absurd time says nothing of the next.
        return last - time > GateThresholds.teacherRestart && live - time > GateThresholds.teacherRestart
            && last - live <= GateThresholds.absurd
    }

    /// Rule 17: counts an operation whose time lies below L. A stroke is logged at its end and has the time of its beginning.
    private mutating func noteBehind(
        _ distance: Int64, _ ready: ReadyOperation, at now: Instant, into effects: inout RoomEffects
    ) {
        var distance = distance
        if ready.header.action == .draw {
            let reach = ready.reach
            if reach > 0 {
                distance -= reach
            } else if ready.header.points.count > 2 {
                distance -= GateThresholds.longestStroke
            }
        }
        guard distance > GateThresholds.behindLive else { return }
        effects.counts.behindLive += 1
        guard authorTimes.wasBehind(ready.author, now: now) else { return }
        answer(ready.author, .behindLive(number: ready.number, milliseconds: distance / 1000), into: &effects)
    }

    /// L: the media time at the teacher now; nil while unknown.
    public func liveTime(at now: Instant) -> MediaTime? {
        gate.liveTime(at: now, utc: clockOffset.utc(at: now))
    }

    /// Forgets an author without a trace while the room has no operation and nothing is pending for the author: a room
    /// exists from its first acceptable message. One that has muted somebody stays.
    private mutating func forgetRejected(
        _ author: AuthorID, isNew: Bool, at now: Instant, into effects: inout RoomEffects
    ) {
        guard log.head.index == 0, intake.forgetUnlessPending(author) else { return }
        if isNew { incarnation = "" } else { restart(at: now, into: &effects) }
    }

    /// Ends this incarnation and tells its cohorts, and those at the head. The next message begins another.
    private mutating func close(at now: Instant, into effects: inout RoomEffects) {
        let mark = Mark(room: "", index: 0, digest: .empty, video: nil)
        for cohort in gate.cohorts { effects.list.append(.mark(cohort.name, mark)) }
        effects.list.append(.mark(nil, mark))
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
            answer(operation.author, .applied(number: operation.number, index: operation.index), into: &effects)
        }
    }

    /// Tells an author something about the session that the author is in.
    private func answer(_ author: AuthorID, _ feedback: Feedback, into effects: inout RoomEffects) {
        effects.list.append(.feedback(author, session: intake.session(of: author), feedback))
    }

    /// Tells authors that everything of this incarnation is rejected, as far as it is known.
    private func rejectAll(into effects: inout RoomEffects) {
        let applied = log.operations.kept.map { (author: $0.author, number: $0.number) }
        for (author, number) in applied + intake.pendingNumbers {
            effects.counts.intake.reject(.roomFull)
            answer(author, .rejected(number: number, order: nil, .tooManyRooms), into: &effects)
        }
    }
}
