/// What brings a joining student to where the cohort is, as a client reads it.
public struct JoinReply: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
        /// The operations after those that the student has.
        case tail([JoinedOperation])
        /// The whole board. `visible` runs bottom to top, the last of `redo` is the next to be done again, and
        /// `cleared` holds what undoable clears took away, oldest first.
        case board(
            width: Double, height: Double, visible: [JoinedOperation], redo: [JoinedOperation],
            cleared: [ClearedBoard])
    }

    /// Incarnation of the room, empty where nobody has written to it.
    public var room: String
    /// The cohort's cursor: index of the last operation released to it.
    public var index: UInt64
    /// Digest of the board at `index`.
    public var digest: BoardDigest
    public var palette: Palette
    public var content: Content

    public init(room: String, index: UInt64, digest: BoardDigest, palette: Palette, content: Content) {
        self.room = room
        self.index = index
        self.digest = digest
        self.palette = palette
        self.content = content
    }
}
