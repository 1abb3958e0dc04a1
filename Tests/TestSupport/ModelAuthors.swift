import StrokeWire
package import Whiteboard

/// The authors of a room by the rules of order, loss, sessions and mutes, as they read: what becomes of each message, and
/// of the board. Numbers are given up by whoever drives it. It keeps everything and searches it each time.
package struct ModelAuthors: Sendable {
    /// An operation that gets an index.
    package struct Applied: Sendable {
        package let index: UInt64
        /// Its first shard, or all of it.
        package let sent: SentMessage
        /// The x coordinates of all its points, and milliseconds to the last one.
        package let ink: [Int]
        package let reach: Int64
        package let reference: UInt64?
        package let page: Int
        package let isLate: Bool
        /// Of the board with it.
        package let digest: UInt64
    }

    /// What an author is told.
    package struct Answer: Sendable {
        package enum Outcome: Sendable {
            case applied(Applied)
            case rejected
            case gaveUp
        }

        package let author: String
        /// The author's session that it is about.
        package let session: String?
        package let number: Int64
        package let outcome: Outcome
    }

    package private(set) var authors: [String: ModelAuthor] = [:]
    package private(set) var muted: Set<String> = []
    package private(set) var board: ModelPages
    /// Index of the last operation.
    package private(set) var head: UInt64 = 0
    private var answers: [Answer] = []

    package init(_ rules: HistoryConfiguration) { board = ModelPages(rules) }

    /// Those of a service with the usual rules, but for its clears.
    package init(clearsAreFinal: Bool) { self.init(HistoryConfiguration(clear: clearsAreFinal ? .final : .undoable)) }

    /// - Parameters:
    ///   - loggedAt: when it was logged, by the log's clock.
    ///   - at: the same by the clock that give-ups are judged by.
    package mutating func receive(_ sent: SentMessage, loggedAt: Instant, at moment: Instant) -> [Answer] {
        let name = sent.author.text
        // Not copied: lessons of thousands of messages are folded again and again.
        var author = authors.removeValue(forKey: name) ?? ModelAuthor()
        take(sent, of: name, &author, loggedAt, moment)
        authors[name] = author
        return takeAnswers()
    }

    private mutating func take(
        _ sent: SentMessage, of name: String, _ author: inout ModelAuthor, _ loggedAt: Instant, _ moment: Instant
    ) {
        let isNext = author.hasCount && sent.session != nil && sent.session != author.session
        let (before, ending) = (author.session, isNext ? author.pending : [])
        guard author.enter(sent, at: loggedAt, head: head) else {
            if !author.isApplied(sent.number, in: sent.session) { tell(name, sent.session, sent.number, .rejected) }
            return
        }
        // The feedback names the session that ends.
        for number in ending { tell(name, before, number, .gaveUp) }
        let number = sent.number
        guard !muted.contains(name) else { return refuse(number, of: name, &author, at: loggedAt) }
        if number < author.start, author.fates[number] == nil {
            guard author.mayBeLate(at: loggedAt) else { return }
            author.fates[number] = .gaveUp(head: author.startHead)
        }
        switch author.fates[number] {
        case .applied, .rejected: break
        case .gaveUp(let since):
            if sent.kind != .draw || board.lastClear(on: sent.page) > since {
                author.fates[number] = .rejected
                tell(name, author.session, number, .rejected)
            } else {
                author.keep(sent, at: moment)
                if author.isComplete(number) { apply(number, of: name, &author, isLate: true) }
            }
        case nil where sent.kind == .garbage:
            author.fates[number] = .rejected
            tell(name, author.session, number, .rejected)
            drain(name, &author)
        case nil:
            author.keep(sent, at: moment)
            drain(name, &author)
        }
    }

    /// A message of a muted author is rejected, unless it repeats one that was applied.
    private mutating func refuse(_ number: Int64, of name: String, _ author: inout ModelAuthor, at time: Instant) {
        if case .applied = author.fates[number] { return }
        tell(name, author.session, number, .rejected)
        // One far below the start is not remembered.
        let isKnown = number >= author.start || author.mayBeLate(at: time)
        if author.fates[number] == nil, isKnown { author.fates[number] = .rejected }
    }

    /// What waits is rejected, and strokes that were given up lose the shards that have come.
    package mutating func mute(_ name: String, at moment: Instant) -> [Answer] {
        guard muted.insert(name).inserted, var author = authors[name] else { return [] }
        for number in author.pending {
            if let complete = author.completeAt(number) { author.muted.append((number, complete, moment)) }
            author.fates[number] = .rejected
            tell(name, author.session, number, .rejected)
        }
        for number in author.parts.keys { if case .gaveUp = author.fates[number] { author.parts[number] = nil } }
        authors[name] = author
        return takeAnswers()
    }

    package mutating func unmute(_ name: String) { muted.remove(name) }

    /// The numbers that a decision to give up a range gives up.
    package func missing(_ range: ClosedRange<Int64>, of name: String) -> [Int64] {
        guard let author = authors[name], let last = author.pending.last else { return [] }
        let first = max(range.lowerBound, author.expected)
        guard first <= min(range.upperBound, last) else { return [] }
        return (first...min(range.upperBound, last)).filter { author.fates[$0] == nil && !author.isComplete($0) }
    }

    package mutating func giveUp(_ numbers: [Int64], of name: String) -> [Answer] {
        guard var author = authors[name] else { return [] }
        for number in numbers {
            author.fates[number] = .gaveUp(head: head)
            tell(name, author.session, number, .gaveUp)
        }
        drain(name, &author)
        authors[name] = author
        return takeAnswers()
    }

    /// Until a room has an operation, what was rejected or given up leaves no trace.
    package mutating func forgetRefused() {
        if head == 0 { authors = authors.filter { !$1.pending.isEmpty } }
    }

    private mutating func drain(_ name: String, _ author: inout ModelAuthor) {
        while author.isComplete(author.expected) { apply(author.expected, of: name, &author, isLate: false) }
    }

    private mutating func apply(_ number: Int64, of name: String, _ author: inout ModelAuthor, isLate: Bool) {
        let parts = (author.parts[number] ?? [:]).sorted { $0.key < $1.key }.map(\.value.sent)
        guard let first = parts.first, let reference = change(first) else {
            author.fates[number] = .rejected
            return tell(name, author.session, number, .rejected)
        }
        author.fates[number] = .applied
        head += 1
        let applied = Applied(
            index: head, sent: first, ink: parts.flatMap(\.ink), reach: parts.map(\.reach).max() ?? 0,
            reference: reference == 0 ? nil : reference, page: board.page(first.page), isLate: isLate,
            digest: board.digest)
        tell(name, author.session, number, .applied(applied))
    }

    /// Changes the board by the operation that is next.
    /// - Returns: what an undo or redo refers to, 0 for others; nil where the board does not allow the operation.
    private mutating func change(_ sent: SentMessage) -> UInt64? {
        let (name, index) = (sent.author.text, head + 1)
        switch sent.kind {
        case .draw: if sent.entry != .pointer { board.draw(index, by: name, on: sent.page) }
        case .clear: board.clear(index, on: sent.page)
        case .turn: board.turn(to: board.page(sent.page))
        case .arrange: board.arrange(sent.order)
        case .paper: board.see(board.page(sent.page))
        case .remove: if board.remove(index, sent.indices, by: name, on: sent.page).isEmpty { return nil }
        case .undo: return board.undo(by: name, on: sent.page)
        case .redo: return board.redo(by: name, on: sent.page)
        case .garbage: return nil
        }
        return 0
    }

    private mutating func tell(_ author: String, _ session: String?, _ number: Int64, _ outcome: Answer.Outcome) {
        answers.append(Answer(author: author, session: session, number: number, outcome: outcome))
    }

    private mutating func takeAnswers() -> [Answer] {
        defer { answers = [] }
        return answers
    }
}

