internal import Whiteboard

extension CohortSettings {
    /// The keys below `cohorts.default` and `cohorts.<name>`.
    static let settings: [Setting<CohortSettings>] = [
        Setting("gate", \.gate, .choice, "What holds operations back: the cohort's video clock, or nothing."),
        Setting(
            "policy", \.policy, .choice,
            """
            What happens to operations that the clock does not release: released late after max_hold; held for ever; or \
            the clock is extrapolated without end.
            """),
        Setting("max_hold", \.maxHold, .duration(.zero ... .seconds(86_400)), "The longest wait under policy maxhold."),
        Setting(
            "stale_after", \.staleAfter, .duration(.zero ... .seconds(3600)),
            "How long a clock is believed after its last sample."),
        Setting(
            "extrapolate", \.extrapolate, .flag,
            "Whether video time runs on between samples; false compares with the last sample alone."),
    ]
}
