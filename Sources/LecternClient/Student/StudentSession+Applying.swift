import StrokeWire

extension StudentSession {
    /// Applies what waits, as far as nothing is missing, and notices what is.
    mutating func proceed(at now: Duration, _ actions: inout [StudentAction]) {
        guard phase == .live else { return }
        while let operation = waiting.take(board.index &+ 1, of: board.room) {
            guard apply(operation, at: now, &actions) else { return }
        }
        if waiting.containsOther(than: board.room) {
            // Another incarnation: what we have is of a life of the room that is over.
            needsBoard = true
            rejoin(at: now, &actions)
        } else {
            noticeGap(at: now)
        }
    }

    /// - Returns: false when the operation does not fit and the board is asked for.
    mutating func apply(
        _ operation: ReleasedOperation, at now: Duration, _ actions: inout [StudentAction]
    ) -> Bool {
        do throws(StudentBoard.Divergence) {
            try board.apply(operation)
        } catch {
            diverged(error.description, at: now, &actions)
            return false
        }
        report.applied += 1
        if operation.isLate { report.late += 1 }
        fruitlessJoins = 0
        actions.append(.tell(.applied(operation, room: board.room, digest: board.digest)))
        return true
    }

    /// Starts the patience with the operation after the board's, when it is known to exist; each gap has its own.
    mutating func noticeGap(at now: Duration) {
        guard waiting.contains(room: board.room) || markedIndex > board.index else {
            gap = nil
            return
        }
        if gap?.after != board.index { gap = (board.index, now) }
    }

    mutating func diverged(_ why: String, at now: Duration, _ actions: inout [StudentAction]) {
        report.divergences += 1
        actions.append(.tell(.problem(.divergence(why))))
        needsBoard = true
        rejoin(at: now, &actions)
    }
}
