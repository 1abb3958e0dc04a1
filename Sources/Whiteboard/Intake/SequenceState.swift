import StrokeWire

/// The state of one sequence of an author: which operation numbers are settled, and which wait.
///
/// A state machine without effects: ``received(_:_:_:)`` judges a message and returns an ``Action`` for the caller to
/// carry out; ``nextReady()`` then returns the held operations whose turn has come.
///
/// A number is settled when its operation was applied, rejected or given up. Operations take effect in the order of
/// their numbers; ``expected`` is the least number that is not settled.
struct SequenceState: Sendable {
    let start: Int64
    let startedAt: Instant
    /// Index of the log's last operation when the sequence started.
    let startHead: UInt64
    /// The least number that is not settled.
    private(set) var expected: Int64
    private(set) var pending = PendingOperations()
    private(set) var settled = SettledNumbers()
    private(set) var applied = AppliedNumbers()
    private(set) var restartDetector = SequenceRestartDetector()
    /// Numbers below the start that were never seen, while an operation under one of them counts as late.
    private(set) var unseen = SettledNumbers()
}

extension SequenceState {
    init(start: Int64, at now: Instant, head: UInt64) {
        self.init(start: start, startedAt: now, startHead: head, expected: start)
        if start > 0 { unseen.insert(0...(start - 1), .gaveUp(head: head), expected: start) }
    }
}

// MARK: - Messages

extension SequenceState {
    /// What the caller has to do about a message.
    struct Action {
        enum Outcome {
            /// Apply the operation: its turn has come, or it is late.
            case apply(ReadyOperation)
            /// Tell the author what is missing below the operation, which is complete and waits.
            case hold
            /// Remind the author if no other shard of the stroke comes.
            case awaitShards
            /// Wait for nothing: the message is a shard of a late stroke.
            case keepLateShard
            /// Count a repeat, and repeat the answer where it is known.
            case ignoreRepeat(answer: Feedback?)
            /// Tell the author. `order` is that of the shard, 0 for a whole stroke.
            case reject(Rejection, order: Int)
        }

        let outcome: Outcome
        /// Whether to tell the author first that the operation was given up.
        var isGivenUp = false
    }

    /// Puts an acceptable message in its place: next, held, under assembly, late, or a repeat.
    mutating func received(_ header: StrokeMessage, _ incoming: IncomingMessage, _ context: IntakeContext) -> Action {
        let number = header.number
        restartDetector.note(number, header, incoming.bytes)
        if number > expected, number - expected > context.limits.numberLead {
            return refuse(header, .numberTooFarAhead(expected: expected))
        }
        if let index = applied.index(of: number) {
            return Action(outcome: .ignoreRepeat(answer: .applied(number: number, index: index)))
        }
        let reason = settled.reason(of: number)
        if case .rejected(let rejection) = reason {
            let answer = Feedback.rejected(number: number, order: header.shardOrder, rejection)
            return Action(outcome: .ignoreRepeat(answer: answer))
        }
        if let head = givenUpHead(of: number) {
            return receivedLate(header, incoming, givenUpAt: head, context)
        }
        if number < expected || reason != nil || pending.held.contains(number) {
            return Action(outcome: .ignoreRepeat(answer: nil))
        }
        let isAssembling = pending.assemblies.contains(number)
        if header.isSharded && header.action == .draw {
            return receivedShard(header, incoming, isAssembling: isAssembling, context)
        }
        guard !isAssembling else {
            // It cannot be a shard of the stroke under assembly.
            return refuse(header, .shardsExist(field: header.action == .draw ? "s" : "a"))
        }
        // An operation applied at once takes no room.
        let size = number == expected ? 0 : incoming.bytes.count
        guard pending.room(for: size, of: context.limits.pendingBytes) >= size else {
            return reject(header, .bytesPending)
        }
        let ready = ReadyOperation(
            author: incoming.author, header: header, bytes: incoming.bytes, isLate: false, isJoined: false)
        return completed(ready, at: incoming.loggedAt, context)
    }

    private mutating func receivedShard(
        _ header: StrokeMessage, _ incoming: IncomingMessage, isAssembling: Bool, _ context: IntakeContext
    ) -> Action {
        if !isAssembling, !hasRoomForAssembly(context) {
            return reject(header, .tooManyPending("strokes under assembly"))
        }
        switch addShard(header, incoming, isLate: false, context) {
        case .added: return Action(outcome: .awaitShards)
        case .repeated: return Action(outcome: .ignoreRepeat(answer: nil))
        case .conflict(let rejection): return refuse(header, rejection)
        case .refused(let rejection): return reject(header, rejection)
        case .complete:
            do {
                return completed(
                    try join(incoming.author, header.number, isLate: false), at: incoming.loggedAt, context)
            } catch {
                return reject(header, error)
            }
        }
    }

