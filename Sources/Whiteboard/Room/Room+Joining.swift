public import StrokeWire

/// What brings a joining student to where the cohort is. A snapshot: encode it on any thread.
public struct CatchUp: Sendable {
    public enum Content: Sendable {
        /// The operations after those the student has.
        case tail([Operation])
        /// The board as released to the cohort.
        case board(Board)
    }

    /// The room's life, empty where nobody has written to it.
    public let incarnation: String
    /// The cohort's cursor R.
    public let index: UInt64
    /// Digest of the board at R.
    public let digest: BoardDigest
    public let content: Content
}

extension Room {
    /// Whether students of a cohort are served: it exists, or may come to exist.
    public func serves(_ cohort: CohortName) -> Bool {
        followers[cohort] != nil || configuration.cohorts.open
    }

    /// Answers a student who joins a cohort, from what was released to it.
    /// - Returns: nil for a cohort that is not served.
    public func catchUp(_ request: JoinRequest, cohort: CohortName) -> CatchUp? {
        guard serves(cohort) else { return nil }
        let board = board(of: cohort)
        return CatchUp(
            incarnation: incarnation, index: board.index, digest: board.digest, content: content(request, board))
    }

    private func content(_ request: JoinRequest, _ board: Board) -> CatchUp.Content {
        guard let have = request.have, let known = request.incarnation, known == incarnation, !known.isEmpty else {
            return .board(board)
        }
        guard let tail = log.tail(after: min(have, board.index), through: board.index) else { return .board(board) }
        return .tail(tail)
    }

    /// The board as released to a cohort; empty for one that is not there yet.
    public func board(of cohort: CohortName) -> Board {
        followers[cohort]?.board ?? Board(history: configuration.history, size: configuration.boardSize)
    }
}
