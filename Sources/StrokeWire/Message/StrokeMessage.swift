/// One stroke message without its points, which stay in the bytes that it was decoded from.
///
/// Every field holds the value sent or, if the key was absent, its default. A value from ``init(decoding:limits:)`` is
/// within the ranges given here; one made by hand is not checked.
public struct StrokeMessage: Sendable, Equatable {
    /// Number of the operation in its author's sequence, 0 … 2⁵³−1; all shards of a stroke share it. `n` on the wire.
    public var number: Int64
    /// Palette index or `0xRRGGBB`, by the ``ColourSpace`` in force. `c`.
    public var colour: UInt32
    /// Line width in the sender's board units, 0 < width ≤ 512. `l`.
    public var width: Double
    /// Number of shards the points were cut into, as sent; 0 and 1 both mean "not sharded". `s`.
    public var shardCount: Int
    /// Which shard this is, 0 … `shardCount`; senders number from 0 or from 1. `o`.
    public var shardOrder: Int
    /// What the operation draws. `e`.
    public var element: Element
    /// What the operation does. `a`.
    public var action: Action
    /// Media time in milliseconds, nil if not sent. `t`.
    public var time: Int64?
    /// Width of the sender's board, 1 … 16384, nil if not sent. `w`.
    public var boardWidth: Double?
    /// Height of the sender's board, 1 … 16384, nil if not sent. `h`.
    public var boardHeight: Double?
    /// The page that it concerns, 0 … 999; nil for the one that is shown where the operation stands in the log. `g`.
    public var page: Int?
    /// What it carries besides; nil for strokes, undo, redo, clear and turn.
    public var content: MessageContent?
    /// Place of the points in the message's bytes; empty for all actions but draw. `d`.
    public var points: PointArray

    /// Of an arrange: the pages in their new order.
    public var order: [Int]? {
        if case .order(let order)? = content { order } else { nil }
    }

    /// Of a removal: the indices of the entries that go.
    public var indices: [UInt64]? {
        if case .indices(let indices)? = content { indices } else { nil }
    }

    /// Of a text: what it says.
    public var text: String? {
        if case .text(let text)? = content { text } else { nil }
    }

    /// The greatest number of entries that a removal names.
    public static let removalBound = 256

    /// Of a paper: what lies under the ink from then on.
    public var paper: Paper? {
        if case .paper(let paper)? = content { paper } else { nil }
    }

    /// Whether the message carries only a part of its stroke.
    public var isSharded: Bool { shardCount >= 2 }

    public init(
        number: Int64, colour: UInt32 = 0, width: Double = 1, shardCount: Int = 0, shardOrder: Int = 0,
        element: Element = .freehand, action: Action = .draw, time: Int64? = nil, boardWidth: Double? = nil,
        boardHeight: Double? = nil, page: Int? = nil, content: MessageContent? = nil, points: PointArray = .empty
    ) {
        (self.number, self.colour, self.width, self.shardCount) = (number, colour, width, shardCount)
        (self.shardOrder, self.element, self.action) = (shardOrder, element, action)
        (self.time, self.boardWidth, self.boardHeight) = (time, boardWidth, boardHeight)
        (self.page, self.content, self.points) = (page, content, points)
    }
}

/// What an operation draws; `e` on the wire.
public enum Element: UInt8, Sendable, CaseIterable {
    case freehand
    /// A straight line from the first to the last point.
    case line
    /// The ellipse in the box of the first and the last point.
    case ellipse
    /// The rectangle from the first to the last point.
    case rectangle
    /// A freehand stroke that removes paint.
    case eraser
    /// A page of an asset in the box of the first and the last point.
    case image
    /// What lies inside the path of the points is cut out, moved or copied.
    case lasso
    /// A freehand mark that is seen at its time and goes: no entry of the board.
    case pointer
    /// A text in the box of the first and the last point. See ``BoardText``.
    case text
    /// A translucent freehand stroke of constant width.
    case highlighter
    /// A straight line from the first to the last point, with a head there.
    case arrow

    /// Whether it is drawn as a line along its points.
    public var isStroke: Bool { self != .image && self != .lasso && self != .text }
}

/// What an operation does; `a` on the wire, where 0 means draw too.
public enum Action: UInt8, Sendable, CaseIterable {
    case draw = 1
    case undo
    case redo
    case clear
    /// Shows a page.
    case turn
    /// Sets the order of the pages.
    case arrange
    /// Sets what lies under the ink of a page.
    case paper
    /// Takes entries of a page off the board.
    case remove
}

/// Limits of a message. Each has a rejection code of its own.
public struct WireLimits: Sendable, Equatable {
    /// Bytes of one message; beyond: `too-large`.
    public var messageBytes: Int
    /// Shards that one stroke may be cut into; beyond: `too-many-shards`.
    public var shards: Int
    /// Points of one stroke; beyond: `too-many-points`.
    public var points: Int
    /// Colours that a message may have; beyond: `out-of-range`.
    public var colours: ColourSpace
    /// What a message may have beyond strokes.
    public var features: BoardFeatures
    /// Any message of the format, whatever a room's limits are.
    package static let any = WireLimits(messageBytes: .max, shards: Int(Int32.max), points: .max, colours: .rgb)
    /// Those of a draw that was accepted before, under whatever limits. Does not read its page: where a room has none, any
    /// value may stand there; the room knows the page.
    package static let accepted = WireLimits(
        messageBytes: .max, shards: Int(Int32.max), points: .max, colours: .rgb,
        features: [.images, .lasso, .pens, .pointer, .remove, .text])

    /// Points of a lasso, so that what it costs is bounded; beyond: `too-many-points`.
    public static let lassoPoints = 1024

    public init(
        messageBytes: Int = 262_144, shards: Int = 1024, points: Int = 100_000,
        colours: ColourSpace = .palette(count: 16), features: BoardFeatures = .all
    ) {
        (self.messageBytes, self.shards, self.points) = (messageBytes, shards, points)
        (self.colours, self.features) = (colours, features)
    }
}
