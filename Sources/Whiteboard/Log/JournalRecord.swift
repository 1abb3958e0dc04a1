public import StrokeWire

/// One entry of a partition's journal: what a room's state is made from.
public struct JournalRecord: Sendable {
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
    /// Its place in the partition, counting up; it names the life of a room that begins with it.
    public let sequence: UInt64
    /// The journal's own time of the record: of a stream nanoseconds since 1970 by the server's clock, without one the
    /// local monotonic time.
    public let loggedAt: Instant

    public init(partition: Int, room: RoomID, content: Content, sequence: UInt64, loggedAt: Instant) {
        self.partition = partition
        self.room = room
        self.content = content
        self.sequence = sequence
        self.loggedAt = loggedAt
    }

    /// Bytes that it occupies while it waits, about.
    public var cost: Int {
        if case .message(_, _, let bytes) = content { bytes.count + 256 } else { 256 }
    }
}
