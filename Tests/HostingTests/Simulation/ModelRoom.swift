import StrokeWire
import TestSupport
import Whiteboard

/// A room's log folded by the rules as they read, apart from the product: what has to come out.
struct ModelRoom {
    /// An operation that has to be there.
    struct Expected {
        let index: UInt64
        let author: String
        let number: Int64
        let kind: SentMessage.Kind
        let reference: UInt64?
        let page: Int
        let isLate: Bool
        let ink: [Int]
        let isLasso: Bool
        let digest: UInt64
        /// The encoder's session that it was logged in, by its place among those of the life.
        var epoch: Int
        /// Whether it was in a session that the video had not reached, by rule 18.
        var wasForeseen = false
        /// Its own media time, and the encoder's session whose time line that is on; nil for none that is of use.
        let time: Int64?
        let timeLine: Int64?
        /// Milliseconds from its time to its last point.
        let reach: Int64
        let loggedAt: Moment

        var summary: String {
            let late = isLate ? " late" : ""
            return "\(index) \(author) \(kind) \(number)\(reference.map { " of \($0)" } ?? "")\(late)"
        }
    }

    /// One life of the room.
    struct Life {
        let incarnation: String
        var operations: [Expected] = []
        var visible: [UInt64] = []
        var shown = 0
        var order = [0]
        /// Numbers of the encoder's sessions; the first names what was there before.
        var sessions: [Int64] = []
        var isClosed = false

        /// Whether clock samples name the encoder's sessions.
        var namesSessions = true

        /// The number of the session that an operation was logged in; -1 where none was ever named, greater than all for one that
        /// the video has not reached.
        func session(of operation: Expected) -> Int64 {
            operation.epoch < sessions.count ? sessions[operation.epoch] : operation.epoch == 0 ? -1 : .max
        }

        /// The number of the session on whose time line an operation's own time is; nil without a time. The encoder counts its
        /// sessions from 1; where nobody names them, the room has numbers of its own for them.
        func timeLine(of operation: Expected) -> Int64? {
            namesSessions ? operation.timeLine : operation.timeLine.map { Self.session(ofLine: $0, among: sessions) }
        }

        /// The room's number of an encoder's session that nobody names; greater than all for one that the room has not heard of.
        static func session(ofLine line: Int64, among sessions: [Int64]) -> Int64 {
            if sessions.isEmpty, line == 1 { return -1 }
            return line <= sessions.count ? sessions[Int(line - 1)] : .max
        }

        /// Media times that the video has to have passed at the least before each operation can be shown: those on the
        /// time line of its own session, by rule 2; nil where there is none.
        /// - Parameter isProgressive: whether a stroke counts with its last point.
        func gateTimes(isProgressive: Bool) -> [Int64?] {
            var latest: [Int: Int64] = [:]
            return operations.map { operation in
                let session = session(of: operation)
                if let time = operation.time, session < 0 && namesSessions || timeLine(of: operation) == session {
                    let end = time + (isProgressive ? operation.reach : 0)
                    latest[operation.epoch] = max(latest[operation.epoch] ?? .min, end)
                }
                return latest[operation.epoch]
            }
        }
    }

    /// Feedback that an author must get at least once.
    struct Owed: Hashable {
        enum Kind: Hashable {
            case applied(index: UInt64)
            case rejected
            case gaveUp
        }
        let author: String
        /// The author's session that it is about.
        let session: String?
        let number: Int64
        let kind: Kind
    }

    /// A number that a decision in the log gives up.
    struct GiveUp {
        let author: String
        let number: Int64
        /// When the decision was stored, and when it was sent.
        let at: Moment
        let sentAt: Moment
        /// The first moment at which the rules give it up; nil where they do not.
        let due: Moment?
    }

