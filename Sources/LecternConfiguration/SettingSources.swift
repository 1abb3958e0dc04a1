internal import StrokeWire
internal import Whiteboard

/// The sources of settings: arguments, the environment, a file; the first that has a key wins.
struct SettingSources {
    /// The named cohorts in the file and the arguments, sorted.
    let cohorts: [CohortName]

    private let arguments: [String: String]
    private let environment: [String: String]
    private let file: ConfigurationFile?

    /// - Parameters:
    ///   - file: nil for none.
    ///   - environment: variables by name; those of other programs are ignored.
    ///   - arguments: by dotted key.
    init(file: ConfigurationFile?, environment: [String: String], arguments: [String: String]) {
        self.file = file
        self.environment = environment
        self.arguments = arguments
        cohorts = (file?.cohorts ?? []).union(arguments.keys.compactMap(SettingKeys.cohort)).sorted()
    }

    /// The text of a key and its origin; nil when no source has it. A list has commas between its elements.
    func value(of key: String) -> (text: String, origin: String)? {
        if let text = arguments[key] { return (text, "argument \(key)") }
        let variable = SettingKeys.variable(key)
        if let text = environment[variable] { return (text, variable) }
        guard let file, let value = file.values[key] else { return nil }
        return (value.text, "\(file.path):\(value.line): \(key)")
    }

    /// Sets the value of a key from the sources; leaves it unchanged when there is none, or a bad one.
    /// - Returns: where the value comes from; nil when it is unchanged.
    func assign<Root>(
        _ setting: Setting<Root>, at key: String, to root: inout Root, faults: inout [ConfigurationFault]
    ) -> String? {
        guard let (text, origin) = value(of: key) else { return nil }
        do {
            try setting.assign(text, &root)
            return origin
        } catch {
            faults.append(ConfigurationFault(origin: origin, message: error.message))
            return nil
        }
    }
}
