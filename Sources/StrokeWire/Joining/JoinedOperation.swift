/// An operation as it stands in a reply to a student who joins.
public struct JoinedOperation: Sendable, Hashable {
    /// The operation's place in the room.
    public var index: UInt64
    public var author: AuthorID
    /// Of an undo or redo: the operation that it moved.
    public var reference: UInt64?
    /// Whether the operation came, or was released, late.
    public var isLate: Bool
    /// The compact message, byte for byte.
    public var message: ArraySlice<UInt8>

    public init(
        index: UInt64, author: AuthorID, reference: UInt64? = nil, isLate: Bool = false, message: ArraySlice<UInt8>
    ) {
        self.index = index
        self.author = author
        self.reference = reference
        self.isLate = isLate
        self.message = message
    }
}

/// What an undoable clear took off the board, for those who join and may see it undone.
public struct ClearedBoard: Sendable, Hashable {
    /// Index of the clear.
    public var index: UInt64
    /// The strokes that it took away, bottom to top.
    public var visible: [JoinedOperation]

    public init(index: UInt64, visible: [JoinedOperation]) {
        self.index = index
        self.visible = visible
    }
}