    /// A complete operation: applied if its turn has come, otherwise held.
    private mutating func completed(
        _ ready: ReadyOperation, at now: Instant, _ context: IntakeContext
    ) -> Action {
        if ready.number == expected {
            expected += 1
            return Action(outcome: .apply(ready))
        }
        guard pending.held.count < 2 * context.limits.held else {
            return reject(ready.header, .tooManyPending("operations held"))
        }
        pending.hold(ready, at: now)
        return Action(outcome: .hold)
    }

    /// A message whose number was given up. A stroke is still applied when it is complete, unless the board was cleared
    /// since; anything else is too late.
    private mutating func receivedLate(
        _ header: StrokeMessage, _ incoming: IncomingMessage, givenUpAt head: UInt64, _ context: IntakeContext
    ) -> Action {
        let number = header.number
        guard header.action == .draw, context.lastClear(for: header) <= head else { return reject(header, .tooLate) }
        guard number < expected || canApplyAhead else {
            return reject(header, .tooManyPending("late operations above a gap"))
        }
        let isAssembling = pending.late[number] != nil
        guard header.isSharded else {
            guard !isAssembling else { return refuse(header, .shardsExist(field: "s")) }
            return Action(
                outcome: .apply(
                    ReadyOperation(
                        author: incoming.author, header: header, bytes: incoming.bytes, isLate: true, isJoined: false)))
        }
        var isGivenUp = false
        if !isAssembling {
            guard hasRoomForAssembly(context) else {
                return reject(header, .tooManyPending("strokes under assembly"))
            }
            isGivenUp = giveUpUnseen(number)
        }
        let outcome: Action.Outcome
        switch addShard(header, incoming, isLate: true, context) {
        case .added: outcome = .keepLateShard
        case .repeated: outcome = .ignoreRepeat(answer: .gaveUp(from: number, to: number))
        case .conflict(let rejection): outcome = refuse(header, rejection).outcome
        case .refused(let rejection): outcome = reject(header, rejection).outcome
        case .complete:
            do {
                outcome = .apply(try join(incoming.author, number, isLate: true))
            } catch {
                outcome = reject(header, error).outcome
            }
        }
        return Action(outcome: outcome, isGivenUp: isGivenUp)
    }

    private mutating func hasRoomForAssembly(_ context: IntakeContext) -> Bool {
        pending.assemblingCount < context.limits.assembling || pending.dropOldestLate()
    }

    private mutating func addShard(
        _ header: StrokeMessage, _ incoming: IncomingMessage, isLate: Bool, _ context: IntakeContext
    ) -> ShardAssembly.Outcome {
        pending.addShard(
            header, incoming.bytes, isLate: isLate, points: context.limits.wire.points,
            byteLimit: context.limits.pendingBytes, at: incoming.loggedAt)
    }

    /// Joins the shards of a stroke, all of which have come.
    private mutating func join(_ author: AuthorID, _ number: Int64, isLate: Bool) throws(Rejection) -> ReadyOperation {
        guard let assembly = pending.takeAssembly(number, isLate: isLate) else { throw .emptyStroke }
        let (header, bytes) = try assembly.joined()
        return ReadyOperation(author: author, header: header, bytes: bytes, isLate: isLate, isJoined: true)
    }

    /// Rejects a message that does not settle its number.
    private func refuse(_ header: StrokeMessage, _ rejection: Rejection) -> Action {
        Action(outcome: .reject(rejection, order: header.shardOrder))
    }

    /// Rejects a message and settles its number, the whole stroke with it.
    private mutating func reject(_ header: StrokeMessage, _ rejection: Rejection) -> Action {
        reject(header.number, rejection)
        return Action(outcome: .reject(rejection, order: header.shardOrder))
    }

    /// Settles the number of a message that was not acceptable.
    /// - Parameter header: nil where the message could not be decoded.
    mutating func receivedUnacceptable(
        _ number: Int64, _ header: StrokeMessage?, _ bytes: [UInt8], _ rejection: Rejection, lead: Int64
    ) {
        restartDetector.note(number, header, bytes)
        guard number >= expected else {
            // Settled numbers stay as they are; one below the start that was never seen is settled.
            if unseen.reason(of: number) != nil { reject(number, rejection) }
            return
        }
        let (distance, overflow) = number.subtractingReportingOverflow(expected)
        guard !overflow, distance <= lead else { return }
        if pending.held.contains(number) || settled.reason(of: number) != nil { return }
        reject(number, rejection)
    }

    /// The next held operation whose turn has come; nil where there is none. Moves on over settled numbers.
    mutating func nextReady() -> ReadyOperation? {
        while let entry = settled.entry(containing: expected) {
            settled.pass(expected)
            expected = entry.to + 1
        }
        guard let ready = pending.takeHeld(expected) else { return nil }
        expected += 1
        return ready
    }
}

// MARK: - Settling

extension SequenceState {
    /// Whether a number's operation was applied, rejected or given up.
    func isSettled(_ number: Int64) -> Bool {
        number < expected || settled.reason(of: number) != nil || applied.index(of: number) != nil
    }

