public import StrokeWire

/// One operation that a cohort's students may see from now on. Final: it is never taken back.
public struct Release: Sendable, Equatable {
    public let cohort: CohortName
    /// The operation's index in the room's log, from 1.
    public let index: UInt64
    /// Whether a policy released it (rule 10, or a memory bound) and not the clock.
    public let isLate: Bool
    /// When it could first be released, for the measure of lateness. Not after the call that released it.
    public let due: Instant

    public init(cohort: CohortName, index: UInt64, isLate: Bool, due: Instant) {
        (self.cohort, self.index, self.isLate, self.due) = (cohort, index, isLate, due)
    }
}

// MARK: - Releasing

extension Gate {
    /// Moves every cohort's cursor over what is due, and appends one release for each operation and cohort: cohort by
    /// cohort, in log order. Constant time where nothing is due; otherwise linear in the operations released, plus the
    /// logarithm of the number of cohorts for each cohort that has some.
    /// - Parameter mayRelease: whether to go on with the operation of this index. After a no the rest stays due.
    public mutating func release(
        at now: Instant, into releases: inout [Release], while mayRelease: (UInt64) -> Bool = { _ in true }
    ) {
        cohorts.release(from: timeline, at: advance(to: now), into: &releases, while: mayRelease)
    }

    /// Releases a cohort's operations through `index` late, whatever its clock and policy say, because the room has no
    /// memory left to hold them. Does nothing for an unknown cohort.
    public mutating func force(
        _ name: CohortName, through index: UInt64, at now: Instant, into releases: inout [Release]
    ) {
        let now = advance(to: now)
        guard let position = cohorts.position(of: name) else { return }
        cohorts.force(position, through: min(index, timeline.last), from: timeline, at: now, into: &releases)
    }

    /// Rule 13: when ``release(at:into:)`` has something to do if nothing else happens; nil for never. Not before
    /// `now`. Changes with every other call.
    public func nextRelease(after now: Instant) -> Instant? {
        cohorts.nextDue.map { max($0, monotonic(now)) }
    }

    /// Starts releases, or resumes them after a time in which no sample could be heard. Until a cohort's sample comes,
    /// its operations wait from then (rule 10).
    /// - Parameter start: now, or earlier for a room that was not in memory when releases started.
    public mutating func begin(at start: Instant) {
        _ = advance(to: start)
        cohorts.begin(at: start, by: timeline)
    }
}

// MARK: - Cohorts and cursors

extension Gate {
    /// The existing cohorts: `main`, the configured ones, then the others in the order in which they were made.
    public var cohortNames: [CohortName] { cohorts.map { $0.name } }

    /// The cohort whose cursor is farthest behind; of several the first in ``cohortNames``. Every cohort has released
    /// the operations through its cursor.
    public var slowestCohort: (cohort: CohortName, released: UInt64)? { cohorts.slowest }

    /// R: the index of the last operation released to a cohort, 0 before the first; nil for an unknown cohort.
    public func released(to name: CohortName) -> UInt64? { cohorts[name]?.released }

    /// Number of operations logged but not released to a cohort; 0 for an unknown cohort.
    public func heldCount(of name: CohortName) -> Int {
        cohorts[name].map { Int(timeline.last - $0.released) } ?? 0
    }

    /// V: the video time that a cohort's students see; nil while unknown.
    public func videoTime(of name: CohortName, at now: Instant) -> MediaTime? {
        cohorts[name]?.clock?.videoTime(at: monotonic(now))
    }

    /// A cohort's cursor, as it is saved.
    func cursor(of cohort: Cohort) -> CohortCursor { cohorts.cursor(of: cohort, in: timeline) }

    /// Notes which cursors have been saved. A cohort that is not among them counts from index 0.
    mutating func noteSaved(_ cursors: [CohortName: CohortCursor]) { cohorts.noteSaved(cursors) }

    /// Counts a change of the cursors as they are saved that the gate does not see itself.
    mutating func noteCursorChange(after changes: UInt64? = nil) {
        cohorts.cursorChanges = (changes ?? cohorts.cursorChanges) + 1
    }

    /// Rule 16: notes that cohorts have a video, as far as they exist.
    mutating func noteVideo(of names: [CohortName]) {
        for position in cohorts.indices where names.contains(cohorts[position].name) { cohorts[position].noteVideo() }
        cohorts.rescheduleAll(by: timeline)
    }

    /// The cohorts whose clocks are live.
    func liveCohorts(at now: Instant) -> [CohortName] {
        cohorts.filter { $0.clock?.isLive(at: monotonic(now)) ?? false }.map { $0.name }
    }
}
