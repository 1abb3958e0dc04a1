import StrokeWire
public import Whiteboard

/// Which daemon works on which partition, as one of them sees it.
///
/// A pure value; time is a parameter, monotonic, and goes on while the machine is suspended. Ownership saves work and is no
/// lock: two daemons that work on one partition for a while give out the same indices. So a partition changes hands without
/// a pause: its owner goes on until the one that takes over says that it serves, and a little longer.
public struct Membership: Sendable {
    /// A step that the caller carries out, in the order in which they are returned.
    public enum Action: Sendable, Equatable {
        case announce(Announcement)
        /// Begin to work on a partition; to be answered by ``opened(_:at:)``.
        case open(Int)
        /// End the work on a partition; to be answered by ``closed(_:at:)``.
        case close(Int)
        /// The same without saving anything: what this daemon has made of the partition is old.
        case abandon(Int)
    }

    private enum PartitionRole: Sendable, Equatable {
        case none
        case opening
        case serving
        /// Another serves it, too; ends at the instant.
        case yielding(until: Instant)
        case closing
    }

    private struct Other: Sendable {
        var announcement: Announcement
        var heardAt: Instant
    }

    /// How often a daemon says that it is there.
    public static let announceInterval = Duration.seconds(1)
    /// A daemon that is silent for so long is gone.
    public static let failureTimeout = Duration.seconds(3)
    /// A daemon wakes up every interval, and a little late; one that has not for so long stood still. Added to the
    /// others' interval it is less than ``failureTimeout``.
    static let maxStall = Duration.milliseconds(1500)
    /// How long a daemon listens for the others before it takes anything.
    public static let joinDelay = Duration.milliseconds(300)
    /// How long the one that yields goes on: until the other has had samples of the video clocks.
    public static let overlap = Duration.seconds(1)

    public let name: String
    private let settings: CommonSettings
    private var incompatiblePeers = IncompatiblePeers()
    private var others: [String: Other] = [:]
    private var roles: [PartitionRole]
    private var isLeaving = false
    private var nextAnnouncement: Instant
    private var listensUntil: Instant
    private var lastAdvance: Instant

    /// - Parameters:
    ///   - name: this daemon's, among all that share the root.
    ///   - partitions: number of partitions.
    ///   - journal: this daemon's `journal.mode`; nil for one that goes with any.
    public init(name: String, partitions: Int, journal: String? = nil, at now: Instant) {
        self.name = name
        settings = CommonSettings(partitions: partitions, journal: journal)
        roles = Array(repeating: .none, count: partitions)
        nextAnnouncement = now
        listensUntil = now + Self.joinDelay
        lastAdvance = now
    }

    /// Partitions that this daemon serves.
    public var serving: Set<Int> { Set(roles.indices.filter { roles[$0] == .serving }) }

    /// Whose requests this daemon answers.
    public var assignment: ServingAssignment {
        ServingAssignment(
            serving: serving,
            servedByOthers: others.values.reduce(into: []) { $0.formUnion($1.announcement.serving) },
            validUntil: lastAdvance + Self.failureTimeout)
    }

    /// Whether the daemon has listened to the others, and serves everything that is its. One that leaves does not.
    public var isSettled: Bool {
        !isLeaving && lastAdvance >= listensUntil && !roles.contains(.opening)
    }

    /// Names of the daemons that are there, with this one, in order.
    public var members: [String] { (others.keys + [name]).sorted() }

    /// Whether any other daemon is there to take over.
    public var hasSuccessor: Bool { others.values.contains { !$0.announcement.isLeaving } }

    /// A daemon was heard, this one's own announcements among them.
    public mutating func receive(_ announcement: Announcement, at now: Instant) -> PeerStatus {
        if announcement.isJoining { nextAnnouncement = min(nextAnnouncement, now) }
        let member = announcement.member
        guard member != name else { return .known }
        let conflicts = settings.conflicts(with: announcement.settings)
        guard conflicts.isEmpty else {
            others[member] = nil
            return incompatiblePeers.note(member, at: now) ? .incompatible(conflicts) : .known
        }
        // A daemon that joins may still refuse to start.
        guard !announcement.isJoining else { return .known }
        let isNew = others[member] == nil
        if isNew, others.count >= Self.bound { return .known }
        var known = announcement
        // Partitions beyond this daemon's count are ignored.
        known.serving.formIntersection(roles.indices)
        others[member] = Other(announcement: known, heardAt: now)
        guard isNew else { return .known }
        nextAnnouncement = min(nextAnnouncement, now)
        return .newcomer
    }

    /// More daemons than this are not known; they do no harm.
    private static let bound = 1024

    /// This daemon is about to end: others take over.
    public mutating func leave(at now: Instant) {
        isLeaving = true
        nextAnnouncement = now
    }

    /// A partition's journal has been folded in to its end.
    public mutating func opened(_ partition: Int, at now: Instant) {
        guard roles[partition] == .opening else { return }
        roles[partition] = .serving
        nextAnnouncement = now
    }

