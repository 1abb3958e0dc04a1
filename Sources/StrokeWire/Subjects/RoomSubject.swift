/// What a subject of a room is for.
public enum RoomSubject: Hashable, Sendable {
    /// Stroke messages of an author.
    case input(AuthorID)
    /// What the service tells an author.
    case feedback(AuthorID)
    /// Samples of a cohort's video clock.
    case clock(CohortName)
    /// Operations released to a cohort.
    case out(CohortName)
    /// Where a cohort stands.
    case mark(CohortName)
    /// All operations as soon as they are applied.
    case head
    /// Requests to catch up with a cohort.
    case join(CohortName)
    /// Requests for a picture of a cohort's board.
    case image(CohortName)
    /// Decisions that every replica shares.
    case control
    /// Requests for the state of the room.
    case info
}

extension RoomSubject: CustomStringConvertible {
    /// What follows the room's address and a full stop.
    public var description: String {
        switch self {
        case .input(let author): "in.\(author)"
        case .feedback(let author): "feedback.\(author)"
        case .clock(let cohort): "clock.\(cohort)"
        case .out(let cohort): "out.\(cohort)"
        case .mark(let cohort): "mark.\(cohort)"
        case .head: "head"
        case .join(let cohort): "join.\(cohort)"
        case .image(let cohort): "image.\(cohort)"
        case .control: "ctl"
        case .info: "info"
        }
    }
}

extension RoomAddress {
    /// The full subject, such as `ink.0.lesson-7.in.teacher`.
    public func subject(_ subject: RoomSubject) -> String { "\(self).\(subject)" }
}
