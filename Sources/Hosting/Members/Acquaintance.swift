/// Who it was that was heard.
public enum Acquaintance: Sendable, Equatable {
    case known
    /// A member's first word: it wants to hear the others at once.
    case newcomer
    /// The first word of one whose settings do not go with this one's: it is no member.
    case stranger([CommonSettings.Conflict])
}
