public import StrokeWire
public import Whiteboard

/// A student's board: the result of all operations up to its index, with the incarnation of the room.
///
/// A value; use it from one thread at a time. ``FollowedBoard`` has the bounds of its memory.
public struct StudentBoard: Sendable {
    /// An operation that contradicts the board: student and service disagree.
    public typealias Divergence = FollowedBoard.Divergence

    /// Incarnation of the room; empty for a room without operations.
    public internal(set) var room = ""
    private var followed: FollowedBoard

    /// The board of a room without operations.
    /// - Parameter weightLimit: as ``FollowedBoard/init(weightLimit:)`` has it.
    public init(weightLimit: Int = FollowedBoard.greatestWeight) {
        followed = FollowedBoard(weightLimit: weightLimit)
    }

    /// The board of a join reply.
    /// - Throws: as ``FollowedBoard/init(_:weightLimit:)``.
    public init(_ reply: JoinReply, weightLimit: Int = FollowedBoard.greatestWeight) throws(Divergence) {
        followed = try FollowedBoard(reply, weightLimit: weightLimit)
        room = reply.room
    }

    /// Index of the last applied operation; 0 for none.
    public var index: UInt64 { followed.index }

    /// Which pages there are, in which order, and which one is shown.
    public var pages: BoardPages { followed.board.pages }

    /// Width and height in board units; 1024 by 768 until the first stroke has decided it.
    public var size: BoardSize { followed.board.size }

    /// Digest of the visible strokes of all pages.
    public var digest: BoardDigest { followed.digest }

    /// The visible strokes of all pages, bottom to top.
    public var visible: VisibleStrokes { followed.board.visible }

    /// Bytes of a reply that brings the board, or more.
    var byteEstimate: Int { followed.board.byteEstimate }

    /// Number of visible strokes of all pages. Constant time.
    public var visibleCount: Int { followed.board.visibleCount }

    /// The visible strokes of a page, bottom to top.
    public func visible(on page: Int) -> VisibleStrokes { followed.board.visible(on: page) }

    /// Those of some entries of a page that are visible and an author's.
    public func entries(_ indices: [UInt64], of author: AuthorID, on page: Int) -> [UInt64] {
        let visible = visible(on: page)
        return indices.filter { visible.stroke(at: $0)?.author == author }
    }

    /// Number of strokes and clears of a page that a redo could bring back, as far as a client knows.
    public func undoneCount(on page: Int) -> Int { followed.board.undoneCount(on: page) }

    /// Whether a page was cleared and an undo could take that back, as far as a client knows: only where the service offers
    /// ``BoardFeatures/undoableClears``.
    public func isCleared(on page: Int) -> Bool { followed.board.hasUndoableClear(on: page) }

    /// Whether an undo could bring back what was removed from a page since it was last cleared, as far as a client knows.
    public func hasRemoved(on page: Int) -> Bool { followed.board.hasUndoableRemoval(on: page) }

    /// Applies the next operation.
    ///
    /// - Throws: when the index is not the next one, the message cannot be decoded, the reference is unknown or the digest
    ///   differs. A join must replace the board then.
    /// - Returns: what changed.
    @discardableResult
    public mutating func apply(_ operation: ReleasedOperation) throws(Divergence) -> FollowedBoard.Change {
        let change = try followed.apply(
            operation.index, by: operation.author, reference: operation.reference, page: operation.page,
            isLate: operation.isLate, message: operation.bytes)
        guard let expected = operation.digest, expected != digest else { return change }
        throw Divergence("digest \(digest) after operation \(index), the service has \(expected)")
    }
}
