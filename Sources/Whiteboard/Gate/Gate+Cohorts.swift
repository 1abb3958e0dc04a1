public import StrokeWire

/// What is known of a cohort's clock.
public enum ClockCondition: Sendable, Equatable {
    /// No sample was taken yet, since the start or the last restart.
    case unknown
    /// Samples are coming.
    case live
    /// The last sample is too old to be believed.
    case stale
}

extension Gate {
    /// The cohorts that exist: `main`, the configured ones, then the others in the order in which they came to be.
    public var cohortNames: [CohortName] { cohorts.map(\.name) }

    /// The cohort whose cursor is farthest behind, the first of them in the order of ``cohortNames``. All operations
    /// through its cursor have been released to every cohort.
    public var slowestCohort: (cohort: CohortName, released: UInt64)? {
        cohorts.indices.min { cohorts[$0].released < cohorts[$1].released }.map {
            (cohorts[$0].name, cohorts[$0].released)
        }
    }

    /// R: the index of the last operation released to a cohort, 0 before the first; nil where it does not exist.
    public func released(to name: CohortName) -> UInt64? {
        cohort(name)?.released
    }

    /// The number of operations logged but not released to a cohort, 0 where it does not exist.
    public func heldCount(of name: CohortName) -> Int {
        cohort(name).map { Int(timeline.last - $0.released) } ?? 0
    }

    /// V: the video time that a cohort's students see, nil while unknown.
    public func videoTime(of name: CohortName, at now: Instant) -> MediaTime? {
        cohort(name)?.clock?.videoTime(at: monotonic(now))
    }

    /// Whether a cohort's clock can be believed.
    public func clockCondition(of name: CohortName, at now: Instant) -> ClockCondition {
        guard let clock = cohort(name)?.clock else { return .unknown }
        return clock.isLive(at: monotonic(now)) ? .live : .stale
    }

    /// The room's epoch, nil before any was named.
    public var epoch: Int64? {
        timeline.epochs.isNamed ? timeline.epochs.current.number : nil
    }

    /// Puts a cohort's cursor where a checkpoint says (rule 12), and makes the cohort if it does not exist. A cursor
    /// outside of what the gate knows of the log goes to the nearest end of that.
    ///
    /// The cohort counts as having been there always: operations have waited for it since they were logged.
    public mutating func restore(_ cursor: UInt64, of name: CohortName, at now: Instant) {
        let now = advance(to: now)
        let released = max(timeline.forgotten, min(cursor, timeline.last))
        if let position = position(of: name) {
            cohorts[position] = cohorts[position].restored(released: released, at: now)
        } else {
            cohorts.append(
                Cohort(
                    name, settings: configuration.settings(of: name), released: released, waitsFrom: .distantPast,
                    at: now))
        }
    }

    private func cohort(_ name: CohortName) -> Cohort? {
        cohorts.first { $0.name == name }
    }
}
