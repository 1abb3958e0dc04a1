import StrokeWire

/// Tracks what an author was told is missing, and which give-ups were asked for.
///
/// Depends on wall time and changes nothing in the sequence: a give-up takes effect when it comes back from the log. No
/// part of the room's state: the next owner tells and asks again.
struct GapTracker: Sendable {
    /// The greatest number of notices that an author gets in one interval.
    static let noticeBound = 64

    /// What ``check(_:at:heldLimit:)`` asks for.
    struct Action {
        var giveUps: [ClosedRange<Int64>] = []
        /// Notices of what is missing, for the author.
        var notices: [Feedback] = []
    }

    /// When ``check(_:at:heldLimit:)`` may have something to do, and no later than when it has; distant future for
    /// never.
    private(set) var deadline = Instant.distantFuture
    /// When the author was last told all that is missing.
    private var lastRound = Instant.distantPast
    /// Notices since the start of an interval.
    private var notices = (since: Instant.distantPast, count: 0)
    /// Up to which number gaps were asked to be given up, and when the first of them was.
    private var asked: (through: Int64, since: Instant)?
    /// When strokes under assembly were asked to be given up, by number.
    private(set) var askedAssemblies: [Int64: Instant] = [:]

    private var nextRound: Instant { lastRound + IntakeTiming.noticeInterval }

    /// Makes ``check(_:at:heldLimit:)`` due at once.
    mutating func checkNow() { deadline = .distantPast }

    private mutating func check(by instant: Instant) { deadline = min(deadline, instant) }

    /// Makes a check due at once, for more operations wait than may, unless the first gap was asked to be given up.
    /// - Parameter expected: the least number that is not settled, where the first gap starts.
    mutating func noteOverfull(expected: Int64) {
        if let asked, expected <= asked.through { return }
        checkNow()
    }

    /// Notes a shard that did not complete its stroke.
    mutating func noteShard(at now: Instant) {
        check(by: max(lastRound, now) + IntakeTiming.noticeInterval)
    }

    /// Notes that an operation waits from now on.
    /// - Returns: what is missing below it, as far as the author may be told now; nil for nothing.
    mutating func noteHeld(_ number: Int64, in sequence: SequenceState, at now: Instant) -> ArraySlice<Feedback>? {
        // The next round is a whole interval after the first gap. Older gaps keep their time.
        if sequence.pending.held.count == 1 { lastRound = now }
        check(by: min(nextRound, now + IntakeTiming.gapTimeout))
        if now - notices.since >= IntakeTiming.noticeInterval { notices = (now, 0) }
        let left = Self.noticeBound - notices.count
        // One notice shows whether there is a gap, when none may be sent.
        let missing = sequence.missing(below: number, limit: max(1, left))
        guard !missing.isEmpty else { return nil }
        notices.count += min(left, missing.count)
        return missing.prefix(left)
    }

    /// What is due now: notices of what is missing, and requests to give up.
    /// - Parameter heldLimit: with more complete operations waiting, the first gap is given up at once.
    mutating func check(_ sequence: SequenceState, at now: Instant, heldLimit: Int) -> Action {
        var action = Action()
        guard now >= deadline else { return action }
        deadline = .distantFuture
        guard !sequence.pending.isEmpty else { return action }
        checkGaps(of: sequence, at: now, isOverfull: sequence.pending.held.count > heldLimit, into: &action)
        checkAssemblies(of: sequence, at: now, into: &action)
        collectNotices(of: sequence, at: now, into: &action)
        return action
    }

    /// Lower gaps have waited longer: those that are due come first.
    private mutating func checkGaps(
        of sequence: SequenceState, at now: Instant, isOverfull: Bool, into action: inout Action
    ) {
        var asked = self.asked.flatMap { $0.through < sequence.expected ? nil : $0 }
        if let since = asked?.since, since + IntakeTiming.decisionRetry <= now { asked = nil }
        sequence.forEachGap { gap in
            let numbers = gap.numbers
            let due =
                isOverfull && numbers.lowerBound == sequence.expected
                ? .distantPast : gap.blockedSince + IntakeTiming.gapTimeout
            guard due <= now else {
                check(by: due)
                return false
            }
            if let asked, numbers.upperBound <= asked.through { return true }
            asked = (numbers.upperBound, asked?.since ?? now)
            action.giveUps.append(numbers)
            return true
        }
        self.asked = asked
        if let asked { check(by: asked.since + IntakeTiming.decisionRetry) }
    }

    /// Strokes under assembly that no complete operation waits for.
    private mutating func checkAssemblies(of sequence: SequenceState, at now: Instant, into action: inout Action) {
        var asked: [Int64: Instant] = [:]
        for entry in sequence.pending.unblockingAssemblies {
            var due = entry.value.lastShardAt + IntakeTiming.assemblyTimeout
            if let before = askedAssemblies[entry.number] {
                asked[entry.number] = before
                due = max(due, before + IntakeTiming.decisionRetry)
            }
            if due <= now {
                asked[entry.number] = now
                due = now + IntakeTiming.decisionRetry
                action.giveUps.append(entry.number...entry.number)
            }
            check(by: due)
        }
        askedAssemblies = asked
    }

    private mutating func collectNotices(of sequence: SequenceState, at now: Instant, into action: inout Action) {
        let pending = sequence.pending
        if nextRound <= now {
            sequence.forEachGap { gap in
                action.notices += pending.missing(in: gap.numbers, limit: Self.noticeBound - action.notices.count)
                return action.notices.count < Self.noticeBound
            }
            for entry in pending.unblockingAssemblies where action.notices.count < Self.noticeBound {
                if entry.value.lastShardAt + IntakeTiming.noticeInterval <= now {
                    action.notices.append(entry.value.notice)
                }
            }
        }
        if !action.notices.isEmpty {
            lastRound = now
            notices = (now, action.notices.count)
        }
        if !pending.held.isEmpty { check(by: nextRound) }
        for entry in pending.unblockingAssemblies {
            check(by: max(nextRound, entry.value.lastShardAt + IntakeTiming.noticeInterval))
        }
    }
}

/// The times of the protocol's rules of order and loss.
enum IntakeTiming {
    /// From when the first operation above a gap became complete until the gap is given up.
    static let gapTimeout = Duration.seconds(2)
    /// From the last shard of a stroke with nothing above it until the stroke is given up.
    static let assemblyTimeout = Duration.seconds(10)
    /// Between two notices of what is missing.
    static let noticeInterval = Duration.milliseconds(500)
    /// How long a number below the start of a sequence counts as late, not as a new sequence.
    static let lateStart = Duration.seconds(2)
    /// Until a decision that has not come back from the log is asked for again.
    static let decisionRetry = Duration.seconds(1)
}
