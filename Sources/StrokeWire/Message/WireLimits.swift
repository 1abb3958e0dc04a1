/// How large a message may be. What is larger is rejected with a code of its own.
public struct WireLimits: Sendable, Equatable {
    /// Bytes of one message; beyond: `too-large`.
    public var messageBytes: Int
    /// Shards that one stroke may be cut into; beyond: `too-many-shards`.
    public var shards: Int
    /// Points of one stroke; beyond: `too-many-points`.
    public var points: Int
    /// What a colour means; beyond: `out-of-range`.
    public var colours: ColourSpace

    public init(
        messageBytes: Int = 262_144, shards: Int = 1024, points: Int = 100_000,
        colours: ColourSpace = .palette(count: 8)
    ) {
        self.messageBytes = messageBytes
        self.shards = shards
        self.points = points
        self.colours = colours
    }
}
