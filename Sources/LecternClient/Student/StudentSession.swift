public import StrokeWire

/// Follows one cohort of a room: joins, applies what is released, notices what is missing or wrong, joins again.
///
/// No clock, no connection: time is passed in, measured from the start, and what is to be done comes back as actions. The rules
/// are those of the protocol's joining procedure: buffer, join, drop what is known, require the next index.
public struct StudentSession: Sendable {
    enum Phase: Sendable, Equatable {
        case offline
        /// Waits for the answer to a request made at `since`.
        case joining(JoinRequest, ticket: Int, since: Duration)
        case live
        /// Will ask again then.
        case pausing(until: Duration)
    }

    /// How long a message may be overtaken by others before it counts as missing.
    static let patience = Duration.milliseconds(250)
    /// Patience doubles with each join that brings nothing, up to this.
    static let longestPatience = Duration.seconds(4)

    /// The board as the cohort sees it.
    public internal(set) var board = StudentBoard()
    /// What was seen so far.
    public internal(set) var report = StudentReport()
    var phase = Phase.offline
    /// Whether the board is one that the service gave, not just the empty one that a student begins with.
    var hasBoard = false
    /// Whether the next join asks for the whole board.
    var needsBoard = false
    var waiting = WaitingOperations()
    var memory = ReleaseMemory()
    /// Since when the next operation is known to be missing, and which one that is.
    var gap: (after: UInt64, since: Duration)?
    /// The greatest index of this incarnation that a mark told of.
    var markedIndex: UInt64 = 0
    var fruitlessJoins = 0
    /// The incarnation of the last mark that came while the board was not known.
    var markedRoom: String?
    private var tickets = 0

    /// A student who has not joined yet.
    public init() {}

    /// Digest of the strokes that the student sees.
    public var digest: BoardDigest { board.digest }

    /// The connection stands, for the first time or again. Subscriptions must be in force already.
    public mutating func connected(at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        requestJoin(at: now, &actions)
        return actions
    }

    /// The connection is lost; nothing is asked until it is back.
    public mutating func disconnected() {
        phase = .offline
    }

    /// A message on the cohort's `.out`.
    public mutating func receive(_ message: ReleasedMessage, at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        adoptIncarnation(of: message)
        if !memory.agrees(with: message) {
            report.conflicts += 1
            actions.append(.tell(.problem(.conflict(index: message.index))))
        }
        if hasBoard, message.room == board.room, message.index <= board.index {
            report.repeats += 1
            return actions
        }
        if waiting.add(message, at: now) {
            proceed(at: now, &actions)
        } else {
            report.overflows += 1
            actions.append(.tell(.problem(.overflow)))
            rejoin(at: now, &actions)
        }
        return actions
    }

    /// A message on the cohort's `.mark`.
    public mutating func receive(_ mark: Mark, at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        guard phase == .live else {
            markedRoom = mark.room
            return actions
        }
        if mark.room != board.room {
            if board.room.isEmpty, mark.index == 0 { return actions }
            needsBoard = true
            rejoin(at: now, &actions)
        } else if mark.index > board.index {
            markedIndex = max(markedIndex, mark.index)
            noticeGap(at: now)
        } else if mark.index == board.index, mark.digest != board.digest {
            diverged("digest \(board.digest) at \(board.index), the mark says \(mark.digest)", at: now, &actions)
        }
        return actions
    }

    /// A message that could not be understood came on one of the subjects.
    public mutating func receiveMalformed(_ why: String) -> [StudentAction] {
        report.malformed += 1
        return [.tell(.problem(.malformed(why)))]
    }

    /// Something of what came was lost before it was read: messages, or news of the connection. A join brings it back.
    public mutating func inputLost(at now: Duration) -> [StudentAction] {
        report.overflows += 1
        var actions = [StudentAction.tell(.problem(.overflow))]
        requestJoin(at: now, &actions)
        return actions
    }

    /// When ``wake(at:)`` is to be called next, if nothing else happens before; nil: not at all.
    public var deadline: Duration? {
        switch phase {
        case .offline, .joining: nil
        case .live: gap.map { $0.since + currentPatience }
        case .pausing(let until): until
        }
    }

    /// Time has passed.
    public mutating func wake(at now: Duration) -> [StudentAction] {
        var actions: [StudentAction] = []
        guard let deadline, now >= deadline else { return actions }
        if case .live = phase {
            report.gaps += 1
            actions.append(.tell(.problem(.gap(after: board.index))))
            report.rejoins += 1
            fruitlessJoins += 1
        }
        requestJoin(at: now, &actions)
        return actions
    }

    var currentPatience: Duration {
        min(Self.patience * (1 << min(fruitlessJoins, 8)), Self.longestPatience)
    }

    /// Asks for the tail where the board is good for that, else for the board.
    mutating func requestJoin(at now: Duration, _ actions: inout [StudentAction]) {
        tickets += 1
        let keeps = hasBoard && !needsBoard && !board.room.isEmpty
        let request = keeps ? JoinRequest(incarnation: board.room, have: board.index) : JoinRequest()
        phase = .joining(request, ticket: tickets, since: now)
        markedRoom = nil
        gap = nil
        actions.append(.join(request, ticket: tickets))
    }

    /// Joins again because something is wrong: at once, or later when that has not helped lately.
    mutating func rejoin(at now: Duration, _ actions: inout [StudentAction]) {
        guard phase == .live else { return }
        report.rejoins += 1
        if fruitlessJoins == 0 {
            requestJoin(at: now, &actions)
        } else {
            phase = .pausing(until: now + currentPatience)
        }
        fruitlessJoins += 1
    }

    /// Whoever joined a room that nobody had written to takes the first operation of any incarnation.
    private mutating func adoptIncarnation(of message: ReleasedMessage) {
        if phase == .live, hasBoard, board.room.isEmpty { board.room = message.room }
    }
}
