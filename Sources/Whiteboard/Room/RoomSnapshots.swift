public import StrokeWire

/// The content of a join reply: the operations that the student missed, or a board. A snapshot: encode it on any thread.
public struct CatchUp: Sendable {
    /// The missed operations, or a board.
    public enum Content: Sendable {
        /// The operations that the student has not got.
        case tail([Operation])
        /// The board as released to the cohort.
        case board(Board)
        /// The board at the position that the request names.
        case version(BoardVersion)
    }

    /// The room's incarnation; empty for a blank room.
    public let incarnation: String
    /// The cohort's cursor R, or the end of the log; or the position that the request names.
    public let index: UInt64
    /// Digest of the board at ``index``.
    public let digest: BoardDigest
    /// The pages at ``index``, but for a board of the past.
    let knownPages: BoardPages
    /// Whether a page other than page 0 has ever been, or an operation concerns one.
    let hasPages: Bool
    /// How much of the board is asked for.
    var part = JoinRequest.Part.whole
    /// Whether the cohort's operations wait for a video; nil at the head, and of a board of the past.
    var gate: GateState?
    public let content: Content

    /// The pages at ``index``. Those of a board of the past are made with each call: not on the room's thread.
    public var pages: BoardPages { if case .version(let version) = content { version.pages } else { knownPages } }

    /// Bytes that it keeps in memory beside the room, about: as many as the reply has, or more.
    public var byteEstimate: Int {
        switch content {
        case _ where part == .settings: 256
        case .board(let board): board.byteEstimate
        case .version(let version): version.byteEstimate
        case .tail(let operations): operations.reduce(256) { $0 + $1.byteEstimate }
        }
    }
}

extension CatchUp {
    /// The board at one position.
    init(incarnation: String, _ version: BoardVersion, part: JoinRequest.Part = .whole) {
        self.init(
            incarnation: incarnation, index: version.index, digest: version.digest, knownPages: BoardPages(),
            hasPages: version.hasPages, part: part, content: .version(version))
    }
}

extension Room {
    /// Answers a student who joins a cohort, from what was released to it.
    /// - Parameter isCurrent: whether the log is known to have no further record of the room. A client that has more than the
    ///   room then has what a power cut has taken from the log, and gets the board as it is.
    /// - Returns: nil for a cohort that is not served, and where the request names a position that the cohort has not
    ///   reached or the log no longer holds.
    public func catchUp(_ request: JoinRequest, cohort: CohortName, isCurrent: Bool = false) -> CatchUp? {
        guard serves(cohort) else { return nil }
        guard let index = request.index else {
            var snapshot = catchUp(request, from: board(of: cohort), isCurrent)
            snapshot.gate = gateState(of: cohort)
            return snapshot
        }
        guard isOf(request.incarnation) else { return nil }
        return board(of: cohort, at: index).map { CatchUp(incarnation: incarnation, $0, part: request.part) }
    }

    /// Whether a cohort's operations wait for a video. One that does not exist yet is as its settings say.
    private func gateState(of cohort: CohortName) -> GateState {
        let isGated = gate.cohorts[cohort]?.isGated ?? (configuration.cohorts.settings(of: cohort).gate == .video)
        return isGated ? .video : .open
    }

    /// Answers a client that joins the head feed, in the same way.
    public func catchUpHead(_ request: JoinRequest, isCurrent: Bool = false) -> CatchUp? {
        guard let index = request.index else { return catchUp(request, from: log.head, isCurrent) }
        guard isOf(request.incarnation) else { return nil }
        return head(at: index).map { CatchUp(incarnation: incarnation, $0, part: request.part) }
    }

    /// Whether a position that a client names is one of this incarnation; true where it names none.
    public func isOf(_ incarnation: String?) -> Bool {
        incarnation == nil || incarnation == self.incarnation
    }

