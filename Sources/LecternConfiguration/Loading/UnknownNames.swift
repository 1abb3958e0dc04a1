internal import StrokeWire

/// Finds arguments and environment variables that set nothing.
enum UnknownNames {
    /// Faults for keys that there are not.
    static func faults(arguments: [String: String]) -> [ConfigurationFault] {
        arguments.keys.sorted().compactMap { key in
            if case .setting? = SettingKeys.all.entry(key) { return nil }
            return ConfigurationFault(origin: "argument \(key)", unknownKey: key)
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
        let meant = SettingKeys.all.suggestion(for: key)
        if meant == nil, key.hasPrefix("cohorts.") {
            self.init(origin: origin, complaint: "unknown key; a cohort's name is 1 … 64 of a-z, 0-9, _ and -")
        } else {
            self.init(origin: origin, unknown: "key", suggestion: meant)
        }
    }

    fileprivate init(origin: String, unknown kind: String, suggestion: String?) {
        self.init(origin: origin, complaint: "unknown \(kind)" + (suggestion.map { "; did you mean \($0)?" } ?? ""))
    }
}
