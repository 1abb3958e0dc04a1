import Hosting
import Testing
import Whiteboard

/// Daemons on one root whose settings do not go together.
@Suite struct IncompatiblePeerTests {
    @Test func `a daemon with another number of partitions is told of once, and is no member`() {
        let club = Club(partitions: 16)
        club.join("a")
        club.wait(.seconds(2))
        club.join("b", partitions: 8)
        club.wait(.seconds(10))
        let conflict = CommonSettings(partitions: 16).conflicts(with: CommonSettings(partitions: 8))
        #expect(conflict.map(\.setting) == ["subjects.partitions"])
        #expect(conflict.map(\.mine) == ["16"] && conflict.map(\.theirs) == ["8"])
        #expect(club.news.filter { $0.listener == "a" }.map(\.1) == [.incompatible(conflict)])
        #expect(club.members["a"]?.members == ["a"])
        #expect(club.members["a"]?.serving.count == 16)
    }

    @Test func `a member that comes back with other settings is one no more`() {
        let club = Club(partitions: 16)
        club.join("a")
        club.join("b")
        club.wait(.seconds(5))
        club.join("b", partitions: 8)
        club.wait(.seconds(5))
        #expect(club.members["a"]?.members == ["a"])
        #expect(club.members["a"]?.serving.count == 16)
    }

    @Test func `a daemon that does not say its settings is a member like any other`() {
        let club = Club(partitions: 16)
        club.join("a", journal: "jetstream")
        club.wait(.seconds(2))
        club.announce(Announcement(member: "old", serving: [], isLeaving: false))
        club.wait(.seconds(1))
        #expect(club.news.map(\.1) == [.newcomer])
        #expect(club.members["a"]?.members == ["a", "old"])
    }

    @Test func `one who asks before it begins is answered at once, each time, and is no member yet`() {
        let club = Club(partitions: 2)
        club.join("a")
        club.wait(.milliseconds(2400))
        for partitions in [2, 2, 8, 8] {
            let before = club.spoken
            club.announce(
                Announcement(
                    member: "b", serving: [], isLeaving: false, isJoining: true,
                    settings: CommonSettings(partitions: partitions)))
            club.wait(.milliseconds(10))
            #expect(club.spoken == before + 1)
            #expect(club.members["a"]?.members == ["a"])
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
