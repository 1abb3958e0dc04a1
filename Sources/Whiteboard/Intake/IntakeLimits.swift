public import StrokeWire

/// What one room takes in, at most. Everything beyond is rejected with a code and counted.
public struct IntakeLimits: Sendable, Equatable {
    /// Size of a message, its shards and its points.
    public var wire: WireLimits
    /// Strokes under assembly an author; beyond: `too-many-pending`.
    public var assembling: Int
    /// Complete operations that wait behind a gap, an author; beyond, the gap is given up. While that is being
    /// decided as many again are held; beyond those: `too-many-pending`.
    public var held: Int
    /// Bytes under assembly and held, an author; beyond: `too-many-pending`.
    public var pendingBytes: Int
    /// Authors of a room; beyond: `room-full`.
    public var authors: Int
    /// After so long without a message, and with nothing pending, an author's place is free.
    public var authorIdle: Duration
    /// Messages a second, an author, with bursts of twice that; beyond: `rate-limited`.
    public var messagesPerSecond: Int
    /// Bytes a second, an author, with bursts of twice that; beyond: `rate-limited`.
    public var bytesPerSecond: Int
    /// How far a number may lie ahead of the next expected one; beyond: `out-of-range`.
    public var numberLead: Int64
    /// Points of all strokes of a board that are seen or could come back; a stroke counts for at least one point for
    /// every 16 bytes that it occupies. Beyond: `too-many-points`.
    public var boardPoints: Int

    public init(
        wire: WireLimits = WireLimits(), assembling: Int = 64, held: Int = 256, pendingBytes: Int = 16 << 20,
        authors: Int = 32, authorIdle: Duration = .seconds(600), messagesPerSecond: Int = 200,
        bytesPerSecond: Int = 1 << 20, numberLead: Int64 = 100_000, boardPoints: Int = 4_000_000
    ) {
        self.wire = wire
        self.assembling = assembling
        self.held = held
        self.pendingBytes = pendingBytes
        self.authors = authors
        self.authorIdle = authorIdle
        self.messagesPerSecond = messagesPerSecond
        self.bytesPerSecond = bytesPerSecond
        self.numberLead = numberLead
        self.boardPoints = boardPoints
    }
}

/// The waiting times of the protocol's order and loss rules.
enum IntakeTiming {
    /// A gap is given up so long after the first operation behind it became complete.
    static let gapPatience = Duration.seconds(2)
    /// A stroke with nothing behind it is given up so long after its last shard.
    static let assemblyPatience = Duration.seconds(10)
    /// How often an author is told what is missing.
    static let noticeInterval = Duration.milliseconds(500)
    /// A number below the start of a count is late, not new, for so long.
    static let lateStart = Duration.seconds(2)
    /// A decision that has not come back from the log is asked for again after this.
    static let decisionRetry = Duration.seconds(1)
}
