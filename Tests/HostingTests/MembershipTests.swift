import Hosting
import Testing
import Whiteboard

@Suite struct MembershipTests {
    private let group = PeerGroup(partitions: 16)

    @Test func `every partition has one server, whoever comes`() {
        for name in ["a", "b", "c"] {
            group.join(name)
            #expect(group.after(.seconds(5)).servers == Array(repeating: 1, count: 16))
        }
        #expect(group.members.values.allSatisfy { !$0.serving.isEmpty })
    }

    @Test func `a hand-over leaves no partition without a server for a moment`() {
        group.join("a")
        group.wait(.seconds(2))
        group.join("b")
        var least = Int.max
        group.wait(.seconds(5)) { least = min(least, group.servers.min() ?? 0) }
        #expect(least >= 1)
        group.members["b"]?.leave(at: group.now)
        group.wait(.seconds(5)) { least = min(least, group.servers.min() ?? 0) }
        #expect(least >= 1)
        #expect(group.members["a"]?.serving.count == 16)
        #expect(group.members["b"]?.serving.isEmpty == true)
    }

    @Test func `one that leaves before it serves anything never counts as serving`() {
        var member = Membership(name: "a", partitions: 2, at: Instant(nanoseconds: 0))
        let later = Instant(nanoseconds: 0) + Membership.joinDelay
        #expect(member.advance(to: later).contains(.open(0)))
        member.leave(at: later)
        for partition in 0..<2 { member.closed(partition, at: later) }
        _ = member.advance(to: later)
        #expect(!member.isSettled)
    }

    @Test func `a dead member's partitions are taken over after three seconds`() {
        group.join("a", "b")
        group.wait(.seconds(5))
        group.members["b"] = nil
        #expect(group.after(.milliseconds(1900)).servers.contains(0))
        #expect(group.after(.milliseconds(1200)).servers == Array(repeating: 1, count: 16))
    }

    @Test func `one that has stood still gives up what it has, and takes nothing before it has listened`() {
        group.join("a", "b")
        group.wait(.seconds(5))
        group.silent = ["a"]
        group.wait(.seconds(30))
        group.silent = []
        #expect(group.after(.milliseconds(100)).members["a"]?.serving == [])
        #expect(group.members["a"]?.members == ["a", "b"])
        #expect(group.after(.seconds(5)).servers == Array(repeating: 1, count: 16))
    }

    @Test func `one that has stood still answers nobody before it knows what the others do`() {
        group.join("a")
        group.wait(.seconds(5))
        #expect(group.answering(3) == ["a"])
        group.silent = ["a"]
        group.join("b")
        group.wait(.seconds(30))
        #expect(!group.answering(3).contains("a"))
        group.silent = []
        group.wait(.seconds(5))
        for partition in 0..<16 { #expect(group.answering(partition).count == 1) }
    }

    @Test func `one that stood still for less than others wait takes nobody for dead`() {
        group.join("a", "b")
        group.wait(.seconds(5))
        group.silent = ["a"]
        group.wait(.milliseconds(2900))
        group.silent = []
        #expect(group.after(.milliseconds(5)).members["a"]?.members == ["a", "b"])
    }

    @Test func `of an announced partition that there is not, nothing is known`() {
        var member = Membership(name: "a", partitions: 2, at: Instant(nanoseconds: 0))
        let announcement = Announcement(member: "b", serving: [1, 2, -1, 1 << 40], isLeaving: false)
        #expect(member.receive(announcement, at: Instant(nanoseconds: 0)) == .newcomer)
        #expect(member.assignment.servedByOthers == [1])
    }

    @Test func `one that wakes up only when it has to, and always a little late, notices that another is gone`() {
        let start = Instant(nanoseconds: 1_000_000_000_000)
        var (now, member) = (start, Membership(name: "a", partitions: 1, at: start))
        _ = member.receive(Announcement(member: "b", serving: [0], isLeaving: false), at: now)
        while now - start < .seconds(5) {
            for case .open(let partition) in member.advance(to: now) { member.opened(partition, at: now) }
            now = member.nextWake + .milliseconds(1)
        }
        #expect(member.members == ["a"])
        #expect(member.serving == [0])
    }
}

/// Daemons on one root with incompatible settings.
@Suite struct IncompatiblePeerTests {
    private let group = PeerGroup(partitions: 16)

    @Test func `a daemon with another number of partitions is told of once, and is no member`() {
        group.join("a")
        group.wait(.seconds(2))
        group.join("b", partitions: 8)
        group.wait(.seconds(10))
        let conflict = CommonSettings(partitions: 16).conflicts(with: CommonSettings(partitions: 8))
        #expect(conflict.map(\.setting) == ["subjects.partitions"])
        #expect(conflict.map(\.mine) == ["16"] && conflict.map(\.theirs) == ["8"])
        #expect(group.news.filter { $0.listener == "a" }.map(\.1) == [.incompatible(conflict)])
        #expect(group.members["a"]?.members == ["a"])
        #expect(group.members["a"]?.serving.count == 16)
    }

