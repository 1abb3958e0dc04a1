internal import StrokeWire
internal import Whiteboard

extension DaemonConfiguration {
    /// Reads the settings: an argument wins over the environment, that over the file, that over the default.
    ///
    /// Only the value in force of a key is checked, but unknown keys are faults wherever they are. Cohorts by name come
    /// from the file or an argument; what they leave out is as in `cohorts.default`. An environment variable changes a
    /// setting of a cohort that is there; of two names that differ in `-` and `_` alone, of both.
    ///
    /// - Parameters:
    ///   - file: path of a YAML file; nil for none.
    ///   - environment: variables by name; `LECTERN_LIMITS_SHARDS` sets `limits.shards`. Those that do not begin with
    ///     `LECTERN_` are passed over, and so are `LECTERN_PORT…` and `LECTERN_SERVICE_…`, which Kubernetes sets beside
    ///     a service called `lectern`.
    ///   - arguments: texts by dotted key; the palette with commas between its colours.
    /// - Throws: ``ConfigurationError`` with all faults: a file that cannot be read, unknown names, bad values, values
    ///   that do not go together.
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
        // Of values that are wrong already, little can be said together.
        if faults.isEmpty { faults = configuration.contradictions }
        guard faults.isEmpty else { throw ConfigurationError(faults: faults) }
        return configuration
    }
}

extension SettingSources {
    /// Sets what the sources have for a key; leaves it as it is where they have nothing, or something wrong.
    fileprivate func assign<Root>(
        _ setting: Setting<Root>, at key: String, to root: inout Root, faults: inout [ConfigurationFault]
    ) {
        do {
            guard let (text, origin) = try value(of: key, isList: setting.isList) else { return }
            do {
                try setting.assign(text, &root)
            } catch {
                faults.append(ConfigurationFault(origin: origin, complaint: error.complaint))
            }
        } catch {
            faults.append(error)
        }
    }
}
