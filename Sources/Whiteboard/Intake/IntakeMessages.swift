public import StrokeWire

/// One entry of a partition's journal: a message of an author, or a decision, for one room.
public struct JournalRecord: Sendable {
    /// A message of an author, or a decision of the service.
    public enum Content: Sendable {
        /// A message of an author, not yet judged.
        case message(author: AuthorID, session: String?, bytes: [UInt8])
        /// A decision that every replica shares.
        case control(ControlRecord)
    }

    /// The partition that the room belongs to, from 0.
    public let partition: Int
    public let room: RoomID
    public let content: Content
    /// Its sequence number in the partition, counting up. Names the incarnation of a room that starts with it.
    public let sequence: UInt64
    /// The journal's own time of the record: nanoseconds since 1970 by the server's clock for a stream, otherwise the
    /// local monotonic time.
    public let loggedAt: Instant
    /// Where it was logged first, if it was moved to this log; its `loggedAt` is the time then.
    public let origin: LogPlace?

    public init(
        partition: Int, room: RoomID, content: Content, sequence: UInt64, loggedAt: Instant, origin: LogPlace? = nil
    ) {
        (self.partition, self.room, self.content) = (partition, room, content)
        (self.sequence, self.loggedAt, self.origin) = (sequence, loggedAt, origin)
    }

    /// Its place in the log that it was written to, which names an incarnation that starts with it.
    /// - Parameter log: the name of the log that it was read from.
    public func place(in log: String) -> LogPlace { origin ?? LogPlace(log: log, sequence: sequence) }

    /// Bytes that it takes while it waits, about.
    public var cost: Int {
        if case .message(_, _, let bytes) = content { bytes.count + 256 } else { 256 }
    }
}

/// A place in a log. As text it is the incarnation of a room whose first message is there.
public struct LogPlace: Sendable, Hashable, CustomStringConvertible {
    /// The log's name, which no other log has.
    public let log: String
    public let sequence: UInt64

    public init(log: String, sequence: UInt64) { (self.log, self.sequence) = (log, sequence) }

    /// - Returns: nil for a text that no place has.
    public init?(_ text: some StringProtocol) {
        guard let dash = text.lastIndex(of: "-"), let number = UInt64(text[dash...].dropFirst()),
            text[dash...].dropFirst() == "\(number)"
        else { return nil }
        self.init(log: String(text[..<dash]), sequence: number)
    }

    public var description: String { "\(log)-\(sequence)" }

    /// Whether it comes no later than a place in another or the same log. Of two logs the one with the decision is the
    /// later one: records are moved before others are written.
    public func isNoLater(than decision: LogPlace) -> Bool {
        log != decision.log || sequence <= decision.sequence
    }
}

/// A message of an author as the log delivers it.
public struct IncomingMessage: Sendable {
    public let author: AuthorID
    /// The `Ink-Session` header; nil where it is missing or invalid.
    public let session: String?
    public let bytes: [UInt8]
    /// The log's own time of the message.
    public let loggedAt: Instant
    /// Whether it counts against the author's rate; not where the log has it again, all at once, after it had lost its end.
    public let isLimited: Bool

    public init(author: AuthorID, session: String?, bytes: [UInt8], loggedAt: Instant, isLimited: Bool = true) {
        (self.isLimited, self.author) = (isLimited, author)
        self.session = HeaderName.validSession(session)
        (self.bytes, self.loggedAt) = (bytes, loggedAt)
    }
}

/// What the intake has to know of the room.
struct IntakeContext {
    let limits: IntakeLimits
    /// Index of the last operation of the log.
    let head: UInt64
    let shownPage: Int
    let lastClears: LastClears

    /// Index of the last clear of the page that a message concerns, 0 for none.
    func lastClear(for header: StrokeMessage) -> UInt64 { lastClears[header.page ?? shownPage] }
}

/// An operation whose turn has come.
struct ReadyOperation: Sendable {
    let author: AuthorID
    let header: StrokeMessage
    let bytes: [UInt8]
    let isLate: Bool
    /// Whether it was joined from shards.
    let isJoined: Bool

    var number: Int64 { header.number }

    /// Microseconds from its time to its last point, 0 or more.
    var reach: Int64 { header.action == .draw ? GrowingPoints.reach(of: header.points, in: bytes) : 0 }
}

/// What the intake makes of one input.
struct IntakeOutput {
    /// Operations to be applied, in order.
    var ready: [ReadyOperation] = []
    /// Feedback with the session that it is about, nil for a sequence without a name.
    var feedback: [(author: AuthorID, session: String?, feedback: Feedback)] = []
    /// Numbers that are to be given up by a record of the log.
    var giveUps: [(author: AuthorID, numbers: ClosedRange<Int64>)] = []
    var counts = IntakeCounts()

    mutating func tell(_ author: AuthorID, _ session: String?, _ feedback: Feedback) {
        self.feedback.append((author, session, feedback))
    }
}

/// The rejections that depend on the state of a room, not on the message alone.
extension Rejection {
    static let nothingToUndo = Rejection(code: .nothingToUndo, message: "There is no operation that can be undone.")
    static let nothingToRedo = Rejection(code: .nothingToRedo, message: "There is no operation that can be done again.")
    static let nothingToRemove = Rejection(
        code: .nothingToRemove, message: "No entry on the page with one of these indices can be removed.")
    static let boardFull = Rejection(
        code: .tooManyPoints, field: "d", message: "The board holds as many points as it may.")
    static let tooManyLassos = Rejection(
        code: .tooManyPoints, field: "d", message: "The page has \(Board.lassoBound) lassos, as many as it may.")
    static let tooLate = Rejection(code: .tooLate, message: "The operation had been given up before it arrived.")
    static let rateLimited = Rejection(
        code: .rateLimited, message: "The author sends more than a room takes from one author.")
    static let sessionOver = Rejection(code: .sessionOver, message: "The author has begun another session since.")
    static let muted = Rejection(code: .muted, message: "A teacher or operator has muted the author.")
    static let roomFull = Rejection(code: .roomFull, message: "The room has as many authors as it may.")
    static let tooManyRooms = Rejection(code: .roomFull, message: "The service has as many rooms as it may.")
    static let bytesPending = tooManyPending("bytes pending")
    static let emptyStroke = Rejection(
        code: .outOfRange, field: "d", message: "The shards of the stroke hold no point.")

    static func numberTooFarAhead(expected: Int64) -> Rejection {
        Rejection(code: .outOfRange, field: "n", message: "The number lies too far ahead of \(expected), the next.")
    }

    static func tooManyPending(_ what: String) -> Rejection {
        Rejection(code: .tooManyPending, message: "The author has too many \(what).")
    }

    static func shardConflict(field: String, _ message: String) -> Rejection {
        Rejection(code: .shardConflict, field: field, message: message)
    }

    /// The message is no shard, but shards came under its number.
    static func shardsExist(field: String) -> Rejection {
        shardConflict(field: field, "A stroke in shards came under this number.")
    }

    static func tooManyPoints(limit: Int) -> Rejection {
        Rejection(code: .tooManyPoints, field: "d", message: "The stroke has more than \(limit) points.")
    }
}
