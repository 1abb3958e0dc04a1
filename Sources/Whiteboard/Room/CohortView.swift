import StrokeWire

/// What one cohort's students see, and when they are next told its position.
struct CohortView: Sendable {
    /// The board at the cohort's cursor R.
    fileprivate(set) var board: Board
    fileprivate var lastRelease: Instant?
    fileprivate var nextMark: Instant?
    /// Whether no mark has told of the board.
    fileprivate var isUntold = false

    /// Between two marks soon after a release.
    private static let busyInterval = Duration.seconds(1)
    /// Between two marks later on.
    private static let idleInterval = Duration.seconds(10)
    /// How long after a release marks are frequent.
    private static let busyTime = Duration.seconds(30)
    /// Marks of all rooms are due at multiples of it, in nanoseconds: one that goes out alone wakes threads here and in
    /// the NATS server, which costs far more than the mark. One that goes out a little late is followed a step later.
    private static let step: Int64 = 20_000_000

    fileprivate init(board: Board) { self.board = board }

    fileprivate mutating func apply(_ operation: Operation, at now: Instant) {
        board.apply(operation)
        lastRelease = now
        isUntold = true
        nextMark = min(nextMark ?? .distantFuture, Self.mark(Self.busyInterval, after: now))
    }

    /// Applies operations that were released before a restart. A mark follows as after a release.
    fileprivate mutating func skip(_ operations: [Operation], at now: Instant) {
        for operation in operations { board.apply(operation) }
        guard board.index > 0, nextMark == nil else { return }
        lastRelease = now
        isUntold = true
        nextMark = Self.mark(Self.busyInterval, after: now)
    }

    fileprivate mutating func scheduleMark(after now: Instant) {
        isUntold = false
        guard let lastRelease else { return }
        nextMark = Self.mark(now - lastRelease < Self.busyTime ? Self.busyInterval : Self.idleInterval, after: now)
    }

    /// When the mark is due that comes an interval after an instant, or less than ``step`` later.
    private static func mark(_ interval: Duration, after now: Instant) -> Instant {
        let due = now + interval
        let excess = due.nanoseconds % step
        guard excess != 0 else { return due }
        return due.advanced(byNanoseconds: excess > 0 ? step - excess : -excess)
    }
}

/// The views of a room's cohorts, by their positions in the gate.
struct CohortViews: Sendable {
    private var views: [CohortView] = []
    /// When each view's next mark is due.
    private var marks = DeadlineTree()
    /// When something was last released to any cohort.
    private(set) var lastRelease: Instant?

    var count: Int { views.count }

    /// When the next mark is due; nil for never.
    var nextMark: Instant? { marks.earliest == .distantFuture ? nil : marks.earliest }

    subscript(position: Int) -> CohortView { views[position] }

    /// Adds a cohort that sees `board`.
    mutating func append(_ board: Board) {
        views.append(CohortView(board: board))
        marks.append(.distantFuture)
    }

    /// Shows a cohort the next operation.
    mutating func apply(_ operation: Operation, to position: Int, at now: Instant) {
        views[position].apply(operation, at: now)
        marks[position] = views[position].nextMark ?? .distantFuture
        lastRelease = now
    }

    /// Shows a cohort operations that were released before a restart.
    mutating func skip(_ operations: [Operation], to position: Int, at now: Instant) {
        views[position].skip(operations, at: now)
        marks[position] = views[position].nextMark ?? .distantFuture
        if let release = views[position].lastRelease { lastRelease = max(lastRelease ?? release, release) }
    }

    /// The first cohort whose mark is due; schedules its next mark.
    mutating func takeDueMark(at now: Instant) -> Int? {
        guard let position = marks.first(dueAt: now) else { return nil }
        views[position].scheduleMark(after: now)
        marks[position] = views[position].nextMark ?? .distantFuture
        return position
    }

    /// Makes the marks due that tell of boards for the first time.
    mutating func hastenMarks(to now: Instant) {
        for position in views.indices where views[position].isUntold { marks[position] = min(marks[position], now) }
    }

    /// The strokes that cohorts see, or can bring back; some more than once.
    var strokes: [Stroke] { views.flatMap { $0.board.strokes } }

    /// Replaces the strokes by the same ones in other memory.
    mutating func move(_ moves: StrokeMoves) {
        for position in views.indices { views[position].board.move(moves) }
    }

    /// Lets all cohorts, which have been released everything, share one board.
    mutating func share(_ board: Board) {
        for position in views.indices { views[position].board = board }
    }
}
