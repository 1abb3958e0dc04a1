internal import StrokeWire
internal import Whiteboard

extension SettingKeys {
    /// What is wrong with an unknown key below `cohorts`: the name in it, or what follows the name. Nil for a key
    /// elsewhere.
    func cohortComplaint(_ key: String) -> String? {
        let tokens = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard tokens.count > 1, tokens[0] == "cohorts" else { return nil }
        let (name, setting) = (tokens[1], tokens.dropFirst(2).first)
        if setting == nil, let meant = Spelling.nearest(to: name, among: wordsBesideNames) {
            return "did you mean cohorts.\(meant)?"
        }
        if case .setting? = entry("cohorts.\(name)") {
            return "\(name) is no cohort's name: cohorts.\(name) is a setting"
        }
        guard let cohort = CohortName(name)?.text ?? Spelling.nearest(to: name, among: ["default"]) else {
            return "a cohort's name is 1 … 64 of a-z, 0-9, _ and -"
        }
        let settings = CohortSettings.settings.map(\.key)
        if let setting, let meant = Spelling.nearest(to: setting, among: settings) {
            return "did you mean cohorts.\(cohort).\(meant)?"
        }
        return "a cohort has " + settings.joined(separator: ", ")
    }

    /// What stands in the section beside the cohorts by name.
    private var wordsBesideNames: Set<String> {
        Set(names.filter { $0.hasPrefix("cohorts.") }.map { String($0.split(separator: ".")[1]) })
    }
}
