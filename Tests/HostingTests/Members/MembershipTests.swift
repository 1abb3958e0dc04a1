import Hosting
import Testing
import Whiteboard

@Suite struct MembershipTests {
    @Test func `every partition has one server, whoever comes`() {
        let club = Club(partitions: 16)
        for name in ["a", "b", "c"] {
            club.join(name)
            club.wait(.seconds(5))
            #expect(club.servers == Array(repeating: 1, count: 16))
        }
        #expect(club.members.values.allSatisfy { !$0.serving.isEmpty })
    }

    @Test func `a hand-over leaves no partition without a server for a moment`() {
        let club = Club(partitions: 16)
        club.join("a")
        club.wait(.seconds(2))
        club.join("b")
        var least = Int.max
        club.wait(.seconds(5)) { least = min(least, club.servers.min() ?? 0) }
        #expect(least >= 1)
        club.members["b"]?.leave(at: club.now)
        club.wait(.seconds(5)) { least = min(least, club.servers.min() ?? 0) }
        #expect(least >= 1)
        #expect(club.members["a"]?.serving.count == 16)
        #expect(club.members["b"]?.serving.isEmpty == true)
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

    @Test func `what a dead one served is taken over after three seconds`() {
        let club = Club(partitions: 16)
        club.join("a")
        club.join("b")
        club.wait(.seconds(5))
        club.members["b"] = nil
        club.wait(.milliseconds(1900))
        #expect(club.servers.contains(0))
        club.wait(.milliseconds(1200))
        #expect(club.servers == Array(repeating: 1, count: 16))
    }

    @Test func `one that has stood still gives up what it has, and takes nothing before it has listened`() {
        let club = Club(partitions: 16)
        club.join("a")
        club.join("b")
        club.wait(.seconds(5))
        club.silent = ["a"]
        club.wait(.seconds(30))
        club.silent = []
        club.wait(.milliseconds(100))
        #expect(club.members["a"]?.serving == [])
        #expect(club.members["a"]?.members == ["a", "b"])
        club.wait(.seconds(5))
        #expect(club.servers == Array(repeating: 1, count: 16))
    }

    @Test func `one that has stood still answers nobody before it knows what the others do`() {
        let club = Club(partitions: 16)
        club.join("a")
        club.wait(.seconds(5))
        #expect(club.members["a"]?.answers(3, at: club.now) == true)
        club.silent = ["a"]
        club.join("b")
        club.wait(.seconds(30))
        #expect(club.members["a"]?.answers(3, at: club.now) == false)
        club.silent = []
        club.wait(.seconds(5))
        for partition in 0..<16 {
            #expect(club.members.values.count { $0.answers(partition, at: club.now) } == 1)
        }
    }

    @Test func `one that stood still for less than others wait takes nobody for dead`() {
        let club = Club(partitions: 16)
        club.join("a")
        club.join("b")
        club.wait(.seconds(5))
        club.silent = ["a"]
        club.wait(.milliseconds(2900))
        club.silent = []
        club.wait(.milliseconds(5))
        #expect(club.members["a"]?.members == ["a", "b"])
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
