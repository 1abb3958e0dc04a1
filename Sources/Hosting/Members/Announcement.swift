/// What a daemon tells the others of itself, every second.
public struct Announcement: Sendable, Equatable {
    /// Its name, `[a-z0-9_-]{1,64}`.
    public var member: String
    /// The partitions whose rooms it serves.
    public var serving: Set<Int>
    /// Whether it is about to end: others take over what it serves.
    public var isLeaving: Bool

    public init(member: String, serving: Set<Int>, isLeaving: Bool) {
        self.member = member
        self.serving = serving
        self.isLeaving = isLeaving
    }
}
