/// One compact message, all but its points: those stay in the bytes that it was decoded from.
///
/// Every field holds what was sent or, where the key was absent, its default. A value from
/// ``init(decoding:limits:)`` is within the ranges given here; one made by hand is not checked.
public struct StrokeMessage: Sendable, Equatable {
    /// Number of the operation in its author's count, 0 … 2⁵³−1; all shards of a stroke share it. `n` on the wire.
    public var number: Int64
    /// Palette index or `0xRRGGBB`, by the ``ColourSpace`` in force. `c`.
    public var colour: UInt32
    /// Line width in the sender's board units, 0 < width ≤ 512. `l`.
    public var width: Double
    /// Number of shards the points were cut into, as sent; 0 and 1 both mean "not sharded". `s`.
    public var shardCount: Int
    /// Which shard this is, 0 … `shardCount`; senders number from 0 or from 1. `o`.
    public var shardOrder: Int
    /// What is drawn. `e`.
    public var element: Element
    /// What is done. `a`.
    public var action: Action
    /// Media time in milliseconds, nil where none was sent. `t`.
    public var time: Int64?
    /// Width of the sender's board, 1 … 16384, nil where none was sent. `w`.
    public var boardWidth: Double?
    /// Height of the sender's board, 1 … 16384, nil where none was sent. `h`.
    public var boardHeight: Double?
    /// Where the points lie in the message; empty for undo, redo and clear. `d`.
    public var points: PointArray

    /// Whether the message carries only a part of its stroke.
    public var isSharded: Bool { shardCount >= 2 }

    public init(
        number: Int64, colour: UInt32 = 0, width: Double = 1, shardCount: Int = 0, shardOrder: Int = 0,
        element: Element = .freehand, action: Action = .draw, time: Int64? = nil, boardWidth: Double? = nil,
        boardHeight: Double? = nil, points: PointArray = .empty
    ) {
        self.number = number
        self.colour = colour
        self.width = width
        self.shardCount = shardCount
        self.shardOrder = shardOrder
        self.element = element
        self.action = action
        self.time = time
        self.boardWidth = boardWidth
        self.boardHeight = boardHeight
        self.points = points
    }
}