    @Test func `a member that comes back with other settings is one no more`() {
        group.join("a", "b")
        group.wait(.seconds(5))
        group.join("b", partitions: 8)
        #expect(group.after(.seconds(5)).members["a"]?.members == ["a"])
        #expect(group.members["a"]?.serving.count == 16)
    }

    @Test func `a daemon that does not say its settings is a member like any other`() {
        group.join("a", journal: "jetstream")
        group.wait(.seconds(2))
        group.announce(Announcement(member: "old", serving: [], isLeaving: false))
        #expect(group.after(.seconds(1)).news.map(\.1) == [.newcomer])
        #expect(group.members["a"]?.members == ["a", "old"])
    }

    @Test func `one who asks before it begins is answered at once, each time, and is no member yet`() {
        let group = PeerGroup(partitions: 2)
        group.join("a")
        group.wait(.milliseconds(2400))
        for partitions in [2, 2, 8, 8] {
            let before = group.spoken
            group.announce(
                Announcement(
                    member: "b", serving: [], isLeaving: false, isJoining: true,
                    settings: CommonSettings(partitions: partitions)))
            #expect(group.after(.milliseconds(10)).spoken == before + 1)
            #expect(group.members["a"]?.members == ["a"])
        }
    }

    @Test func `journals that differ do not go together, nor do two daemons without one`() {
        let (none, jetStream) = (CommonSettings(journal: "none"), CommonSettings(journal: "jetstream"))
        #expect(jetStream.conflicts(with: jetStream).isEmpty)
        #expect(jetStream.conflicts(with: CommonSettings()).isEmpty)
        #expect(CommonSettings().conflicts(with: none).isEmpty)
        for (mine, theirs) in [(none, jetStream), (jetStream, none), (none, none)] {
            #expect(mine.conflicts(with: theirs).map(\.setting) == ["journal.mode"])
        }
    }

    @Test func `beyond a thousand incompatible peers the one heard longest ago is told of again`() {
        var incompatiblePeers = IncompatiblePeers()
        var now = Instant(nanoseconds: 0)
        func isNew(_ name: String) -> Bool {
            now = now + .seconds(1)
            return incompatiblePeers.note(name, at: now)
        }
        #expect((0..<1024).allSatisfy { isNew("s\($0)") })
        #expect(!isNew("s0"))
        #expect(isNew("one more"))
        #expect(!isNew("s0"))
        #expect(isNew("s1"))
    }
}

/// Several daemons whose announcements take 5 ms, and who open and close partitions at once.
final class PeerGroup {
    var now = Instant(nanoseconds: 1_000_000_000_000)
    var members: [String: Membership] = [:]
    var silent: Set<String> = []
    /// The changes of peers' status, and who noticed them.
    private(set) var news: [(listener: String, PeerStatus)] = []
    /// Number of announcements by members.
    private(set) var spoken = 0
    private let partitions: Int
    private var travelling: [(at: Instant, announcement: Announcement)] = []

    init(partitions: Int) {
        self.partitions = partitions
    }

    /// - Parameter partitions: nil for as many as the group has.
    func join(_ names: String..., partitions: Int? = nil, journal: String? = nil) {
        for name in names {
            members[name] = Membership(name: name, partitions: partitions ?? self.partitions, journal: journal, at: now)
        }
    }

    /// Sends an announcement to all.
    func announce(_ announcement: Announcement) { travelling.append((now + .milliseconds(5), announcement)) }

    /// Names of the members that answer requests about a partition.
    func answering(_ partition: Int) -> [String] {
        members.filter { $0.value.assignment.isValid(at: now) && $0.value.assignment.answers(partition) }.keys.sorted()
    }

    /// The group some time later.
    func after(_ duration: Duration) -> PeerGroup {
        wait(duration)
        return self
    }

    /// Lets time pass in steps of 5 ms.
    func wait(_ duration: Duration, watch: () -> Void = {}) {
        let end = now + duration
        while now < end {
            now = now + .milliseconds(5)
            let arrived = travelling.filter { $0.at <= now }
            travelling.removeAll { $0.at <= now }
            for name in members.keys.sorted() where !silent.contains(name) {
                for (_, announcement) in arrived { hear(announcement, name) }
                act(name)
            }
            watch()
        }
    }

    private func hear(_ announcement: Announcement, _ listener: String) {
        let status = members[listener]?.receive(announcement, at: now) ?? .known
        if status != .known { news.append((listener, status)) }
    }

    private func act(_ name: String) {
        for action in members[name]?.advance(to: now) ?? [] {
            switch action {
            case .announce(let announcement):
                spoken += 1
                announce(announcement)
            case .open(let partition): members[name]?.opened(partition, at: now)
            case .close(let partition), .abandon(let partition): members[name]?.closed(partition, at: now)
            }
        }
    }

    /// The number of daemons that serve each partition.
    var servers: [Int] {
        (0..<partitions).map { partition in members.values.count { $0.serving.contains(partition) } }
    }
}
