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

    /// Puts a cohort's cursor where a note says that it had been (rule 12), and makes the cohort if it does not exist
    /// and may. A cursor beyond the log goes to its end; none goes back.
    ///
    /// For a cohort that is made here operations have waited since now, not since they were logged: when it came to be
    /// is not known, and nothing may be released early.
    public mutating func restore(_ cursor: UInt64, of name: CohortName, at now: Instant) {
        let now = advance(to: now)
        guard let position = position(of: name) ?? admit(name, at: now) else { return }
        cohorts[position].skip(to: min(cursor, timeline.last))
    }

    /// Puts a cohort where a checkpoint has it. One that is no longer served is left out.
    mutating func restore(_ name: CohortName, released: UInt64, waitsFrom: Instant, at now: Instant) {
        guard let position = position(of: name) ?? admit(name, at: now) else { return }
        cohorts[position] = Cohort(
            name, settings: cohorts[position].settings, released: released, waitsFrom: waitsFrom, at: now)
    }

    /// Makes a cohort that starts where the log begins.
    /// - Returns: its position; nil where it may not come to exist.
    mutating func admit(_ name: CohortName, at now: Instant) -> Int? {
        guard configuration.open, cohorts.count < configuration.maximum else { return nil }
        cohorts.append(
            Cohort(
                name, settings: configuration.settings(of: name), released: timeline.forgotten, waitsFrom: now, at: now)
        )
        return cohorts.count - 1
    }

    private func cohort(_ name: CohortName) -> Cohort? {
        cohorts.first { $0.name == name }
    }
}
