import StrokeWire
import TestSupport
import Whiteboard

/// A room's log folded by the rules as they read, apart from the product: what has to come out.
struct ModelRoom {
    /// An operation that has to be there.
    struct Expected {
        let applied: ModelAuthors.Applied
        /// The encoder's session that it was logged in, by its place among those of the life.
        var epoch: Int
        /// Whether it was in a session that the video had not reached, by rule 18.
        var wasForeseen = false
        let loggedAt: Moment

        var index: UInt64 { applied.index }
        var author: String { applied.sent.author.text }
        var number: Int64 { applied.sent.number }
        var kind: SentMessage.Kind { applied.sent.kind }
        /// The encoder's session whose time line its time is on; nil for none that is of use.
        var timeLine: Int64? { applied.sent.timeLine }
        /// Its media time, where that is of use.
        var time: Int64? { timeLine == nil ? nil : applied.sent.time }

        var summary: String {
            let late = applied.isLate ? " late" : ""
            return "\(index) \(author) \(kind) \(number)\(applied.reference.map { " of \($0)" } ?? "")\(late)"
        }
    }

    /// One life of the room.
    struct Life {
        let incarnation: String
        var operations: [Expected] = []
        var board = ModelPages()
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
                    let end = time + (isProgressive ? operation.applied.reach : 0)
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
    private var authors: ModelAuthors
    /// Authors of whom nothing is taken in this life.
    var muted: Set<String> { authors.muted }
    /// The sessions of the encoder that the room has heard of in this life.
    private var sessions: [Int64] = []
    /// The first operation of the session that the video has not reached, and the last one that begins no other.
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
        authors = ModelAuthors(rules)
    }

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
        case .control(.mute(let author)):
            if isLiving { note(authors.mute(author.text, at: entry.at.instant), entry) }
        case .control(.unmute(let author)): if isLiving { authors.unmute(author.text) }
        // Simulated logs lose no end.
        case .control(.restore): break
        case .message:
            guard let sent = entry.sent else { return }
            if !isLiving {
                lives.append(
                    Life(incarnation: entry.record.place(in: prefix).description, namesSessions: namesSessions))
                isLiving = true
                began = entry.record.sequence
                owedBefore = owed
            }
            if sent.kind == .garbage {
                garbage[sent.author.text, default: 0] += 1
            } else {
                note(authors.receive(sent, loggedAt: entry.record.loggedAt, at: entry.at.instant), entry)
            }
        }
        if isLiving, authors.head == 0 { forgetRefused() }
        guard isLiving, !lives.isEmpty else { return }
        lives[lives.count - 1].sessions = sessions
        lives[lives.count - 1].board = authors.board
    }

    /// The place of the session that operations are logged in. What was logged before any was named belongs to the first.
    private var epoch: Int { max(0, sessions.count - 1) + (foreseen == nil ? 0 : 1) }

    private mutating func begin(_ session: Int64) {
        // The first name is that of the session that is there.
        if !sessions.isEmpty { (foreseen, lastForeseen) = (nil, authors.head) }
        sessions.append(session)
    }

    private mutating func foresee(from first: UInt64) {
        guard foreseen == nil, first > lastForeseen, first <= authors.head,
            lives[lives.count - 1].operations[Int(first - 1)].epoch == epoch
        else { return }
        (foreseen, lastForeseen) = (first, first)
        moveForeseen(by: 1)
    }

    /// Moves operations to the session that was foreseen, or back where it has not come.
    private mutating func moveForeseen(by step: Int) {
        guard let first = foreseen else { return }
        let from = step > 0 ? epoch - 1 : epoch
        for place in Int(first - 1)..<Int(authors.head) where lives[lives.count - 1].operations[place].epoch == from {
            lives[lives.count - 1].operations[place].epoch += step
            lives[lives.count - 1].operations[place].wasForeseen = true
        }
        if step < 0 { foreseen = nil }
    }

    /// Operations that are neither applied, rejected nor given up.
    var undecided: [String] {
        authors.authors.flatMap { name, author in author.pending.map { "\(name) \($0)" } }.sorted()
    }

    /// Authors of a room that is going to be refused get no feedback until the end of its life, and then none about
    /// sessions that are over.
    private mutating func forgetEarlierSessions() {
        owed = owed.filter { answer in
            guard case .applied = answer.kind, let author = authors.authors[answer.author] else { return true }
            return author.session == answer.session || owedBefore.contains(answer)
        }
    }

    /// Until a room has an operation, what was rejected or given up leaves no trace.
    private mutating func forgetRefused() {
        noteReached()
        authors.forgetRefused()
        guard authors.authors.isEmpty, muted.isEmpty else { return }
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
        let applied = Dictionary(grouping: life.operations, by: \.author).mapValues { $0.map(\.number) }
        for (name, author) in authors.authors {
            for number in author.pending + (applied[name] ?? []) {
                owed.insert(Owed(author: name, session: author.session, number: number, kind: .rejected))
            }
        }
        close()
    }

    private mutating func noteReached() {
        for (name, author) in authors.authors {
            reachedBefore[name] = max(reachedBefore[name] ?? .min, author.parts.keys.max() ?? .min)
        }
    }

    private mutating func close() {
        noteReached()
        if isLiving { lives[lives.count - 1].isClosed = true }
        isLiving = false
        forgetLife()
    }

    private mutating func forgetLife() {
        (authors, sessions, foreseen, lastForeseen) = (ModelAuthors(rules), [], nil, 0)
    }

    private mutating func giveUp(_ name: String, _ from: Int64, _ to: Int64, _ decision: SimulatedLog.Entry) {
        guard from <= to, let author = authors.authors[name] else { return }
        let numbers = authors.missing(from...to, of: name)
        for number in numbers where number > reachedBefore[name] ?? .min {
            let due = author.giveUpDue(number, by: decision.sentAt)
            giveUps.append(GiveUp(author: name, number: number, at: decision.at, sentAt: decision.sentAt, due: due))
        }
        note(authors.giveUp(numbers, of: name), decision)
    }

    /// Notes what a record of the log leads to.
    private mutating func note(_ answers: [ModelAuthors.Answer], _ entry: SimulatedLog.Entry) {
        for answer in answers {
            let kind: Owed.Kind
            switch answer.outcome {
            case .rejected: kind = .rejected
            case .gaveUp: kind = .gaveUp
            case .applied(let applied):
                kind = .applied(index: applied.index)
                lives[lives.count - 1].operations.append(
                    Expected(applied: applied, epoch: epoch, wasForeseen: foreseen != nil, loggedAt: entry.at))
            }
            owed.insert(Owed(author: answer.author, session: answer.session, number: answer.number, kind: kind))
        }
    }
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
            if entry.record.room == id, !log.isLost(entry.record.sequence) { room.take(entry, prefix: log.prefix) }
            through += 1
        }
    }

    /// The life that the room is in; nil between two.
    var life: ModelRoom.Life? { room.lives.last.flatMap { $0.isClosed ? nil : $0 } }
}

extension ModelAuthor {
    /// When an unsettled number is given up: 2 s after the first operation behind it became complete, or 10 s after its
    /// last shard where nothing is behind it. What came since the daemon knew for the last time that it had read the whole
    /// log does not count, nor does it that the author was muted since then.
    /// - Parameter decision: when the decision was sent.
    /// - Returns: nil for never.
    fileprivate func giveUpDue(_ number: Int64, by decision: Moment) -> Moment? {
        let validity = SimulatedReader.levelTime.validity
        let behind = pending.filter { $0 > number }.compactMap { completeAt($0) }
        let unmuted = muted.filter { $0.number > number && $0.mutedAt + validity >= decision.instant }.map(\.completeAt)
        let arrivals = parts[number, default: [:]].values.map(\.at).sorted()
        let last = arrivals.last { $0 + validity < decision.instant } ?? arrivals.first
        let dues = [(behind + unmuted).min().map { $0 + .seconds(2) }, last.map { $0 + .seconds(10) }]
        return dues.compactMap(\.self).min().map { Moment(nanoseconds: $0.nanoseconds) }
    }
}
