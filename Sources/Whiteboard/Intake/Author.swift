import StrokeWire

/// What a room knows of one author: the current sequence, earlier sessions, and how much may still be sent.
///
/// Judges messages, and carries out what its ``SequenceState`` and ``GapTracker`` ask for.
struct Author: Sendable {
    let id: AuthorID
    /// The latest log time at which a message came.
    private(set) var lastHeard: Instant
    /// nil until a number was read.
    private(set) var sequence: SequenceState?
    private(set) var sessions = Sessions()
    private(set) var messageTokens: TokenBucket
    private(set) var byteTokens: TokenBucket
    private(set) var gaps = GapTracker()

    init(_ id: AuthorID, limits: IntakeLimits, at now: Instant) {
        self.id = id
        lastHeard = now
        messageTokens = TokenBucket(rate: limits.messagesPerSecond, at: now)
        byteTokens = TokenBucket(rate: limits.bytesPerSecond, at: now)
    }

    /// An author restored from a checkpoint. What it was told and asked before is not known.
    init(
        _ id: AuthorID, lastHeard: Instant, sequence: SequenceState?, sessions: Sessions, messageTokens: TokenBucket,
        byteTokens: TokenBucket
    ) {
        (self.id, self.lastHeard, self.sequence) = (id, lastHeard, sequence)
        (self.sessions, self.messageTokens, self.byteTokens) = (sessions, messageTokens, byteTokens)
        if hasPending { gaps.checkNow() }
    }

    /// Whether an operation waits for something that has not come.
    var hasPending: Bool { sequence?.pending.isEmpty == false }

    /// Whether the author's place may be given to another.
    func isIdle(at now: Instant, after idle: Duration) -> Bool {
        now - lastHeard >= idle && !hasPending
    }

    func isSettled(_ number: Int64, session: String?) -> Bool {
        switch sessions.standing(of: session) {
        case .earlier: true
        case .new: false
        case .unnamed, .current: sequence?.isSettled(number) ?? false
        }
    }

    /// What an intake sums up over its authors.
    struct Load {
        var assembling = 0
        var hasPending = false
        var deadline = Instant.distantFuture
    }

    var load: Load {
        Load(
            assembling: sequence?.pending.assemblingCount ?? 0, hasPending: hasPending, deadline: gaps.deadline)
    }

    /// Applies a change.
    /// - Returns: the load before and after.
    mutating func changed(by body: (inout Author) -> Void) -> (before: Load, after: Load) {
        let before = load
        body(&self)
        return (before, load)
    }
}

// MARK: - Messages

extension Author {
    /// Takes one message.
    /// - Parameter isMuted: whether it is rejected, unless it repeats one that was applied.
    mutating func receive(
        _ incoming: IncomingMessage, _ context: IntakeContext, isMuted: Bool, into output: inout IntakeOutput
    ) {
        lastHeard = max(lastHeard, incoming.loggedAt)
        sequence?.closeStart(at: incoming.loggedAt)
        judge(incoming, context, isMuted: isMuted, into: &output)
        finish(context)
    }

    /// After each change to the sequence.
    private mutating func finish(_ context: IntakeContext) {
        if sequence?.takeReopened() == true { gaps.checkNow() }
        guard let held = sequence?.pending.held.count, let expected = sequence?.expected else { return }
        if held > context.limits.held { gaps.noteOverfull(expected: expected) }
    }

