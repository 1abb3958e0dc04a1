internal import StrokeWire

/// Finds arguments and environment variables that are not settings.
enum UnknownNames {
    static func faults(arguments: [String: String]) -> [ConfigurationFault] {
        arguments.keys.sorted().compactMap { key in
            let origin = "argument \(key)"
            switch SettingKeys.all.entry(key) {
            case .setting: return nil
            case .section:
                return ConfigurationFault(origin: origin, message: "has no value of its own; set a key below it")
            case nil where SettingKeys.removed.contains(key): return nil
            case .cohort, nil: return ConfigurationFault(origin: origin, unknownKey: key)
            }
        }
    }

    /// Faults for variables with the prefix `LECTERN_` that belong to no key.
    ///
    /// - Parameter cohorts: the named cohorts. A variable cannot make one, since a name in it cannot be told from the rest.
    static func faults(environment: [String: String], cohorts: [CohortName]) -> [ConfigurationFault] {
        let keys = SettingKeys.all.names + cohorts.flatMap(SettingKeys.names)
        let variables = Set(keys.map(SettingKeys.variable))
        let removed = Set(SettingKeys.removed.map(SettingKeys.variable))
        return environment.keys.sorted().compactMap { name in
            guard name.hasPrefix("LECTERN_"), !variables.contains(name), !removed.contains(name), !isServiceLink(name)
            else { return nil }
            // Compared without the common prefix, which would make all names similar.
            let meant = Spelling.nearest(to: bare(name), among: variables.map(bare)).map { "LECTERN_" + $0 }
            return ConfigurationFault(origin: name, unknown: "variable", suggestion: meant)
        }
    }

    private static func bare(_ name: String) -> String {
        String(name.dropFirst("LECTERN_".count))
    }

    /// Whether a variable is one that Kubernetes and Docker links set in containers for a service called `lectern`. These
    /// are not meant as settings and must not stop the daemon.
    private static func isServiceLink(_ name: String) -> Bool {
        name == "LECTERN_PORT" || name.hasPrefix("LECTERN_PORT_") || name.hasPrefix("LECTERN_SERVICE_")
    }
}

extension ConfigurationFault {
    /// - Parameter key: the unknown key, dotted.
    init(origin: String, unknownKey key: String) {
        if let message = SettingKeys.all.cohortHint(key) {
            self.init(origin: origin, message: "unknown key; \(message)")
        } else {
            self.init(origin: origin, unknown: "key", suggestion: SettingKeys.all.suggestion(for: key))
        }
    }

    fileprivate init(origin: String, unknown kind: String, suggestion: String?) {
        self.init(origin: origin, message: "unknown \(kind)" + (suggestion.map { "; did you mean \($0)?" } ?? ""))
    }
}

/// Finds the nearest known word to a misspelt one.
enum Spelling {
    /// The candidate with the fewest edits, the first in the alphabet among equals. Nil when it needs more edits than a
    /// third of its letters; one edit is always allowed, but not one of every letter.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(word.utf8)
        // No key is nearly as long, and the cost is quadratic.
        guard letters.count <= 128 else { return nil }
        let scored = candidates.map { (edits: distance(letters, Array($0.utf8)), word: $0) }
        guard let best = scored.min(by: { ($0.edits, $0.word) < ($1.edits, $1.word) }) else { return nil }
        let length = best.word.utf8.count
        return best.edits <= max(1, length / 3) && best.edits < length ? best.word : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`: the optimal string
    /// alignment distance (Damerau 1964, in the restricted form), by dynamic programming over three rows.
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var before: [Int] = []
        var previous = Array(0...b.count)
        for (i, letter) in a.enumerated() {
            var row = [i + 1]
            row.reserveCapacity(b.count + 1)
            for j in b.indices {
                var edits = min(previous[j] + (letter == b[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, letter == b[j - 1], a[i - 1] == b[j] {
                    edits = min(edits, before[j - 1] + 1)
                }
                row.append(edits)
            }
            (before, previous) = (previous, row)
        }
        return previous[b.count]
    }
}
