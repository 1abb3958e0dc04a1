public import StrokeWire

/// One operation that a cohort's students may see from now on. Final: it is never taken back.
public struct Release: Sendable, Equatable {
    public let cohort: CohortName
    /// The operation's place in the room's log, from 1.
    public let index: UInt64
    /// Whether a policy released it (rule 10, or a memory bound) and not the clock.
    public let isLate: Bool
    /// When it could first be released, for the measure of lateness; not after the call that released it.
    public let due: Instant

    public init(cohort: CohortName, index: UInt64, isLate: Bool, due: Instant) {
        self.cohort = cohort
        self.index = index
        self.isLate = isLate
        self.due = due
    }
}