    let rules: HistoryConfiguration
    private(set) var giveUps: [GiveUp] = []
    /// The greatest number of each author in lives that have ended. Of an operation up to it that is sent again only some
    /// shards may come, with nothing behind: a daemon that stands still then gives it up by what it had read before.
    private var reachedBefore: [String: Int64] = [:]
    private(set) var lives: [Life] = []
    private(set) var owed: Set<Owed> = []
    /// Number of each author's messages that cannot be decoded.
    private(set) var garbage: [String: Int] = [:]
    private var authors: [String: ModelAuthor] = [:]
    /// Authors of whom nothing is taken in this life.
    private(set) var muted: Set<String> = []
    private var board: ModelPages
    /// The sessions of the encoder that the room has heard of in this life.
    private var sessions: [Int64] = []
    /// The first operation of the session that the video has not reached, and of the last such session.
    private var foreseen: UInt64?
    private var lastForeseen: UInt64 = 0
    private var isLiving = false
    /// The first record of this life, and what was owed before it.
    private var began: UInt64 = 0
    private var owedBefore: Set<Owed> = []
    /// Whether the room was refused, because too many rooms are stored.
    private(set) var wasRefused = false

    /// Whether the number of stored rooms is limited.
    private let isLimited: Bool

    /// Whether clock samples name the encoder's sessions.
    private let namesSessions: Bool

    init(_ rules: HistoryConfiguration, isLimited: Bool = false, namesSessions: Bool = true) {
        (self.rules, self.isLimited, self.namesSessions) = (rules, isLimited, namesSessions)
        board = ModelPages(rules)
    }

    private var head: Int { isLiving ? lives.last?.operations.count ?? 0 : 0 }

    mutating func take(_ entry: SimulatedLog.Entry, prefix: String) {
        switch entry.record.content {
        case .control(.close), .control(.erase):
            if isLimited { forgetEarlierSessions() }
            close()
        case .control(.full(let through)): refuse(through)
        case .control(.epoch(let number)): if isLiving, number > sessions.last ?? -1 { begin(number) }
        case .control(.provisionalEpoch(let first, _)): if isLiving { foresee(from: first) }
        case .control(.provisionalEpochOver(let first)): if isLiving, foreseen == first { moveForeseen(by: -1) }
        case .control(.gaveUp(let author, let from, let to, let incarnation)):
            // A daemon that has not read of a life's end may still give up a number of it, in the next.
            if isLiving, lives.last?.incarnation == incarnation { giveUp(author.text, from, to, entry) }
        case .control(.mute(let author)): if isLiving { mute(author.text, at: entry.at) }
        case .control(.unmute(let author)): if isLiving { muted.remove(author.text) }
        // Simulated logs lose no end.
        case .control(.restore): break
        case .message:
            guard let sent = entry.sent else { return }
            if !isLiving {
                lives.append(Life(incarnation: "\(prefix)-\(entry.record.sequence)", namesSessions: namesSessions))
                isLiving = true
                began = entry.record.sequence
                owedBefore = owed
            }
            receive(sent, entry)
        }
        if isLiving, head == 0 { forgetRefused() }
        guard isLiving, !lives.isEmpty else { return }
        lives[lives.count - 1].sessions = sessions
        lives[lives.count - 1].visible = board.visible
        (lives[lives.count - 1].shown, lives[lives.count - 1].order) = (board.shown, board.order)
    }

    /// The place of the session that operations are logged in. What was logged before any was named belongs to the first.
    private var epoch: Int { max(0, sessions.count - 1) + (foreseen == nil ? 0 : 1) }

    private mutating func begin(_ session: Int64) {
        // The first name is that of the session that is there.
        if !sessions.isEmpty { foreseen = nil }
        sessions.append(session)
    }

    private mutating func foresee(from first: UInt64) {
        guard foreseen == nil, first > lastForeseen, first <= head,
            lives[lives.count - 1].operations[Int(first - 1)].epoch == epoch
        else { return }
        (foreseen, lastForeseen) = (first, first)
        moveForeseen(by: 1)
    }

    /// Moves operations to the session that was foreseen, or back where it has not come.
    private mutating func moveForeseen(by step: Int) {
        guard let first = foreseen else { return }
        let from = step > 0 ? epoch - 1 : epoch
        for place in Int(first - 1)..<head where lives[lives.count - 1].operations[place].epoch == from {
            lives[lives.count - 1].operations[place].epoch += step
            lives[lives.count - 1].operations[place].wasForeseen = true
        }
        if step < 0 { foreseen = nil }
    }

