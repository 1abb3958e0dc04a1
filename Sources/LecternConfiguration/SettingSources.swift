internal import Configuration
internal import StrokeWire
internal import Whiteboard

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
    /// - Returns: where the value comes from; nil when it is unchanged.
    func assign<Root>(
        _ setting: Setting<Root>, at key: String, to root: inout Root, faults: inout [ConfigurationFault]
    ) -> String? {
        do {
            guard let (text, origin) = try value(of: key, isList: setting.isList) else { return nil }
            do {
                try setting.assign(text, &root)
                return origin
            } catch {
                faults.append(ConfigurationFault(origin: origin, message: error.message))
            }
        } catch {
            faults.append(error)
        }
        return nil
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
