/// The settings of a room.
public struct RoomConfiguration: Sendable, Equatable {
    public var intake: IntakeLimits
    public var history: HistoryConfiguration
    public var cohorts: CohortsConfiguration
    /// The board's size; nil takes it from the first draw.
    public var boardSize: BoardSize?
    public var log: LogRetention

    public init(
        intake: IntakeLimits = IntakeLimits(), history: HistoryConfiguration = HistoryConfiguration(),
        cohorts: CohortsConfiguration = CohortsConfiguration(), boardSize: BoardSize? = nil,
        log: LogRetention = LogRetention()
    ) {
        self.intake = intake
        self.history = history
        self.cohorts = cohorts
        self.boardSize = boardSize
        self.log = log
    }
}

/// How much of its log a room keeps in memory.
public struct LogRetention: Sendable, Equatable {
    /// Released operations kept for those who join again; who missed more gets the board.
    public var tail: Int
    /// Bytes of them; beyond, the oldest are let go of before there are ``tail``.
    public var tailBytes: Int
    /// Bytes of operations that some cohort still holds. Beyond, the slowest cohort's oldest operations are released
    /// late, so that one dead video cannot use up the memory of all rooms.
    public var heldBytes: Int
    /// So long after the last release, when nothing is held or pending, the tail is let go of: who missed any of it gets
    /// the board, and a cohort that comes to be then starts with it. No video is believed to be farther behind another
    /// (rule 7 of the gate).
    public var quiet: Duration

    public init(
        tail: Int = 1024, tailBytes: Int = 16 << 20, heldBytes: Int = 64 << 20, quiet: Duration = .seconds(60)
    ) {
        self.tail = tail
        self.tailBytes = tailBytes
        self.heldBytes = heldBytes
        self.quiet = quiet
    }
}