    /// Whether another late operation above the next expected number can be remembered as applied.
    private var canApplyAhead: Bool { settled.appliedCount < SettledNumbers.bound }

    /// Notes the index of an operation that was applied, in its turn or late.
    mutating func recordApplied(_ number: Int64, index: UInt64) {
        unseen.remove(number, expected: start)
        settled.remove(number, expected: expected)
        // Keeps the number settled until all lower numbers are.
        if number >= expected { settled.insert(number...number, .applied, expected: expected) }
        applied.record(number, index: index)
    }

    /// Settles `number`, with what is under assembly for it, without applying it.
    mutating func reject(_ number: Int64, _ rejection: Rejection) {
        _ = pending.takeAssembly(number, isLate: false)
        _ = pending.takeAssembly(number, isLate: true)
        unseen.remove(number, expected: start)
        settled.remove(number, expected: expected)
        settled.insert(number...number, .rejected(rejection), expected: expected)
    }

    /// Settles all numbers that wait without applying them. Strokes that were given up can be completed no more by the shards
    /// that have come.
    /// - Returns: these numbers.
    mutating func rejectPending(_ rejection: Rejection) -> [Int64] {
        let numbers = pending.numbers
        pending = PendingOperations()
        for number in numbers { reject(number, rejection) }
        return numbers
    }

    /// Gives up what is not complete in a range. Strokes under assembly may still be completed, late.
    /// - Parameter head: index of the log's last operation.
    /// - Returns: the ranges given up.
    mutating func giveUp(from: Int64, to: Int64, head: UInt64) -> [ClosedRange<Int64>] {
        // Nothing is awaited beyond what has come: a decision about higher numbers is about an earlier sequence.
        let lower = max(from, expected)
        guard let last = pending.last, lower <= min(to, last) else { return [] }
        let ranges = settled.unsettled(in: lower...min(to, last)).flatMap { pending.incomplete(in: $0) }
        for range in ranges {
            pending.giveUp(range)
            settled.insert(range, .gaveUp(head: head), expected: expected)
        }
        return ranges
    }

    /// Index of the log's last operation when `number` was given up; nil where it was not. An unseen number below the
    /// start counts as given up at the start.
    func givenUpHead(of number: Int64) -> UInt64? {
        if case .gaveUp(let head) = settled.reason(of: number) { return head }
        if case .gaveUp(let head) = unseen.reason(of: number) { return head }
        return nil
    }

    /// Gives up an unseen number below the start, of which a first shard has come.
    /// - Returns: false where the number is none of these.
    private mutating func giveUpUnseen(_ number: Int64) -> Bool {
        guard case .gaveUp(let head) = unseen.reason(of: number) else { return false }
        unseen.remove(number, expected: start)
        settled.insert(number...number, .gaveUp(head: head), expected: expected)
        return true
    }

    /// Drops the unseen numbers below the start once they come too late to count as late.
    mutating func closeStart(at now: Instant) {
        if !unseen.entries.isEmpty, now - startedAt > IntakeTiming.lateStart { unseen = SettledNumbers() }
    }

    /// Whether a settled range has become a gap again since the last call.
    mutating func takeReopened() -> Bool { settled.takeReopened() }

    /// Settles numbers that a checkpoint of version 1 has as given up although they were applied.
    mutating func closeApplied() {
        for run in applied.runs {
            guard case .gaveUp = settled.reason(of: run.number) else { continue }
            let numbers = run.number...(run.number + run.length - 1)
            settled.remove(numbers, expected: expected)
            guard run.number >= expected, settled.unsettled(in: numbers) == [numbers] else { continue }
            settled.insert(numbers, .applied, expected: expected)
        }
    }
}

// MARK: - Gaps

extension SequenceState {
    /// A run of numbers that are neither settled nor complete, below a complete operation.
    struct Gap: Equatable {
        let numbers: ClosedRange<Int64>
        /// When the first operation above it became complete. Not before that of a lower gap.
        let blockedSince: Instant
    }

    /// Calls `body` with each gap, the lowest first, until it returns false.
    func forEachGap(_ body: (Gap) -> Bool) {
        pending.forEachGap(from: expected) { numbers, since in
            settled.unsettled(in: numbers).allSatisfy { body(Gap(numbers: $0, blockedSince: since)) }
        }
    }

    /// What is missing directly below a complete operation, at most `limit` notices, the lowest. Empty where the next
    /// lower number is complete: its author has been told.
    func missing(below number: Int64, limit: Int) -> [Feedback] {
        let from = pending.held.last(below: number).map { $0.number + 1 } ?? expected
        guard from < number else { return [] }
        var notices: [Feedback] = []
        for range in settled.unsettled(in: from...(number - 1), limit: limit) {
            notices += pending.missing(in: range, limit: limit - notices.count)
        }
        return notices
    }
}
