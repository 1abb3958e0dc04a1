public import Whiteboard

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

/// What an announcement says of the daemon that sent it.
public enum PeerStatus: Sendable, Equatable {
    case known
    /// A member's first announcement: it wants to hear the others at once.
    case newcomer
    /// The first announcement of a daemon whose settings do not go with this one's: it is no member.
    case incompatible([CommonSettings.Conflict])
}

/// Daemons of the root with settings that do not go with this one's, as far as they have been told of.
///
/// Bounded: beyond 1,024 the one heard longest ago is forgotten, and told of again should it come back.
public struct IncompatiblePeers: Sendable {
    private var heardAt: [String: Instant] = [:]

    private static let bound = 1024

    public init() {}

    /// - Returns: whether it is the first announcement of that daemon.
    public mutating func note(_ name: String, at now: Instant) -> Bool {
        let isNew = heardAt.updateValue(now, forKey: name) == nil
        if heardAt.count > Self.bound, let oldest = heardAt.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key {
            heardAt[oldest] = nil
        }
        return isNew
    }
}
