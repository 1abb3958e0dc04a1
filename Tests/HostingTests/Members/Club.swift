import Hosting
import Whiteboard

/// Several daemons that hear each other after 5 ms, and open and close at once.
final class Club {
    var now = Instant(nanoseconds: 1_000_000_000_000)
    var members: [String: Membership] = [:]
    var silent: Set<String> = []
    /// Who was heard by whom for the first time.
    private(set) var news: [(listener: String, PeerStatus)] = []
    /// How many announcements the members have made.
    private(set) var spoken = 0
    private let partitions: Int
    private var travelling: [(at: Instant, announcement: Announcement)] = []

    init(partitions: Int) {
        self.partitions = partitions
    }

    /// - Parameter partitions: where it has another number of them than the club.
    func join(_ name: String, partitions: Int? = nil, journal: String? = nil) {
        members[name] = Membership(name: name, partitions: partitions ?? self.partitions, journal: journal, at: now)
    }

    /// Says something to all.
    func announce(_ announcement: Announcement) {
        travelling.append((now + .milliseconds(5), announcement))
    }

    /// Time passes, in steps of 5 ms.
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

    /// How many serve each partition.
    var servers: [Int] {
        (0..<partitions).map { partition in members.values.count { $0.serving.contains(partition) } }
    }
}