    private mutating func judge(
        _ incoming: IncomingMessage, _ context: IntakeContext, isMuted: Bool, into output: inout IntakeOutput
    ) {
        let isWithinRate = !incoming.isLimited || takeTokens(for: incoming)
        let header: StrokeMessage
        do {
            header = try StrokeMessage(decoding: incoming.bytes, limits: context.limits.wire)
        } catch {
            let rejection = isWithinRate ? error.rejection : .rateLimited
            reject(incoming, number: error.number, order: error.order, nil, rejection, context, into: &output)
            return
        }
        guard isWithinRate || isRepeat(header, incoming) else {
            reject(
                incoming, number: header.number, order: header.shardOrder, header, .rateLimited, context,
                into: &output)
            return
        }
        switch sessions.standing(of: incoming.session) {
        case .earlier(let name):
            answer(header, ofEarlier: name, into: &output)
            return
        case .new(let name):
            startSequence(at: header.number, named: name, incoming.loggedAt, context, into: &output)
        case .unnamed where isRestart(header, incoming):
            startSequence(at: header.number, named: nil, incoming.loggedAt, context, into: &output)
        case .unnamed, .current:
            break
        }
        if isMuted, sequence?.applied.index(of: header.number) == nil {
            output.counts.reject(.muted)
            tell(.rejected(number: header.number, order: header.shardOrder, .muted), into: &output)
            sequence?.receivedUnacceptable(
                header.number, header, incoming.bytes, .muted, lead: context.limits.numberLead)
            return collectReady(into: &output)
        }
        guard let action = sequence?.received(header, incoming, context) else { return }
        carryOut(action, for: header, at: incoming.loggedAt, into: &output)
    }

    /// Whether a message repeats an operation that is held, or was applied or rejected. Such a message is answered as ever,
    /// whatever the rate: an author who is told that the operation was refused would send it again under another number.
    private func isRepeat(_ header: StrokeMessage, _ incoming: IncomingMessage) -> Bool {
        let number = header.number
        switch sessions.standing(of: incoming.session) {
        case .earlier(let name): return sessions.index(of: number, in: name) != nil
        case .new: return false
        case .unnamed, .current:
            guard let sequence, sequence.givenUpHead(of: number) == nil,
                incoming.session != nil || !isRestart(header, incoming)
            else { return false }
            return sequence.isSettled(number) || sequence.pending.held.contains(number)
        }
    }

    private mutating func takeTokens(for incoming: IncomingMessage) -> Bool {
        let size = incoming.bytes.count
        guard messageTokens.holds(1, at: incoming.loggedAt), byteTokens.holds(size, at: incoming.loggedAt) else {
            return false
        }
        messageTokens.take(1)
        byteTokens.take(size)
        return true
    }

    /// Whether a message without a session starts a sequence: the author's first, or a new one from 0 or 1.
    private func isRestart(_ header: StrokeMessage, _ incoming: IncomingMessage) -> Bool {
        guard let sequence else { return true }
        return header.number < sequence.expected && sequence.givenUpHead(of: header.number) == nil
            && sequence.restartDetector.isRestart(header, incoming.bytes)
    }

    private mutating func carryOut(
        _ action: SequenceState.Action, for header: StrokeMessage, at now: Instant, into output: inout IntakeOutput
    ) {
        let number = header.number
        if action.isGivenUp {
            output.counts.gaveUp += 1
            tell(.gaveUp(from: number, to: number), into: &output)
        }
        switch action.outcome {
        case .apply(let ready):
            output.ready.append(ready)
        case .hold:
            guard let sequence, let missing = gaps.noteHeld(number, in: sequence, at: now) else { break }
            output.counts.gaps += 1
            for notice in missing { tell(notice, into: &output) }
        case .awaitShards:
            gaps.noteShard(at: now)
        case .keepLateShard:
            break
        case .ignoreRepeat(let answer):
            output.counts.repeats += 1
            if let answer { tell(answer, into: &output) }
        case .reject(let rejection, let order):
            output.counts.reject(rejection.code)
            tell(.rejected(number: number, order: order, rejection), into: &output)
        }
        collectReady(into: &output)
    }

    /// Collects the held operations whose turn has come.
    private mutating func collectReady(into output: inout IntakeOutput) {
        while let ready = sequence?.nextReady() { output.ready.append(ready) }
    }

    /// Tells the author something about the current sequence.
    private func tell(_ feedback: Feedback, into output: inout IntakeOutput) {
        output.tell(id, sessions.current, feedback)
    }

