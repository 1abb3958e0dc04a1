public import StrokeWire

/// What happens to a student.
public enum StudentEvent: Sendable, Equatable {
    /// The service answered a join. This is the board now; what it has more, of a tail, follows as
    /// ``applied(_:room:digest:)``.
    case joined(room: String, index: UInt64, digest: BoardDigest, visible: Int)
    /// An operation took its place on the board, which now has this digest.
    case applied(ReleasedOperation, room: String, digest: BoardDigest)
    /// Something that is not as it should be. The student mends what can be mended.
    case problem(StudentProblem)
}

/// What can be wrong.
public enum StudentProblem: Sendable, Equatable {
    /// An operation is missing for longer than a moment; asked for again.
    case gap(after: UInt64)
    /// Operation, mark or reply and board do not agree; asked for the board.
    case divergence(String)
    /// An operation came again under its index, with other content.
    case conflict(index: UInt64)
    /// A message could not be understood.
    case malformed(String)
    /// A request to join brought no board; asked again.
    case joinFailed(JoinFailure)
    /// More came than could wait for its turn; dropped, and asked for again.
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
        case .overflow: "too much came out of turn and was dropped"
        }
    }
}

/// Why a request to join brought no board.
public enum JoinFailure: Sendable, Equatable, CustomStringConvertible {
    /// Nobody answered, and what NATS says of it.
    case unanswered(String)
    /// The service said no, or something that cannot be read.
    case refused(String)

    /// What was said, for a person.
    public var description: String {
        switch self {
        case .unanswered(let why), .refused(let why): why
        }
    }
}

/// What the input and output around a ``StudentSession`` has to do.
public enum StudentAction: Sendable, Equatable {
    /// Request a join, and give the answer back with this ticket.
    case join(JoinRequest, ticket: Int)
    /// Tell whoever looks at the board.
    case tell(StudentEvent)
}
