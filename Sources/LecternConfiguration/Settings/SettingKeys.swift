internal import StrokeWire
internal import Whiteboard

/// Which keys there are, and what they are called in the environment.
struct SettingKeys: Sendable {
    /// What a key stands for.
    enum Entry: Equatable {
        /// Something with a value.
        case setting(isList: Bool)
        /// Something with keys below it.
        case section
        /// The section of a cohort by name.
        case cohort(CohortName)
    }

    static let all = SettingKeys(DaemonConfiguration.settings)

    /// Whether a key has a list, by key.
    private let settings: [String: Bool]
    private let sections: Set<String>

    private init(_ table: [Setting<DaemonConfiguration>]) {
        settings = Dictionary(table.map { ($0.key, $0.isList) }, uniquingKeysWith: { first, _ in first })
        sections = Set(
            table.flatMap { setting in
                setting.key.indices.filter { setting.key[$0] == "." }.map { String(setting.key[..<$0]) }
            })
    }

    /// Keys that have a value, without those of cohorts by name.
    var names: [String] { Array(settings.keys) }

    /// - Returns: nil for an unknown key.
    func entry(_ key: String) -> Entry? {
        if let isList = settings[key] { return .setting(isList: isList) }
        if sections.contains(key) { return .section }
        let tokens = key.split(separator: ".", omittingEmptySubsequences: false)
        guard tokens.first == "cohorts", tokens.count > 1, let cohort = CohortName(tokens[1]) else { return nil }
        if tokens.count == 2 { return .cohort(cohort) }
        guard tokens.count == 3, settings["cohorts.\(cohort)"] == nil,
            let setting = CohortSettings.settings.first(where: { $0.key == tokens[2] })
        else { return nil }
        return .setting(isList: setting.isList)
    }

    /// The key, or section, that an unknown one was probably meant to be: the nearest by spelling, else the one
    /// whose last word is, in whatever section.
    func suggestion(for key: String) -> String? {
        if let near = Spelling.nearest(to: key, among: names + sections) { return near }
        guard let word = Spelling.nearest(to: Self.lastWord(key), among: names.map(Self.lastWord)) else { return nil }
        let namesakes = names.filter { Self.lastWord($0) == word }
        return namesakes.count == 1 ? namesakes.first : nil
    }

    /// The cohort by name that a key is about, if any.
    static func cohort(of key: String) -> CohortName? {
        let tokens = key.split(separator: ".", omittingEmptySubsequences: false)
        return tokens.count > 2 && tokens[0] == "cohorts" ? CohortName(tokens[1]) : nil
    }

    private static func lastWord(_ key: String) -> String {
        key.split(separator: ".").last.map(String.init) ?? ""
    }

    /// The keys of a cohort by name.
    static func names(of cohort: CohortName) -> [String] {
        CohortSettings.settings.map { "cohorts.\(cohort).\($0.key)" }
    }

    /// The environment variable of a key: `LECTERN_LIMITS_SHARDS` for `limits.shards`.
    static func variable(_ key: String) -> String {
        "LECTERN_" + key.map { $0.isLetter || $0.isNumber ? $0.uppercased() : "_" }.joined()
    }
}
