/// The settings that all daemons of one root must have alike: with others the same room would live in two places.
public struct CommonSettings: Sendable, Equatable {
    /// `subjects.partitions`; nil where the daemon does not say.
    public var partitions: Int?
    /// `journal.mode`; nil where the daemon does not say.
    public var journal: String?

    /// The journal of a daemon that shares nothing with others.
    public static let noJournal = "none"

    public init(partitions: Int? = nil, journal: String? = nil) {
        self.partitions = partitions
        self.journal = journal
    }

    /// A setting with which two daemons cannot be on one root.
    public struct Conflict: Sendable, Equatable {
        /// Its name in a daemon's configuration.
        public let setting: String
        public let mine: String
        public let theirs: String
    }

    /// What keeps two daemons from being on one root. What either does not say is taken for right.
    public func conflicts(with other: CommonSettings) -> [Conflict] {
        var conflicts: [Conflict] = []
        if let mine = partitions, let theirs = other.partitions, mine != theirs {
            conflicts.append(Conflict(setting: "subjects.partitions", mine: "\(mine)", theirs: "\(theirs)"))
        }
        // Without a journal each would number the rooms on its own.
        if let mine = journal, let theirs = other.journal, mine != theirs || mine == Self.noJournal {
            conflicts.append(Conflict(setting: "journal.mode", mine: mine, theirs: theirs))
        }
        return conflicts
    }
}
