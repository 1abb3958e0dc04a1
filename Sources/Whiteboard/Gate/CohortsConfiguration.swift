public import StrokeWire

/// The cohorts of a room: which exist from the start, which may come to exist, and their settings.
public struct CohortsConfiguration: Sendable, Equatable {
    /// Settings of every cohort that has none of its own.
    public var defaults: CohortSettings
    /// Cohorts that exist from the start, with their settings. `main` exists in any case.
    public var named: [CohortName: CohortSettings]
    /// Whether other cohorts come to be with their first clock sample.
    public var open: Bool
    /// The number of cohorts beyond which none comes to be any more, `main` and the named ones included.
    public var maximum: Int

    public init(
        defaults: CohortSettings = CohortSettings(), named: [CohortName: CohortSettings] = [:], open: Bool = true,
        maximum: Int = 8
    ) {
        self.defaults = defaults
        self.named = named
        self.open = open
        self.maximum = maximum
    }

    /// The cohorts that exist from the start: `main`, then the named ones in order.
    var initialNames: [CohortName] {
        [.main] + named.keys.filter { $0 != .main }.sorted()
    }

    func settings(of name: CohortName) -> CohortSettings {
        named[name] ?? defaults
    }
}