    /// Operations that are neither applied, rejected nor given up.
    var undecided: [String] { authors.flatMap { name, author in author.pending.map { "\(name) \($0)" } }.sorted() }

    /// Authors of a room that is going to be refused get no feedback until the end of its life, and then none about
    /// sessions that are over.
    private mutating func forgetEarlierSessions() {
        owed = owed.filter { answer in
            guard case .applied = answer.kind, let author = authors[answer.author] else { return true }
            return author.session == answer.session || owedBefore.contains(answer)
        }
    }

    /// Until a room has an operation, what was rejected or given up leaves no trace.
    private mutating func forgetRefused() {
        noteReached()
        authors = authors.filter { !$1.pending.isEmpty }
        guard authors.isEmpty, muted.isEmpty else { return }
        lives.removeLast()
        isLiving = false
        forgetLife()
    }

    /// The room is refused: everything of this life is rejected.
    private mutating func refuse(_ through: UInt64) {
        guard isLiving, began <= through, let life = lives.last else { return }
        wasRefused = true
        owed = owed.filter { owed in
            if case .applied = owed.kind { owedBefore.contains(owed) } else { true }
        }
        for operation in life.operations {
            if let author = authors[operation.author] { owe(operation.author, author, operation.number, .rejected) }
        }
        for (name, author) in authors { for number in author.pending { owe(name, author, number, .rejected) } }
        close()
    }

    private mutating func noteReached() {
        for (name, author) in authors {
            reachedBefore[name] = max(reachedBefore[name] ?? .min, author.parts.keys.max() ?? .min)
        }
    }

    private mutating func close() {
        noteReached()
        if isLiving { lives[lives.count - 1].isClosed = true }
        isLiving = false
        forgetLife()
        muted = []
    }

    private mutating func forgetLife() {
        (authors, board, sessions, foreseen, lastForeseen) = ([:], ModelPages(rules), [], nil, 0)
    }

    /// What waits is rejected, and strokes that were given up lose the shards that have come.
    private mutating func mute(_ name: String, at moment: Moment) {
        guard muted.insert(name).inserted, var author = authors[name] else { return }
        for number in author.pending {
            if author.isComplete(number), let complete = author.parts[number]?.values.map(\.at).max() {
                author.muted.append((number, complete, moment))
            }
            author.fates[number] = .rejected
            owe(name, author, number, .rejected)
        }
        for number in author.parts.keys { if case .gaveUp = author.fates[number] { author.parts[number] = nil } }
        authors[name] = author
    }

    /// A message of a muted author is rejected, unless it repeats one that was applied.
    private mutating func refuse(
        _ number: Int64, of name: String, _ author: inout ModelAuthor, at time: Int64
    ) {
        if case .applied = author.fates[number] { return }
        owe(name, author, number, .rejected)
        // One far below the start is not remembered.
        let isKnown = number >= author.start || time - author.startedAt <= 2_000_000_000
        if author.fates[number] == nil, isKnown { author.fates[number] = .rejected }
    }

    private mutating func receive(_ sent: SentMessage, _ entry: SimulatedLog.Entry) {
        let name = sent.author.text
        guard sent.kind != .garbage else {
            garbage[name, default: 0] += 1
            return
        }
        let time = entry.record.loggedAt.nanoseconds
        var author = authors[name] ?? ModelAuthor()
        defer { authors[name] = author }
        let before = author
        guard author.enter(sent, at: time, head: head) else {
            if !author.isApplied(sent.number, in: sent.session) {
                owe(Owed(author: name, session: sent.session, number: sent.number, kind: .rejected))
            }
            return
        }
        if before.hasCount, author.session != before.session {
            // The feedback names the session that ends.
            for number in before.pending {
                owe(Owed(author: name, session: before.session, number: number, kind: .gaveUp))
            }
        }
        let number = sent.number
        guard !muted.contains(name) else { return refuse(number, of: name, &author, at: time) }
        if number < author.start, author.fates[number] == nil {
            guard time - author.startedAt <= 2_000_000_000 else { return }
            author.fates[number] = .gaveUp(head: author.startHead)
        }
        switch author.fates[number] {
        case .applied, .rejected: break
        case .gaveUp(let since):
            if sent.kind != .draw || board.lastClear(on: sent.page) > since {
                author.fates[number] = .rejected
                owe(name, author, number, .rejected)
            } else {
                author.parts[number, default: [:]][sent.part] = author.parts[number]?[sent.part] ?? entry
                if author.isComplete(number) { apply(number, of: name, &author, entry, isLate: true) }
            }
        case nil:
            author.parts[number, default: [:]][sent.part] = author.parts[number]?[sent.part] ?? entry
            drain(name, &author, entry)
        }
    }

