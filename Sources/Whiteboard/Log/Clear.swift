public import StrokeWire

/// A clear as histories keep it where clears can be undone. Immutable and shared.
public final class Clear: Sendable {
    /// The operation's place in the room's log, from 1.
    public let index: UInt64
    public let author: AuthorID
    /// The compact message.
    public let message: [UInt8]

    init(index: UInt64, author: AuthorID, message: [UInt8]) {
        self.index = index
        self.author = author
        self.message = message
    }
}
