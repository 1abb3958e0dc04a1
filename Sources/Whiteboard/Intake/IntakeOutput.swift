public import StrokeWire

/// A message of an author as the log delivers it.
public struct IncomingMessage: Sendable {
    public let author: AuthorID
    /// The `Ink-Session` header, where there was one.
    public let session: String?
    public let bytes: [UInt8]
    /// The log's own time of the message.
    public let loggedAt: Instant

    public init(author: AuthorID, session: String?, bytes: [UInt8], loggedAt: Instant) {
        self.author = author
        self.session = session
        self.bytes = bytes
        self.loggedAt = loggedAt
    }
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
}

/// What the intake has to say after an input.
struct IntakeOutput {
    var ready: [ReadyOperation] = []
    var feedback: [(author: AuthorID, feedback: Feedback)] = []
    var decisions: [ControlRecord] = []
    var counts = IntakeCounts()
}

/// What the room knows that the intake has to judge by.
struct IntakeContext {
    let limits: IntakeLimits
    /// Index of the last operation of the log.
    let head: UInt64
    /// Index of the last clear, 0 for none.
    let lastClear: UInt64
}
