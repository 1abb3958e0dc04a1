public import StrokeWire
public import Whiteboard

/// What an event of a gateway's stream carries.
public enum PlayoutEvent: Sendable, Equatable {
    /// A join reply with a board.
    case board
    /// A released operation, joined from its shards.
    case operation
    /// Points of a stroke being drawn.
    case wet
    /// The position of the cohort.
    case mark

    /// - Parameter name: the event's `event` field; nil for one of another kind, which readers ignore.
    public init?(name: String) {
        switch name {
        case "board": self = .board
        case "op": self = .operation
        case "wet": self = .wet
        case "mark": self = .mark
        default: return nil
        }
    }
}

/// What the caller of a ``BoardPlayout`` has to do, in order.
public enum PlayoutAction: Sendable {
    /// The board is another one: show all of it.
    case joined
    /// The room's incarnation is known, or another one; empty while nobody has written to the room.
    case incarnation(String)
    /// The player has reached an operation, which is on the board now.
    /// - Parameter wasWet: whether its stroke was shown while it was drawn.
    case applied(ReleasedOperation, FollowedBoard.Change, wasWet: Bool)
    /// The player has reached a stroke of the joined board.
    case unveiled(Stroke)
    /// So many points of a stroke being drawn are shown.
    case grew(author: AuthorID, number: Int64, points: Int)
    /// The pictures of strokes being drawn are other than before: see ``BoardPlayout/wetInk``.
    case wetInkChanged
    /// Other pointers are seen than before, or at other places: see ``BoardPlayout/pointers``.
    case pointersChanged
    /// An author has said what to be called.
    case named(AuthorID, String)
    /// How long after the player's picture of it ink is drawn now.
    /// - Parameter isCounted: false for what the player has jumped over, which is not late.
    case skew(Duration, isCounted: Bool)
    /// Whether the cohort's operations wait for a video.
    case gate(GateState)
    /// The media time of the cohort's video at the service; nil where it has none.
    case clock(MediaTime?)
    /// At the head: a checkpoint holds an author's operations so far.
    case covered(Mark.Covered, room: String)
    /// The board is not the room's: read the stream anew, without the id of its last event. The text is one sentence.
    case restart(String)
}
