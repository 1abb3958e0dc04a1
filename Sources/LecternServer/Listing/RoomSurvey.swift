import StrokeWire

/// One walk over the rooms of all workers. Each looks at a few of its own at a time, and does in between what else has
/// come. Safe from any thread.
final class RoomSurvey: Sendable {
    /// Rooms that a worker looks at in one turn: less than a millisecond.
    static let stride = 64

    private let reports = Locked<[RoomReport]>([])
    private let left: Locked<Int>
    private let whenDone: @Sendable ([RoomReport]) -> Void

    /// - Parameters:
    ///   - workers: how many there are to be gone through.
    ///   - whenDone: called once, by the last of them.
    init(workers: Int, whenDone: @escaping @Sendable ([RoomReport]) -> Void) {
        left = Locked(workers)
        self.whenDone = whenDone
    }

    /// What a worker has found in one turn.
    func add(_ found: [RoomReport], isLast: Bool) {
        reports.withLock { $0 += found }
        guard isLast else { return }
        let isDone = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isDone { whenDone(reports.withLock { $0 }) }
    }
}
