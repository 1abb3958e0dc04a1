internal import Configuration
internal import StrokeWire
internal import Whiteboard

extension DaemonConfiguration {
    /// Reads the settings: arguments win over the environment, the environment over the file, the file over defaults.
    ///
    /// Only the value in force of a key is checked; unknown keys are faults in every source. Named cohorts come from the
    /// file or from arguments; their missing settings are taken from `cohorts.default`. An environment variable changes a
    /// setting of an existing cohort; when two cohort names differ in `-` and `_` only, it changes both.
    ///
    /// - Parameters:
    ///   - file: path of a YAML file; nil for none.
    ///   - environment: variables by name; `LECTERN_LIMITS_SHARDS` sets `limits.shards`. Ignored are variables without the
    ///     prefix `LECTERN_`, and `LECTERN_PORT…` and `LECTERN_SERVICE_…`, which Kubernetes sets for a service called
    ///     `lectern`.
    ///   - arguments: texts by dotted key; the palette with commas between its colours.
    /// - Throws: ``ConfigurationError`` with all faults: an unreadable file, unknown names, bad values, conflicting
    ///   values.
    public static func load(
        file path: String?, environment: [String: String] = [:], arguments: [String: String] = [:]
    ) throws(ConfigurationError) -> DaemonConfiguration {
        var faults: [ConfigurationFault] = []
        var file: ConfigurationFile?
        do {
            file = if let path { try ConfigurationFile(path: path) } else { nil }
        } catch {
            faults.append(error)
        }
        let sources = SettingSources(file: file, environment: environment, arguments: arguments)
        faults += file?.outline.faults ?? []
        faults += UnknownNames.faults(environment: environment, cohorts: sources.cohorts)
        faults += UnknownNames.faults(arguments: arguments)

        var configuration = DaemonConfiguration()
        for setting in settings {
            sources.assign(setting, at: setting.key, to: &configuration, faults: &faults)
        }
        for cohort in sources.cohorts {
            var own = configuration.cohorts.defaults
            for setting in CohortSettings.settings {
                sources.assign(setting, at: "cohorts.\(cohort).\(setting.key)", to: &own, faults: &faults)
            }
            configuration.cohorts.named[cohort] = own
        }
        // Combinations are checked only when every single value is valid.
        if faults.isEmpty { faults = configuration.validate() }
        guard faults.isEmpty else { throw ConfigurationError(faults: faults) }
        return configuration
    }
}

/// The sources of settings: arguments, the environment, a file; the first that has a key wins.
///
/// Each is read once, at the start, from the snapshots of swift-configuration: unlike a `ConfigReader` they have the
/// origin of a value, which is part of every error.
struct SettingSources {
    /// The named cohorts in the file and the arguments, sorted.
    let cohorts: [CohortName]

    private let arguments: any ConfigSnapshot
    private let environment: any ConfigSnapshot
    private let file: ConfigurationFile?

    /// - Parameters:
    ///   - file: nil for none.
    ///   - environment: variables by name; those of other programs are ignored.
    ///   - arguments: by dotted key.
    init(file: ConfigurationFile?, environment: [String: String], arguments: [String: String]) {
        self.file = file
        self.environment =
            EnvironmentVariablesProvider(environmentVariables: environment.filter { $0.key.hasPrefix("LECTERN_") })
            .prefixKeys(with: "lectern").snapshot()
        let values = arguments.map { key, text in
            (AbsoluteConfigKey(dotted: key), ConfigValue(.string(text), isSecret: false))
        }
        self.arguments = InMemoryProvider(
            name: "arguments", values: Dictionary(values, uniquingKeysWith: { first, _ in first })
        ).snapshot()
        cohorts = (file?.outline.cohorts ?? []).union(arguments.keys.compactMap(SettingKeys.cohort)).sorted()
    }

    /// The text of a key and its origin; nil when no source has it. A list has commas between its elements.
    func value(of key: String, isList: Bool) throws(ConfigurationFault) -> (text: String, origin: String)? {
        if let value = try text(of: key, .string, in: arguments, "argument \(key)") { return value }
        if let value = try text(of: key, .string, in: environment, SettingKeys.variable(key)) { return value }
        guard let file, let values = file.values, let line = file.outline.lines[key] else { return nil }
        return try text(of: key, isList ? .stringArray : .string, in: values, "\(file.path):\(line): \(key)")
    }

    /// Sets the value of a key from the sources; leaves it unchanged when there is none, or a bad one.
    func assign<Root>(
        _ setting: Setting<Root>, at key: String, to root: inout Root, faults: inout [ConfigurationFault]
    ) {
        do {
            guard let (text, origin) = try value(of: key, isList: setting.isList) else { return }
            do {
                try setting.assign(text, &root)
            } catch {
                faults.append(ConfigurationFault(origin: origin, message: error.message))
            }
        } catch {
            faults.append(error)
        }
    }

    private func text(
        of key: String, _ type: ConfigType, in source: any ConfigSnapshot, _ origin: String
    ) throws(ConfigurationFault) -> (text: String, origin: String)? {
        do {
            switch try source.value(forKey: AbsoluteConfigKey(dotted: key), type: type).value?.content {
            case .string(let text)?: return (text, origin)
            case .stringArray(let elements)?: return (elements.joined(separator: ","), origin)
            default: return nil
            }
        } catch {
            throw ConfigurationFault(origin: origin, message: "\(error)")
        }
    }
}

extension AbsoluteConfigKey {
    fileprivate init(dotted key: String) {
        self.init(key.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }
}
