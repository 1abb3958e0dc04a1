public import StrokeWire

/// A drawn stroke as boards keep it. Immutable and shared by every board, log and canvas that shows it.
public final class Stroke: Sendable {
    /// The operation's place in the room's log, from 1.
    public let index: UInt64
    public let author: AuthorID
    /// Whether the stroke came after it had been given up.
    public let isLate: Bool
    /// The fields of the message, points left out.
    public let header: StrokeMessage
    /// The whole compact message.
    public let message: PackedMessage

    init(index: UInt64, author: AuthorID, isLate: Bool, header: StrokeMessage, message: PackedMessage) {
        self.index = index
        self.author = author
        self.isLate = isLate
        self.header = header
        self.message = message
    }
}
