internal import StrokeWire

/// Finds arguments and environment variables that set nothing.
enum UnknownNames {
    /// Faults for keys that there are not.
    static func faults(arguments: [String: String]) -> [ConfigurationFault] {
        arguments.keys.sorted().compactMap { key in
            let origin = "argument \(key)"
            switch SettingKeys.all.entry(key) {
            case .setting: return nil
            case .section:
                return ConfigurationFault(origin: origin, complaint: "has no value of its own; set a key below it")
            case .cohort, nil: return ConfigurationFault(origin: origin, unknownKey: key)
            }
        }
    }

    /// Faults for variables that begin with `LECTERN_` and belong to no key.
    ///
    /// - Parameter cohorts: those by name that there are; a name in a variable could not be told from the rest of it,
    ///   so a variable makes no cohort.
    static func faults(environment: [String: String], cohorts: [CohortName]) -> [ConfigurationFault] {
        let keys = SettingKeys.all.names + cohorts.flatMap(SettingKeys.names)
        let variables = Set(keys.map(SettingKeys.variable))
        return environment.keys.sorted().compactMap { name in
            guard name.hasPrefix("LECTERN_"), !variables.contains(name), !isServiceLink(name) else { return nil }
            // Compared without what they all begin with, which would make any two look alike.
            let meant = Spelling.nearest(to: bare(name), among: variables.map(bare)).map { "LECTERN_" + $0 }
            return ConfigurationFault(origin: name, unknown: "variable", suggestion: meant)
        }
    }

    private static func bare(_ name: String) -> String {
        String(name.dropFirst("LECTERN_".count))
    }

    /// Whether a variable is one of those that Kubernetes, and Docker's links, put into every container beside a
    /// service called `lectern`. Nobody wrote them to set anything, so they must not stop the daemon.
    private static func isServiceLink(_ name: String) -> Bool {
        name == "LECTERN_PORT" || name.hasPrefix("LECTERN_PORT_") || name.hasPrefix("LECTERN_SERVICE_")
    }
}

extension ConfigurationFault {
    /// - Parameter key: dotted, as it was meant to be a key of the configuration.
    init(origin: String, unknownKey key: String) {
        if let complaint = SettingKeys.all.cohortComplaint(key) {
            self.init(origin: origin, complaint: "unknown key; \(complaint)")
        } else {
            self.init(origin: origin, unknown: "key", suggestion: SettingKeys.all.suggestion(for: key))
        }
    }

    fileprivate init(origin: String, unknown kind: String, suggestion: String?) {
        self.init(origin: origin, complaint: "unknown \(kind)" + (suggestion.map { "; did you mean \($0)?" } ?? ""))
    }
}
