public import StrokeWire
public import Whiteboard

/// One entry of a partition's journal: what a room's state is made from.
public struct JournalRecord: Sendable {
    public enum Content: Sendable {
        /// A message of an author, not yet judged.
        case message(author: AuthorID, session: String?, bytes: [UInt8])
        /// A decision that every replica shares.
        case control(ControlRecord)
    }

    public let room: RoomID
    public let content: Content
    /// Its place in the partition, counting up; it names the life of a room that begins with it.
    public let sequence: UInt64
    /// The journal's own time of the record.
    public let loggedAt: Instant

    public init(room: RoomID, content: Content, sequence: UInt64, loggedAt: Instant) {
        self.room = room
        self.content = content
        self.sequence = sequence
        self.loggedAt = loggedAt
    }
}