/// One author's sequence.
package struct ModelAuthor: Sendable {
    package enum Fate: Sendable {
        case applied
        case rejected
        case gaveUp(head: UInt64)

        fileprivate var isApplied: Bool { if case .applied = self { true } else { false } }
    }

    package fileprivate(set) var session: String?
    /// The applied numbers of each earlier session.
    private var earlier: [String: Set<Int64>] = [:]
    fileprivate var start: Int64 = 0
    private var startedAt = Instant.distantPast
    fileprivate var startHead: UInt64 = 0
    fileprivate var hasCount = false
    /// The shards of each message that have come, by their order, and when each came first.
    package fileprivate(set) var parts: [Int64: [Int: (sent: SentMessage, at: Instant)]] = [:]
    package fileprivate(set) var fates: [Int64: Fate] = [:] {
        didSet { while fates[expected] != nil { expected += 1 } }
    }
    /// The operations that waited, complete, when their author was muted.
    package fileprivate(set) var muted: [(number: Int64, completeAt: Instant, mutedAt: Instant)] = []

    /// The lowest number from the start on that is not settled.
    package private(set) var expected: Int64 = 0

    /// Unsettled numbers with at least one shard.
    package var pending: [Int64] { parts.keys.filter { fates[$0] == nil }.sorted() }

    package func isComplete(_ number: Int64) -> Bool {
        guard let parts = parts[number], let first = parts.values.first?.sent else { return false }
        return parts.count == first.parts
    }

    /// When the last shard came; nil where some have not.
    package func completeAt(_ number: Int64) -> Instant? {
        isComplete(number) ? parts[number]?.values.map(\.at).max() : nil
    }

    /// Whether a number below the start counts as late.
    fileprivate func mayBeLate(at time: Instant) -> Bool { time - startedAt <= .seconds(2) }

    fileprivate mutating func keep(_ sent: SentMessage, at moment: Instant) {
        if parts[sent.number]?[sent.part] == nil { parts[sent.number, default: [:]][sent.part] = (sent, moment) }
    }

    /// - Returns: false for a message of an earlier session.
    fileprivate mutating func enter(_ sent: SentMessage, at time: Instant, head: UInt64) -> Bool {
        if let name = sent.session, earlier[name] != nil, name != session { return false }
        if !hasCount || sent.session != nil && sent.session != session { begin(sent, at: time, head: head) }
        return true
    }

    fileprivate func isApplied(_ number: Int64, in session: String?) -> Bool {
        session.flatMap { earlier[$0] }?.contains(number) ?? false
    }

    private mutating func begin(_ sent: SentMessage, at time: Instant, head: UInt64) {
        if let name = session { earlier[name] = Set(fates.filter { $0.value.isApplied }.keys) }
        session = sent.session
        if let name = sent.session { earlier[name] = [] }
        (start, startedAt, startHead, hasCount, expected) = (sent.number, time, head, true, sent.number)
        (parts, fates, muted) = ([:], [:], [])
    }
}
