/// What one cohort has been shown.
struct Follower: Sendable {
    /// The board at the cohort's cursor R.
    var board: Board
    private(set) var lastRelease: Instant?
    private(set) var nextMark: Instant?

    private static let often = Duration.seconds(1)
    private static let seldom = Duration.seconds(10)
    private static let busyTime = Duration.seconds(30)

    init(board: Board) {
        self.board = board
    }

    mutating func follow(_ operation: Operation, at now: Instant) {
        board.apply(operation)
        lastRelease = now
        nextMark = min(nextMark ?? .distantFuture, now + Self.often)
    }

    /// Whether a mark is due: every second for 30 s after the last release, then every 10 s.
    mutating func takeMark(at now: Instant) -> Bool {
        guard let due = nextMark, due <= now, let lastRelease else { return false }
        nextMark = now + (now - lastRelease < Self.busyTime ? Self.often : Self.seldom)
        return true
    }
}
