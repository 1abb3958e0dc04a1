import HeapModule
import StrokeWire

/// Orders the messages of a room's authors: joins shards, waits for what is missing, drops repeats.
///
/// A deterministic state machine over the room's log: the same messages and decisions in the same order, at the log's own
/// times, give the same operations on every replica.
///
/// An input costs the logarithm of the number of authors.
struct Intake: Sendable {
    /// When an author's gaps are to be checked.
    private struct Wake: Comparable {
        let at: Instant
        let author: AuthorID

        static func < (left: Wake, right: Wake) -> Bool {
            left.at == right.at ? left.author < right.author : left.at < right.at
        }
    }

    /// In the order of their names: most rooms have one, for which a dictionary has twice the space.
    private var authors: [Author] = []
    /// Each author's deadline, and some that no longer hold: at most about twice the number of authors.
    private var wakes = Heap<Wake>()
    private var pendingAuthors = 0
    /// Strokes under assembly, of all authors.
    private(set) var assemblingCount = 0
    /// Authors of whom nothing is taken, in the order of their names, at most ``ControlRecord/mutedLimit``.
    private(set) var muted: [AuthorID] = []
    /// Whether somebody was ever muted in this life: earlier releases do not know what is kept of it.
    private(set) var hasMuted = false
    /// Before this no author has been silent for long enough to lose its place; nil while unknown.
    private var placeDue: Instant?

    init() {}

    init(authors: [Author], muted: [AuthorID], hasMuted: Bool) {
        (self.muted, self.hasMuted) = (muted, hasMuted)
        for author in authors {
            insert(author)
            note(author.id, from: Author.Load(), to: author.load)
        }
    }

    /// The authors in the order of their names.
    var authorsByName: [Author] { authors }

    /// Where an author is; nil for one without a place.
    private func place(of id: AuthorID) -> Int? {
        if authors.count == 1 { return authors[0].id == id ? 0 : nil }
        let place = authors.partitioningIndex { $0.id >= id }
        return place < authors.count && authors[place].id == id ? place : nil
    }

    private mutating func insert(_ author: Author) {
        remove(author.id)
        authors.insert(author, at: authors.partitioningIndex { $0.id >= author.id })
    }

    private mutating func remove(_ id: AuthorID) {
        if let place = place(of: id) { authors.remove(at: place) }
    }

    /// Takes a message of an author.
    mutating func receive(_ incoming: IncomingMessage, _ context: IntakeContext, into output: inout IntakeOutput) {
        let limits = context.limits
        output.counts.messages += 1
        guard incoming.bytes.count <= limits.wire.messageBytes else {
            let rejection = Rejection.tooLarge(bytes: incoming.bytes.count, limit: limits.wire.messageBytes)
            output.counts.reject(rejection.code)
            output.tell(incoming.author, incoming.session, .rejected(number: nil, order: nil, rejection))
            return
        }
        guard admit(incoming.author, limits, at: incoming.loggedAt) else {
            let (number, order) = StrokeMessage.identity(of: incoming.bytes, limits: limits.wire)
            output.counts.reject(.roomFull)
            output.tell(incoming.author, incoming.session, .rejected(number: number, order: order, .roomFull))
            return
        }
        let isMuted = isMuted(incoming.author)
        change(incoming.author) { $0.receive(incoming, context, isMuted: isMuted, into: &output) }
    }

    /// Changes an author in place and updates the sums over all authors.
    private mutating func change(_ id: AuthorID, _ body: (inout Author) -> Void) {
        guard let place = place(of: id) else { return }
        let loads = authors[place].changed(by: body)
        note(id, from: loads.before, to: loads.after)
    }

    private mutating func note(_ id: AuthorID, from before: Author.Load, to after: Author.Load) {
        assemblingCount += after.assembling - before.assembling
        pendingAuthors += (after.hasPending ? 1 : 0) - (before.hasPending ? 1 : 0)
        guard after.deadline != before.deadline, after.deadline < .distantFuture else { return }
        wakes.insert(Wake(at: after.deadline, author: id))
        if wakes.count > 2 * authors.count + 64 {
            let waiting = authors.lazy.filter { $0.gaps.deadline < .distantFuture }
            wakes = Heap(waiting.map { Wake(at: $0.gaps.deadline, author: $0.id) })
        }
    }

