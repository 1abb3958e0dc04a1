internal import StrokeWire
internal import Whiteboard

extension DaemonConfiguration {
    /// All dotted keys, in the order of the file, without those of cohorts by name.
    public static var keys: [String] { settings.map(\.key) }

    /// Every key with its notation, range, default, environment variable and meaning, to be read by people.
    public static var reference: String {
        let defaults = DaemonConfiguration()
        let entries = settings.map { setting in
            """
            \(setting.key)
                \(setting.meaning)
                \(setting.notation) (\(setting.range)), default \(quoted(setting.text(defaults))), \
            \(SettingKeys.variable(setting.key))
            """
        }
        let cohorts = """
            cohorts.NAME.{\(CohortSettings.settings.map(\.key).joined(separator: ","))}
                The same for one cohort, which then exists in every room from the start. What is left out is as in
                cohorts.default. NAME is 1 … 64 characters of a-z, 0-9, _ and -. In the file, or as an argument.
            """
        return (entries + [cohorts]).joined(separator: "\n\n") + "\n"
    }

    /// The values in force, a line `key = value` each, cohorts by name last; passwords in URLs are left out.
    public var listing: String {
        let common = Self.settings.map { "\($0.key) = \(Self.quoted($0.text(self)))\n" }
        let named = cohorts.named.sorted { $0.key < $1.key }.flatMap { name, own in
            CohortSettings.settings.map { "cohorts.\(name).\($0.key) = \(Self.quoted($0.text(own)))\n" }
        }
        return (common + named).joined()
    }

    private static func quoted(_ text: String) -> String {
        text.isEmpty ? "\"\"" : text
    }
}
