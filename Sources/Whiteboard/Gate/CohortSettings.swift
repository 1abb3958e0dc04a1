/// How one cohort is kept in step with its video.
public struct CohortSettings: Sendable, Equatable {
    /// What holds operations back.
    public enum Gating: String, Sendable, CaseIterable {
        /// The cohort's video clock.
        case video
        /// Nothing: operations are released as soon as they are logged.
        case none
    }

    /// What happens to operations that the clock does not release.
    public enum Policy: String, Sendable, CaseIterable {
        /// Released late when they have waited ``CohortSettings/maxHold``.
        case maxhold
        /// Held for ever.
        case hold
        /// The clock is extrapolated without end; what it still does not release is held for ever.
        case freerun
    }

    public var gate: Gating
    public var policy: Policy
    /// The longest wait under ``Policy/maxhold``, counted from when the operation was logged. Negative counts as 0.
    public var maxHold: Duration
    /// How long a clock is believed after its last sample. Negative counts as 0.
    public var staleAfter: Duration
    /// Whether video time runs on between samples. False compares with the last sample alone, whatever the policy.
    public var extrapolate: Bool

    public init(
        gate: Gating = .video, policy: Policy = .maxhold, maxHold: Duration = .seconds(30),
        staleAfter: Duration = .seconds(2), extrapolate: Bool = true
    ) {
        self.gate = gate
        self.policy = policy
        self.maxHold = maxHold
        self.staleAfter = staleAfter
        self.extrapolate = extrapolate
    }
}
