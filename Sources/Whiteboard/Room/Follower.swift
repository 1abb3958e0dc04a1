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

    /// Takes operations that were released before a restart. Students are told where they are as after a release.
    mutating func skip(_ operations: [Operation], at now: Instant) {
        for operation in operations { board.apply(operation) }
        guard board.index > 0, nextMark == nil else { return }
        lastRelease = now
        nextMark = now + Self.often
    }

    func isMarkDue(at now: Instant) -> Bool {
        nextMark.map { $0 <= now } ?? false
    }

    /// The next mark comes every second for 30 s after the last release, then every 10 s.
    mutating func scheduleMark(after now: Instant) {
        guard let lastRelease else { return }
        nextMark = now + (now - lastRelease < Self.busyTime ? Self.often : Self.seldom)
    }
}