    /// Gives an author a place, if necessary that of an author who has long been silent.
    /// - Returns: false where the room is full.
    private mutating func admit(_ id: AuthorID, _ limits: IntakeLimits, at now: Instant) -> Bool {
        if place(of: id) != nil { return true }
        if authors.count >= limits.authors {
            if let placeDue, now < placeDue { return false }
            let idle = authors.filter { $0.isIdle(at: now, after: limits.authorIdle) }
            guard let longest = idle.min(by: { ($0.lastHeard, $0.id) < ($1.lastHeard, $1.id) }) else {
                // Any author that is heard again moves this on, never back.
                placeDue = authors.lazy.map { $0.lastHeard }.min().map { $0 + limits.authorIdle }
                return false
            }
            remove(longest.id)
            note(longest.id, from: longest.load, to: Author.Load())
        }
        insert(Author(id, limits: limits, at: now))
        placeDue = nil
        return true
    }

    /// Applies a decision to give up, where it stands in the log.
    mutating func giveUp(
        _ author: AuthorID, from: Int64, to: Int64, _ context: IntakeContext, into output: inout IntakeOutput
    ) {
        change(author) { $0.giveUp(from: from, to: to, context, into: &output) }
    }

    func isMuted(_ author: AuthorID) -> Bool {
        guard !muted.isEmpty else { return false }
        let place = muted.partitioningIndex { $0 >= author }
        return place < muted.count && muted[place] == author
    }

    /// Applies a decision to mute an author, also one that is not known yet, where it stands in the log. What waits of the
    /// author is rejected.
    /// - Returns: false where the author is muted already, or as many are as may be.
    mutating func mute(_ author: AuthorID, _ context: IntakeContext, into output: inout IntakeOutput) -> Bool {
        guard !isMuted(author), muted.count < ControlRecord.mutedLimit else { return false }
        muted.insert(author, at: muted.partitioningIndex { $0 >= author })
        hasMuted = true
        change(author) { $0.rejectPending(.muted, context, into: &output) }
        return true
    }

    /// Applies a decision to take an author's messages again.
    mutating func unmute(_ author: AuthorID) { muted.removeAll { $0 == author } }

    /// Forgets an author for whom nothing is pending: in a room without operations, messages that were rejected or given
    /// up leave no trace.
    /// - Returns: whether no author is left, and none is muted.
    mutating func forgetUnlessPending(_ author: AuthorID) -> Bool {
        if let place = place(of: author), !authors[place].hasPending {
            note(author, from: authors.remove(at: place).load, to: Author.Load())
        }
        return authors.isEmpty && muted.isEmpty
    }

    /// The authors that were heard last, the last first.
    func lastHeard(atMost count: Int) -> [AuthorID] {
        authors.sorted { ($0.lastHeard, $1.id) > ($1.lastHeard, $0.id) }.prefix(count).map { $0.id }
    }

    /// The numbers that wait, by author.
    var pendingNumbers: [(author: AuthorID, number: Int64)] {
        authorsByName.flatMap { author in
            (author.sequence?.pending.numbers ?? []).map { (author: author.id, number: $0) }
        }
    }

    /// Notes that the room has applied a ready operation.
    mutating func recordApplied(_ operation: ReadyOperation, index: UInt64) {
        guard let place = place(of: operation.author) else { return }
        authors[place].recordApplied(operation.number, index: index)
    }

    /// Notes that the room has rejected a ready operation.
    mutating func recordRejected(_ operation: ReadyOperation, _ rejection: Rejection) {
        guard let place = place(of: operation.author) else { return }
        authors[place].recordRejected(operation.number, rejection)
    }

    /// The session of an author's current sequence; nil for one without a name.
    func session(of author: AuthorID) -> String? {
        place(of: author).flatMap { authors[$0].sessions.current }
    }

    /// Whether a number is settled: its operation was applied, rejected or given up.
    /// - Parameter session: as the author names it; nil for none.
    func isSettled(_ number: Int64, session: String?, of author: AuthorID) -> Bool {
        place(of: author).map { authors[$0].isSettled(number, session: session) } ?? false
    }

    /// When ``checkGaps(at:heldLimit:into:)`` may have something to do, and no later than when it has; nil for never.
    var deadline: Instant? { wakes.min?.at }

    /// Tells authors what is missing and asks for the give-ups that are due.
    mutating func checkGaps(at now: Instant, heldLimit: Int, into output: inout IntakeOutput) {
        var due: Set<AuthorID> = []
        while let wake = wakes.min, wake.at <= now {
            wakes.removeMin()
            due.insert(wake.author)
        }
        for id in due.sorted() {
            change(id) { $0.checkGaps(at: now, heldLimit: heldLimit, into: &output) }
        }
    }

    /// Whether an operation waits for something that has not come.
    var hasPending: Bool { pendingAuthors > 0 }

    var authorCount: Int { authors.count }
}
