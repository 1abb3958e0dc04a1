public import StrokeWire

/// The operations of a room that a client follows.
public enum RoomFeed: Sendable, Hashable {
    /// The operations released to a cohort, in step with its video.
    case cohort(CohortName)
    /// All operations as soon as they are applied, for teachers and monitors. The head has marks when a checkpoint was stored,
    /// so the loss of the last operation is noticed with that or with the next one.
    case head

    /// Subject of the operations.
    package var operations: RoomSubject {
        switch self {
        case .cohort(let cohort): .out(cohort)
        case .head: .head
        }
    }

    /// Subject of join requests.
    package var join: RoomSubject {
        switch self {
        case .cohort(let cohort): .join(cohort)
        case .head: .joinHead
        }
    }

    /// Subject of marks: the index and digest reached.
    package var marks: RoomSubject {
        switch self {
        case .cohort(let cohort): .mark(cohort)
        case .head: .markHead
        }
    }

    /// Subject of the points of strokes being drawn.
    package var wet: RoomSubject {
        switch self {
        case .cohort(let cohort): .wet(cohort)
        case .head: .wetHead
        }
    }
}
