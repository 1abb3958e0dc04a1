public import StrokeWire

/// A clear as histories keep it where clears can be undone.
public struct Clear: Sendable {
    /// The operation's place in the room's log, from 1.
    public let index: UInt64
    public let author: AuthorID
    /// The compact message.
    public let message: [UInt8]
}
