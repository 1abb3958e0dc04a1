internal import StrokeWire
internal import Whiteboard

/// A configuration, and where each of its values comes from.
public struct LoadedConfiguration: Sendable {
    /// The value in force of one key.
    public struct Value: Sendable, Equatable {
        /// Dotted, as in `limits.message_bytes`.
        public let key: String
        /// As it would stand in the environment; `***` for a password.
        public let text: String
        /// `lectern.yaml:12`, a variable or `argument`; nil for the default.
        public let origin: String?
        /// Whether it is what holds without any source.
        public let isDefault: Bool

        /// `key = value`, with `""` for an empty one.
        public var line: String { "\(key) = \(DaemonConfiguration.quoted(text))" }
    }

    public let configuration: DaemonConfiguration
    /// Every key in the order of the example file, those of named cohorts last.
    public let values: [Value]

    /// The values that are not the defaults; of named cohorts those that are not those of `cohorts.default`.
    public var changed: [Value] { values.filter { !$0.isDefault } }

    /// Reads the settings: arguments win over the environment, the environment over the file, the file over defaults.
    ///
    /// Only the value in force of a key is checked; unknown keys are faults in every source. Named cohorts come from the
    /// file or from arguments; their missing settings are taken from `cohorts.default`. An environment variable changes a
    /// setting of an existing cohort; when two cohort names differ in `-` and `_` only, it changes both.
    ///
    /// - Parameters:
    ///   - path: of a YAML file; nil for none.
    ///   - environment: variables by name; `LECTERN_LIMITS_SHARDS` sets `limits.shards`. Ignored are variables without the
    ///     prefix `LECTERN_`, and `LECTERN_PORT…` and `LECTERN_SERVICE_…`, which Kubernetes sets for a service called
    ///     `lectern`.
    ///   - arguments: texts by dotted key; the palette with commas between its colours.
    /// - Throws: ``ConfigurationError`` with all faults: an unreadable file, unknown names, bad values, conflicting
    ///   values.
    public init(
        file path: String?, environment: [String: String] = [:], arguments: [String: String] = [:]
    ) throws(ConfigurationError) {
        var faults: [ConfigurationFault] = []
        var file: ConfigurationFile?
        do {
            file = if let path { try ConfigurationFile(path: path) } else { nil }
        } catch {
            faults.append(error)
        }
        let sources = SettingSources(file: file, environment: environment, arguments: arguments)
        faults += file?.faults ?? []
        faults += UnknownNames.faults(environment: environment, cohorts: sources.cohorts)
        faults += UnknownNames.faults(arguments: arguments)

        var configuration = DaemonConfiguration()
        var origins: [String: String] = [:]
        for setting in DaemonConfiguration.settings {
            origins[setting.key] = sources.assign(setting, at: setting.key, to: &configuration, faults: &faults)
        }
        for cohort in sources.cohorts {
            var own = configuration.cohorts.defaults
            for setting in CohortSettings.settings {
                let key = "cohorts.\(cohort).\(setting.key)"
                origins[key] = sources.assign(setting, at: key, to: &own, faults: &faults)
            }
            configuration.cohorts.named[cohort] = own
        }
        // Combinations are checked only when every single value is valid.
        if faults.isEmpty { faults = configuration.validate() }
        guard faults.isEmpty else { throw ConfigurationError(faults: faults) }
        self.configuration = configuration
        let defaults = DaemonConfiguration().texts(namedLike: configuration)
        values = zip(configuration.texts(namedLike: configuration), defaults).map { value, initial in
            let (key, text) = value
            // The origin of a fault names the key as well.
            let origin = origins[key].map { $0.hasSuffix(": \(key)") ? String($0.dropLast(key.count + 2)) : $0 }
            return Value(
                key: key, text: text, origin: origin == "argument \(key)" ? "argument" : origin,
                isDefault: text == initial.text)
        }
    }
}

extension DaemonConfiguration {
    /// The texts of all values by their keys, without passwords; last the cohorts that another configuration names.
    fileprivate func texts(namedLike other: DaemonConfiguration) -> [(key: String, text: String)] {
        let common = Self.settings.map { (key: $0.key, text: $0.text(self)) }
        let named = other.cohorts.named.keys.sorted().flatMap { name in
            let own = cohorts.named[name] ?? other.cohorts.defaults
            return CohortSettings.settings.map { (key: "cohorts.\(name).\($0.key)", text: $0.text(own)) }
        }
        return common + named
    }
}

/// The difference between the settings in force and others.
public struct SettingChanges: Sendable, Equatable {
    /// Keys that may change while the daemon runs.
    public private(set) var live: [String] = []
    /// Keys that take a restart.
    public private(set) var fixed: [String] = []

    /// What may change while the daemon runs. Everything that decides what a log means, where things are kept, or how much
    /// memory is reserved does not.
    public static let liveKeys: Set<String> = [
        "http.allowed_origins", "http.trusted_proxies", "http.media_origins", "http.languages", "http.skew_alarm",
        "auth.secret_file",
        "auth.public_key_file", "logging.level",
    ]

    /// - Parameters:
    ///   - old: the values in force.
    ///   - new: those that were read now. Passwords cannot be compared by their texts, and count by ``DaemonConfiguration``.
    public init(from old: LoadedConfiguration, to new: LoadedConfiguration) {
        let before = Dictionary(old.values.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(new.values.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
        var changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        let (one, other) = (old.configuration.nats, new.configuration.nats)
        if one.password != other.password { changed.insert("nats.password") }
        if one.gatewayPassword != other.gatewayPassword { changed.insert("nats.gateway_password") }
        if one.url != other.url { changed.insert("nats.url") }
        live = changed.filter(Self.liveKeys.contains).sorted()
        fixed = changed.subtracting(Self.liveKeys).sorted()
    }

    public var isEmpty: Bool { live.isEmpty && fixed.isEmpty }
}