    private mutating func giveUp(_ name: String, _ from: Int64, _ to: Int64, _ decision: SimulatedLog.Entry) {
        guard var author = authors[name], let last = author.pending.last else { return }
        let range = max(from, author.expected)...max(max(from, author.expected), min(to, last))
        guard max(from, author.expected) <= min(to, last) else { return }
        for number in range where author.fates[number] == nil && !author.isComplete(number) {
            if number > reachedBefore[name] ?? .min {
                giveUps.append(
                    GiveUp(
                        author: name, number: number, at: decision.at, sentAt: decision.sentAt,
                        due: author.giveUpDue(number, by: decision.sentAt)))
            }
            author.fates[number] = .gaveUp(head: head)
            owe(name, author, number, .gaveUp)
        }
        drain(name, &author, decision)
        authors[name] = author
    }

    private mutating func drain(_ name: String, _ author: inout ModelAuthor, _ entry: SimulatedLog.Entry) {
        while author.isComplete(author.expected) { apply(author.expected, of: name, &author, entry, isLate: false) }
    }

    private mutating func apply(
        _ number: Int64, of name: String, _ author: inout ModelAuthor, _ entry: SimulatedLog.Entry, isLate: Bool
    ) {
        let parts = (author.parts[number] ?? [:]).sorted { $0.key < $1.key }.compactMap(\.value.sent)
        author.fates[number] = .rejected
        guard let first = parts.first else { return }
        let index = UInt64(head + 1)
        var reference: UInt64?
        switch first.kind {
        case .draw where first.entry == .pointer: break
        case .draw: board.draw(index, by: name, on: first.page)
        case .clear: board.clear(index, on: first.page)
        case .turn: board.turn(to: board.page(first.page))
        case .arrange: board.arrange(first.order)
        case .paper: board.see(board.page(first.page))
        case .remove:
            let removed = board.remove(index, first.indices, by: name, on: first.page)
            guard !removed.isEmpty else { return owe(name, author, number, .rejected) }
        case .undo, .redo:
            reference =
                first.kind == .undo
                ? board.undo(by: name, on: first.page) : board.redo(by: name, on: first.page)
            guard reference != nil else { return owe(name, author, number, .rejected) }
        case .garbage: return
        }
        author.fates[number] = .applied
        owe(name, author, number, .applied(index: index))
        log(first, parts, index, reference, isLate, at: entry)
    }

    private mutating func log(
        _ first: SentMessage, _ parts: [SentMessage], _ index: UInt64, _ reference: UInt64?, _ isLate: Bool,
        at entry: SimulatedLog.Entry
    ) {
        lives[lives.count - 1].operations.append(
            Expected(
                index: index, author: first.author.text, number: first.number, kind: first.kind, reference: reference,
                page: board.page(first.page),
                isLate: isLate, ink: parts.flatMap(\.ink), isLasso: first.entry.isLasso,
                digest: plainDigest(board.visible), epoch: epoch, wasForeseen: foreseen != nil,
                time: first.timeLine == nil ? nil : first.time, timeLine: first.timeLine,
                reach: parts.map(\.reach).max() ?? 0, loggedAt: entry.at))
    }

    private mutating func owe(_ name: String, _ author: ModelAuthor, _ number: Int64, _ kind: Owed.Kind) {
        owe(Owed(author: name, session: author.session, number: number, kind: kind))
    }

