internal import StrokeWire
internal import Whiteboard

/// One key of the configuration: the place of its value in a `Root`, its format and its meaning.
struct Setting<Root>: Sendable {
    /// Dotted, as in `limits.message_bytes`.
    let key: String
    /// The kind of value, in a word or two.
    let kind: String
    /// The allowed values.
    let range: String
    /// Whether the value is a list in the file.
    let isList: Bool
    /// One or two sentences: the meaning, the unit, and what happens at the bound.
    let meaning: String
    /// The text of a root's value.
    let text: @Sendable (Root) -> String
    let assign: @Sendable (_ text: String, _ root: inout Root) throws(ParseError) -> Void

    init<Value>(
        _ key: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ format: ValueFormat<Value>,
        _ meaning: String
    ) {
        self.key = key
        self.kind = format.name
        range = format.range
        isList = format.isList
        self.meaning = meaning
        text = { format.format($0[keyPath: path]) }
        assign = { text, root throws(ParseError) in root[keyPath: path] = try format.parse(text) }
    }

    /// Makes a setting of a part a setting of the whole.
    init<Part>(_ prefix: String, _ path: any WritableKeyPath<Root, Part> & Sendable, _ part: Setting<Part>) {
        key = prefix + part.key
        kind = part.kind
        range = part.range
        isList = part.isList
        meaning = part.meaning
        text = { part.text($0[keyPath: path]) }
        assign = { text, root throws(ParseError) in try part.assign(text, &root[keyPath: path]) }
    }
}

/// The known keys, and their environment variables.
struct SettingKeys: Sendable {
    enum Entry: Equatable {
        /// A key with a value.
        case setting(isList: Bool)
        case section
        case cohort(CohortName)
    }

    static let all = SettingKeys(DaemonConfiguration.settings)

    /// Keys of the release before, which mean nothing any more: they are passed over, so that an upgrade needs no other file.
    static let removed: Set<String> = [
        "fanout", "fanout.max_bytes", "journal.duplicate_window", "limits.number_lead", "server.pictures",
        "server.replies", "server.waiting_bytes",
    ]

    /// Whether the value is a list, by key.
    private let settings: [String: Bool]
    private let sections: Set<String>

    private init(_ table: [Setting<DaemonConfiguration>]) {
        settings = Dictionary(table.map { ($0.key, $0.isList) }, uniquingKeysWith: { first, _ in first })
        sections = Set(
            table.flatMap { setting in
                setting.key.indices.filter { setting.key[$0] == "." }.map { String(setting.key[..<$0]) }
            })
    }

    /// The keys with a value, without those of named cohorts.
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

    /// The key or section nearest to an unknown one by spelling; else the only key whose last word is nearest.
    func suggestion(for key: String) -> String? {
        if let near = Spelling.nearest(to: key, among: names + sections) { return near }
        guard let word = Spelling.nearest(to: Self.lastWord(key), among: names.map(Self.lastWord)) else { return nil }
        let namesakes = names.filter { Self.lastWord($0) == word }
        return namesakes.count == 1 ? namesakes.first : nil
    }

    /// The fault in an unknown key below `cohorts`: the cohort's name or the setting. Nil for other keys.
    func cohortHint(_ key: String) -> String? {
        let tokens = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard tokens.count > 1, tokens[0] == "cohorts" else { return nil }
        let (name, setting) = (tokens[1], tokens.dropFirst(2).first)
        if setting == nil, let meant = Spelling.nearest(to: name, among: reservedWords) {
            return "did you mean cohorts.\(meant)?"
        }
        if case .setting? = entry("cohorts.\(name)") {
            return "\(name) is not a cohort name: cohorts.\(name) is a setting"
        }
        guard let cohort = CohortName(name)?.text ?? Spelling.nearest(to: name, among: ["default"]) else {
            return "a cohort name is 1 … 64 characters of a-z, 0-9, _ and -"
        }
        let settings = CohortSettings.settings.map(\.key)
        if let setting, let meant = Spelling.nearest(to: setting, among: settings) {
            return "did you mean cohorts.\(cohort).\(meant)?"
        }
        return "a cohort has " + settings.joined(separator: ", ")
    }

    /// The keys of the section that are not cohorts.
    private var reservedWords: Set<String> {
        Set(names.filter { $0.hasPrefix("cohorts.") }.map { String($0.split(separator: ".")[1]) })
    }

    /// The named cohort of a key, if any.
    static func cohort(of key: String) -> CohortName? {
        let tokens = key.split(separator: ".", omittingEmptySubsequences: false)
        return tokens.count > 2 && tokens[0] == "cohorts" ? CohortName(tokens[1]) : nil
    }

    private static func lastWord(_ key: String) -> String {
        key.split(separator: ".").last.map(String.init) ?? ""
    }

    static func names(of cohort: CohortName) -> [String] {
        CohortSettings.settings.map { "cohorts.\(cohort).\($0.key)" }
    }

    /// The environment variable of a key: `LECTERN_LIMITS_SHARDS` for `limits.shards`.
    static func variable(_ key: String) -> String {
        "LECTERN_" + key.map { $0.isLetter || $0.isNumber ? $0.uppercased() : "_" }.joined()
    }
}