    /// A partition's rooms have been saved and let go of.
    public mutating func closed(_ partition: Int, at now: Instant) {
        roles[partition] = .none
        nextAnnouncement = now
    }

    /// What is to be done now. Call it at ``nextWake`` and after every other call.
    public mutating func advance(to now: Instant) -> [Action] {
        let abandoned = noticeAbsence(at: now)
        others = others.filter { now - $0.value.heardAt < Self.failureTimeout }
        // Before the announcement, so that it tells what is so now.
        var actions = now < listensUntil ? abandoned : roles.indices.compactMap { decide($0, at: now) }
        if nextAnnouncement <= now {
            nextAnnouncement = now + Self.announceInterval
            let announcement = Announcement(
                member: name, serving: serving, isLeaving: isLeaving, settings: settings)
            actions.insert(.announce(announcement), at: 0)
        }
        return actions
    }

    /// The next time something may have to be done.
    public var nextWake: Instant {
        var earliest = nextAnnouncement
        func consider(_ instant: Instant) { if instant > lastAdvance { earliest = min(earliest, instant) } }
        consider(listensUntil)
        for other in others.values { consider(other.heardAt + Self.failureTimeout) }
        for case .yielding(let end) in roles { consider(end) }
        return earliest
    }

    /// This daemon itself stood still: that the others were not heard meanwhile says nothing about them. After a long
    /// time it begins anew, as after a restart, for they have gone on without it.
    private mutating func noticeAbsence(at now: Instant) -> [Action] {
        defer { lastAdvance = now }
        let absence = now - lastAdvance
        guard absence > Self.maxStall else { return [] }
        for (name, other) in others { others[name]?.heardAt = min(now, other.heardAt + absence) }
        guard absence >= Self.failureTimeout else { return [] }
        listensUntil = now + Self.announceInterval + Self.joinDelay
        nextAnnouncement = now
        return roles.indices.compactMap { partition in
            guard roles[partition] != .none, roles[partition] != .closing else { return nil }
            roles[partition] = .closing
            return .abandon(partition)
        }
    }

    private mutating func decide(_ partition: Int, at now: Instant) -> Action? {
        let candidates = others.values.filter { !$0.announcement.isLeaving }.map(\.announcement.member)
        let owner = Rendezvous.owner(of: partition, among: isLeaving ? candidates : candidates + [name])
        let isOwner = owner == name
        let isServedByOwner = owner.flatMap { others[$0] }?.announcement.serving.contains(partition) ?? false
        switch roles[partition] {
        case .none where isOwner:
            roles[partition] = .opening
            return .open(partition)
        case .opening where !isOwner && isServedByOwner:
            roles[partition] = .closing
            return .close(partition)
        case .serving where !isOwner && isServedByOwner:
            roles[partition] = .yielding(until: now + Self.overlap)
            nextAnnouncement = now
            return nil
        case .yielding where isOwner || !isServedByOwner:
            roles[partition] = .serving
            nextAnnouncement = now
            return nil
        case .yielding(let end) where end <= now:
            roles[partition] = .closing
            return .close(partition)
        default:
            return nil
        }
    }
}

/// The partitions whose requests a daemon answers, as its ``Membership`` knows it.
public struct ServingAssignment: Sendable, Equatable {
    /// Partitions that it serves.
    public let serving: Set<Int>
    /// Partitions that another daemon serves, though this one may work on them, too.
    public let servedByOthers: Set<Int>
    /// When it expires: a daemon that stood still must not answer from outdated rooms until it knows better.
    public let validUntil: Instant

    init(serving: Set<Int>, servedByOthers: Set<Int>, validUntil: Instant) {
        (self.serving, self.servedByOthers, self.validUntil) = (serving, servedByOthers, validUntil)
    }

    /// That of a daemon that knows nothing yet: it has expired.
    public init() { self.init(serving: [], servedByOthers: [], validUntil: .distantPast) }

    /// - Parameter now: by the clock of the membership.
    public func isValid(at now: Instant) -> Bool { now < validUntil }

    /// Whether requests about a partition are answered, those that have to wait until it is open included. Not where
    /// another daemon answers them.
    public func answers(_ partition: Int) -> Bool {
        serving.contains(partition) || !servedByOthers.contains(partition)
    }

    public func hasSamePartitions(as other: ServingAssignment) -> Bool {
        serving == other.serving && servedByOthers == other.servedByOthers
    }
}

/// Rendezvous hashing (Thaler and Ravishankar, 1996): every member finds the same owner for a partition without asking,
/// and when a member comes or goes only its own partitions move.
enum Rendezvous {
    /// The owner of a partition among the members, nil where there is none.
    static func owner(of partition: Int, among members: some Sequence<String>) -> String? {
        members.max { (score($0, partition), $0) < (score($1, partition), $1) }
    }

    private static func score(_ member: String, _ partition: Int) -> UInt64 {
        FNV1a64.mixed(Array("\(member)/\(partition)".utf8))
    }
}