    private mutating func owe(_ answer: Owed) { owed.insert(answer) }
}

/// A room's log folded as far as somebody has read it.
struct RoomReading {
    private(set) var room: ModelRoom
    private var through: UInt64 = 0

    init(_ rules: HistoryConfiguration) { room = ModelRoom(rules) }

    /// Folds the records through `last`, from the first one on where more were folded.
    mutating func read(_ log: SimulatedLog, of id: RoomID, through last: UInt64) {
        if through > last { self = RoomReading(room.rules) }
        while through < min(last, log.last) {
            let entry = log.entries[Int(through)]
            if entry.record.room == id { room.take(entry, prefix: log.prefix) }
            through += 1
        }
    }

    /// The life that the room is in; nil between two.
    var life: ModelRoom.Life? { room.lives.last.flatMap { $0.isClosed ? nil : $0 } }
}

/// One author's sequence by the rules of order and loss. It keeps everything and searches it each time.
struct ModelAuthor {
    enum Fate {
        case applied
        case rejected
        case gaveUp(head: Int)

        fileprivate var isApplied: Bool { if case .applied = self { true } else { false } }
    }

    /// The shards of a message by their order.
    typealias Parts = [Int: SimulatedLog.Entry]

    var session: String?
    /// The applied numbers of each earlier session.
    private var earlier: [String: Set<Int64>] = [:]
    var start: Int64 = 0
    var startedAt: Int64 = 0
    var startHead = 0
    var hasCount = false
    var parts: [Int64: Parts] = [:]
    var fates: [Int64: Fate] = [:]
    /// The operations that waited, complete, when their author was muted.
    var muted: [(number: Int64, completeAt: Moment, mutedAt: Moment)] = []

    /// The lowest number that is not settled.
    var expected: Int64 {
        var number = start
        while fates[number] != nil { number += 1 }
        return number
    }

    /// Unsettled numbers with at least one shard.
    var pending: [Int64] { parts.keys.filter { fates[$0] == nil }.sorted() }

    func isComplete(_ number: Int64) -> Bool {
        guard let parts = parts[number], let first = parts.values.first?.sent else { return false }
        return parts.count == first.parts
    }

    /// When an unsettled number is given up: 2 s after the first operation behind it became complete, or 10 s after its
    /// last shard where nothing is behind it. What came since the daemon knew for the last time that it had read the whole
    /// log does not count, nor does it that the author was muted since then.
    /// - Parameter decision: when the decision was sent.
    /// - Returns: nil for never.
    func giveUpDue(_ number: Int64, by decision: Moment) -> Moment? {
        let behind = pending.filter { $0 > number && isComplete($0) }
        let validity = SimulatedReader.levelTime.validity
        let unmuted = muted.filter { $0.number > number && $0.mutedAt + validity >= decision }.map(\.completeAt)
        let first = (behind.compactMap { parts[$0]?.values.map(\.at).max() } + unmuted).min()
        let arrivals = parts[number, default: [:]].values.map(\.at).sorted()
        let last = arrivals.last { $0 + validity < decision } ?? arrivals.first
        return [first.map { $0 + .seconds(2) }, last.map { $0 + .seconds(10) }].compactMap(\.self).min()
    }

    /// - Returns: false for a message of an earlier session.
    mutating func enter(_ sent: SentMessage, at time: Int64, head: Int) -> Bool {
        if let name = sent.session, earlier[name] != nil, name != session { return false }
        if !hasCount || sent.session != nil && sent.session != session { begin(sent, at: time, head: head) }
        return true
    }

    func isApplied(_ number: Int64, in session: String?) -> Bool {
        session.flatMap { earlier[$0] }?.contains(number) ?? false
    }

    private mutating func begin(_ sent: SentMessage, at time: Int64, head: Int) {
        if let name = session { earlier[name] = Set(fates.filter { $0.value.isApplied }.keys) }
        session = sent.session
        if let name = sent.session { earlier[name] = [] }
        (start, startedAt, startHead, hasCount) = (sent.number, time, head, true)
        (parts, fates, muted) = ([:], [:], [])
    }
}