    /// Rejects a message that is not acceptable. Its number is settled, where it could be read.
    private mutating func reject(
        _ incoming: IncomingMessage, number: Int64?, order: Int?, _ header: StrokeMessage?, _ rejection: Rejection,
        _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        output.counts.reject(rejection.code)
        output.tell(
            id, incoming.session ?? sessions.current,
            .rejected(number: number, order: order, rejection))
        guard let number else { return }
        switch sessions.standing(of: incoming.session) {
        case .earlier: return
        case .new(let name): startSequence(at: number, named: name, incoming.loggedAt, context, into: &output)
        case .unnamed where sequence == nil:
            startSequence(at: number, named: nil, incoming.loggedAt, context, into: &output)
        case .unnamed, .current: break
        }
        sequence?.receivedUnacceptable(
            number, header, incoming.bytes, rejection, lead: context.limits.numberLead)
        collectReady(into: &output)
    }
}

// MARK: - Sessions

extension Author {
    private mutating func startSequence(
        at number: Int64, named name: String?, _ now: Instant, _ context: IntakeContext,
        into output: inout IntakeOutput
    ) {
        if let sequence { abandon(sequence, into: &output) }
        sessions.begin(name, after: sequence?.applied ?? AppliedNumbers())
        gaps = GapTracker()
        sequence = SequenceState(start: number, at: now, head: context.head)
    }

    /// Tells the author that what waits in the old sequence is given up.
    private func abandon(_ old: SequenceState, into output: inout IntakeOutput) {
        var numbers = old.pending.numbers[...]
        while let from = numbers.popFirst() {
            var to = from
            while numbers.first == to + 1 { to = numbers.removeFirst() }
            output.counts.gaveUp += 1
            tell(.gaveUp(from: from, to: to), into: &output)
        }
    }

    /// Answers a message of an earlier session, which takes no more operations.
    private func answer(_ header: StrokeMessage, ofEarlier session: String, into output: inout IntakeOutput) {
        if let index = sessions.index(of: header.number, in: session) {
            output.counts.repeats += 1
            output.tell(id, session, .applied(number: header.number, index: index))
        } else {
            output.counts.reject(.sessionOver)
            output.tell(id, session, .rejected(number: header.number, order: header.shardOrder, .sessionOver))
        }
    }
}

// MARK: - Decisions and results

extension Author {
    /// Tells the author what is missing and asks for the give-ups that are due.
    mutating func checkGaps(at now: Instant, heldLimit: Int, into output: inout IntakeOutput) {
        guard now >= gaps.deadline, let sequence else { return }
        let action = gaps.check(sequence, at: now, heldLimit: heldLimit)
        for numbers in action.giveUps {
            output.giveUps.append((id, numbers))
        }
        for notice in action.notices { tell(notice, into: &output) }
    }

    /// Gives up what is not complete in a range, where the decision stands in the log.
    mutating func giveUp(from: Int64, to: Int64, _ context: IntakeContext, into output: inout IntakeOutput) {
        guard let ranges = sequence?.giveUp(from: from, to: to, head: context.head) else { return }
        for range in ranges {
            output.counts.gaveUp += 1
            tell(.gaveUp(from: range.lowerBound, to: range.upperBound), into: &output)
        }
        collectReady(into: &output)
        finish(context)
    }

    /// Rejects all that waits, and drops the shards of strokes that were given up.
    mutating func rejectPending(
        _ rejection: Rejection, _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        for number in sequence?.rejectPending(rejection) ?? [] {
            output.counts.reject(rejection.code)
            tell(.rejected(number: number, order: nil, rejection), into: &output)
        }
        collectReady(into: &output)
        finish(context)
    }

    mutating func recordApplied(_ number: Int64, index: UInt64) {
        sequence?.recordApplied(number, index: index)
    }

    mutating func recordRejected(_ number: Int64, _ rejection: Rejection) {
        sequence?.reject(number, rejection)
    }
}

extension TokenBucket {
    /// A full bucket with bursts of twice the rate.
    init(rate: Int, at now: Instant) { self.init(rate: rate, nanoseconds: now.nanoseconds) }

    /// Whether `tokens` are available, without taking them.
    mutating func holds(_ tokens: Int, at now: Instant) -> Bool {
        refill(nanoseconds: now.nanoseconds)
        return holds(tokens)
    }
}
