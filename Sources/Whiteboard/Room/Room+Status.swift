public import StrokeWire

/// Where a room and its cohorts stand, for those who watch over it.
public struct RoomStatus: Sendable {
    public struct Cohort: Sendable {
        public let name: CohortName
        /// Its cursor R.
        public let released: UInt64
        /// Operations logged but not released to it.
        public let held: Int
        /// Its video time, nil while unknown.
        public let video: MediaTime?
    }

    public let incarnation: String
    /// Index of the last operation of the log.
    public let index: UInt64
    public let digest: BoardDigest
    public let size: BoardSize
    public let visible: Int
    public let authors: Int
    public let assembling: Int
    /// By name.
    public let cohorts: [Cohort]
}

extension Room {
    public func status(at now: Instant) -> RoomStatus {
        RoomStatus(
            incarnation: incarnation, index: head.index, digest: head.digest, size: head.size,
            visible: head.visible.count, authors: intake.authorCount, assembling: intake.assemblingCount,
            cohorts: gate.cohortNames.sorted().map { name in
                RoomStatus.Cohort(
                    name: name, released: gate.released(to: name) ?? 0, held: gate.heldCount(of: name),
                    video: gate.videoTime(of: name, at: now))
            })
    }

    /// Strokes under assembly, of all authors.
    public var assemblingCount: Int { intake.assemblingCount }

    /// Calls `body` with each cohort and the number of operations it holds back.
    public func forEachCohort(_ body: (CohortName, Int) -> Void) {
        for cohort in followers.keys { body(cohort, gate.heldCount(of: cohort)) }
    }

    /// Whether nobody has written to the room and its clocks have fallen silent: nothing is lost with it.
    public var isBlank: Bool { incarnation.isEmpty }
}
