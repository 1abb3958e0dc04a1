/// A decision of a room's owner that every replica has to share. It takes effect where it stands in the room's log.
public enum ControlRecord: Sendable, Hashable {
    /// Operations `from` … `to` of an author, both included, are no longer waited for.
    case gaveUp(author: AuthorID, from: Int64, to: Int64)
    /// A new session of the video encoder, with its number.
    case epoch(Int64)
    /// The room's life ends; the next message begins another.
    case close
}
