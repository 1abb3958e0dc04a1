public import Hosting

/// Another daemon is on the root whose settings do not go with this one's: the same room would live in both.
public struct SettingsConflict: Error, Sendable, Equatable, CustomStringConvertible {
    /// First token of all subjects.
    public let root: String
    /// The other daemon's name.
    public let member: String
    /// What keeps the two apart, at least one.
    public let conflicts: [CommonSettings.Conflict]

    public var description: String {
        let settings = conflicts.map { "\($0.setting) is \($0.mine) here and \($0.theirs) there" }
        return "the daemon \"\(member)\" is on the root \"\(root)\", too: \(settings.joined(separator: ", "))"
    }
}