    private func catchUp(_ request: JoinRequest, from board: Board, _ isCurrent: Bool) -> CatchUp {
        var content = CatchUp.Content.board(board)
        var hasPages = board.hasPages
        if request.part == .whole, let have = request.have, let known = request.incarnation, known == incarnation,
            !known.isEmpty, have <= log.head.index || !isCurrent,
            let tail = have < board.index ? log.operations.tail(after: have, through: board.index) : []
        {
            content = .tail(tail)
            // A pointer may show a page that the board never had.
            hasPages = hasPages || tail.contains { $0.page != 0 }
        }
        return CatchUp(
            incarnation: incarnation, index: board.index, digest: board.digest, knownPages: board.pages,
            hasPages: hasPages, part: request.part, content: content)
    }
}

/// The state of a room and its cohorts, for operators.
public struct RoomStatus: Sendable {
    /// The state of one cohort: its cursor, and its clock.
    public struct Cohort: Sendable {
        public let name: CohortName
        /// Its cursor R.
        public let released: UInt64
        /// Number of operations logged but not released to it.
        public let held: Int
        /// Its video time; nil while unknown.
        public let video: MediaTime?
        /// Whether samples of its clock come.
        public let isLive: Bool
        /// Whether it has a video.
        public let gate: GateState
        /// Microseconds by which it is behind the teacher, as its clock says; nil where that does not.
        public let age: Int64?
    }

    public let incarnation: String
    /// Index of the last operation of the log.
    public let index: UInt64
    /// Digest of the board at the head.
    public let digest: BoardDigest
    public let size: BoardSize
    /// Number of visible strokes.
    public let visible: Int
    /// Number of authors.
    public let authors: Int
    /// Authors of whom nothing is taken, in the order of their names.
    public let muted: [AuthorID]
    /// Number of strokes under assembly.
    public let assembling: Int
    /// The media time at the teacher; nil while unknown.
    public let live: MediaTime?
    /// Authors whose ink has run ahead of the voice in the last minute, in the order of their names.
    public let behindLive: [AuthorID]
    /// In the order of their names.
    public let cohorts: [Cohort]
}

extension Room {
    /// The 64 authors that were heard last, the last first.
    public var lastWriters: [AuthorID] { intake.lastHeard(atMost: 64) }

    /// The room's state now.
    public func status(at now: Instant) -> RoomStatus {
        RoomStatus(
            incarnation: incarnation, index: log.head.index, digest: log.head.digest, size: log.head.size,
            visible: log.head.visibleCount, authors: intake.authorCount, muted: intake.muted,
            assembling: intake.assemblingCount, live: liveTime(at: now), behindLive: authorTimes.behind(at: now),
            cohorts: gate.cohorts.sorted { $0.name < $1.name }.map { cohort in
                RoomStatus.Cohort(
                    name: cohort.name, released: cohort.released, held: gate.heldCount(of: cohort.name),
                    video: gate.videoTime(of: cohort.name, at: now),
                    isLive: cohort.clock?.isLive(at: gate.monotonic(now)) == true,
                    gate: cohort.isGated ? .video : .open, age: cohort.clock?.anchor.age)
            })
    }

    /// Number of strokes under assembly, of all authors.
    public var assemblingCount: Int { intake.assemblingCount }

    /// Calls `body` with each cohort that waits for its video clock: how long ago the clock's last sample was taken, nil for
    /// never, and whether the clock is stale.
    public func forEachWaitingCohort(at now: Instant, _ body: (CohortName, Duration?, Bool) -> Void) {
        for cohort in gate.cohorts where cohort.isGated && gate.timeline.last > cohort.released {
            body(cohort.name, cohort.clock.map { now - $0.anchor.received }, cohort.clock?.isLive(at: now) != true)
        }
    }

    /// Bytes of operations that some cohort waits for, and of those that are kept for clients that join again.
    public var operationBytes: (held: Int, kept: Int) { (log.operations.heldBytes, log.operations.releasedBytes) }

    /// Calls `body` with each cohort and the number of operations that it holds back.
    public func forEachCohort(_ body: (CohortName, Int) -> Void) {
        for cohort in gate.cohorts { body(cohort.name, Int(gate.timeline.last - cohort.released)) }
    }
}
