public import StrokeWire

// Whom a student follows.
@_exported public import enum StrokeWire.RoomFeed

/// An event of a student's session.
public enum StudentEvent: Sendable, Equatable {
    /// The service replied to a join request, and this is the board now. The operations of a tail follow as
    /// ``applied(_:room:digest:)``.
    case joined(room: String, index: UInt64, digest: BoardDigest, visible: Int)
    /// An operation was applied to the board, which now has this digest.
    case applied(ReleasedOperation, room: String, digest: BoardDigest)
    /// Points of a stroke being drawn, or the word that it is given up; only for a ``Student`` with `wetInk`. The
    /// operation replaces them.
    case wet(WetRelease)
    /// A problem, from which the student recovers by a join where it can.
    case problem(StudentProblem)
}

/// A problem of a student's session.
public enum StudentProblem: Sendable, Equatable {
    /// An operation is missing for too long; the student joins again.
    case gap(after: UInt64)
    /// An operation, mark or reply contradicts the board; the student joins for a new board.
    case divergence(String)
    /// An operation came again with the same index and other content.
    case conflict(index: UInt64)
    /// A message could not be decoded.
    case malformed(String)
    /// A join request failed; the student tries again.
    case joinFailed(JoinFailure)
    /// The reorder buffer or the event queue was full and lost operations; the student joins again.
    case overflow
}

extension StudentProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .gap(let index): "operation \(index &+ 1) is missing"
        case .divergence(let why): "diverged: \(why)"
        case .conflict(let index): "operation \(index) came again with other content"
        case .malformed(let why): "malformed: \(why)"
        case .joinFailed(let why): "join failed: \(why)"
        case .overflow: "too many operations were waiting, and some were dropped"
        }
    }
}

/// Why a join request failed.
public enum JoinFailure: Sendable, Equatable, CustomStringConvertible {
    /// No reply came, with the error of NATS.
    case unanswered(String)
    /// The service refused the request, or its reply cannot be decoded.
    case refused(String)

    /// The message of NATS or the service.
    public var description: String {
        switch self {
        case .unanswered(let why), .refused(let why): why
        }
    }
}

/// Statistics of a student's session.
public struct StudentReport: Sendable, Equatable {
    /// Operations applied one by one, from the feed or a tail.
    public internal(set) var applied = 0
    /// Of these, the late ones.
    public internal(set) var late = 0
    /// Messages dropped because the board has their operation.
    public internal(set) var repeats = 0
    /// Number of gaps that lasted too long.
    public internal(set) var gaps = 0
    /// Successful joins.
    public internal(set) var joins = 0
    /// Join requests other than the first and those after a reconnect.
    public internal(set) var rejoins = 0
    /// Join requests without a reply or refused.
    public internal(set) var failedJoins = 0
    /// Operations, marks and replies that contradict the board.
    public internal(set) var divergences = 0
    /// Repeats with other content.
    public internal(set) var conflicts = 0
    /// Messages that could not be decoded.
    public internal(set) var malformed = 0
    /// Number of times that operations were lost to a full buffer or queue.
    public internal(set) var overflows = 0

    /// Whether the service kept the protocol: no divergence, conflict or malformed message. Losses are allowed.
    public var isSound: Bool { divergences == 0 && conflicts == 0 && malformed == 0 }
}
