/// What a daemon tells the others of itself, every second.
public struct Announcement: Sendable, Equatable {
    /// Its name, `[a-z0-9_-]{1,64}`.
    public var member: String
    /// The partitions whose rooms it serves.
    public var serving: Set<Int>
    /// Whether it takes nothing over, for it is about to end: others take over what it serves.
    public var isLeaving: Bool
    /// Whether it has not begun, and asks who is there: the others answer at once.
    public var isJoining: Bool
    public var settings: CommonSettings

    public init(
        member: String, serving: Set<Int>, isLeaving: Bool, isJoining: Bool = false,
        settings: CommonSettings = CommonSettings()
    ) {
        self.member = member
        self.serving = serving
        self.isLeaving = isLeaving
        self.isJoining = isJoining
        self.settings = settings
    }
}
