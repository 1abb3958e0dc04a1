import Hosting
import StrokeWire
import Testing
import Whiteboard

@Suite struct RecoveryTests {
    /// A room with two strokes, saved after the first.
    private func saved(isQuiet: Bool = true) throws -> (stored: StoredRoom, bytes: [UInt8]) {
        let probe = HostProbe()
        probe.draw(1)
        let save = try #require(probe.save().first)
        var stored = save.stored
        stored.isQuiet = isQuiet
        return (stored, try #require(save.bytes))
    }

    @Test func `a quiet room is fetched when a record comes, and the record waits for it`() throws {
        let (stored, bytes) = try saved()
        let probe = HostProbe(stored: [.algebra: stored], after: 1)
        #expect(probe.output.ready == [0])
        #expect(probe.output.fetched.isEmpty)
        probe.draw(2)
        #expect(probe.output.fetched.map(\.room) == [.algebra])
        #expect(probe.output.released().isEmpty)
        try probe.restore(bytes, sequence: 1)
        #expect(probe.output.released() == [2])
        #expect(probe.room()?.incarnation == "log-1")
    }

    @Test
    func `a room in which something goes on is fetched at once, and the partition is ready when it is there`() throws {
        let (stored, bytes) = try saved(isQuiet: false)
        let probe = HostProbe(stored: [.algebra: stored], after: 1)
        #expect(probe.output.fetched.map(\.room) == [.algebra])
        #expect(probe.output.ready.isEmpty)
        try probe.restore(bytes, sequence: 1)
        #expect(probe.output.ready == [0])
    }

    @Test func `a room in another life than the one that was known has a video by its state alone`() throws {
        let before = HostProbe(gate: .auto)
        before.draw(1)
        before.sample(#"{"m":10000}"#)
        before.send(#"{"n":2,"t":16000,"d":[{"x":1,"y":1}]}"#)
        #expect(before.output.released() == [1])
        before.wait(.seconds(1))
        let save = try #require(before.acknowledge().first)
        let bytes = try #require(save.bytes)
        var stored = save.stored
        (stored.incarnation, stored.isQuiet) = ("log-0", false)
        let probe = HostProbe(gate: .auto, stored: [.algebra: stored], after: 2)
        let room = try Room(
            restoring: bytes, configuration: probe.host.configuration.room, at: probe.now, logClockAhead: .zero)
        probe.host.restored(.algebra, room, sequence: 2, restorations: 0, tail: [], at: probe.now)
        probe.wait(.seconds(20))
        #expect(probe.output.released().isEmpty)
        probe.sample(#"{"m":15990}"#)
        probe.wait(.milliseconds(11))
        #expect(probe.output.released() == [2])
    }

    @Test func `of a room none of whose checkpoints can be read no record counts as covered while all is saved again`()
    {
        let probe = HostProbe(stored: [.algebra: .damaged], after: 5)
        #expect(probe.output.fetched.map(\.room) == [.algebra])
        probe.host.close(0, saving: .everything, at: probe.now)
        #expect(probe.host.covered(of: 0, through: 5) == 0)
        probe.host.restored(.algebra, nil, sequence: 0, restorations: 0, tail: [], at: probe.now)
        #expect(probe.output.closed == [0])
    }

    @Test func `authors are not told again what they were told before, and of the rest at least once`() throws {
        var (stored, bytes) = try saved()
        stored.handled = 2
        let probe = HostProbe(stored: [.algebra: stored], after: 1, isLive: false)
        probe.draw(2, 3)
        try probe.restore(bytes, sequence: 1)
        #expect(probe.output.told == [.applied(number: 3, index: 3)])
        #expect(probe.output.released().isEmpty)
        probe.host.caughtUp(0, at: probe.now)
        #expect(probe.output.released() == [2, 3])
    }

    @Test
    func `cohorts go on from where the newest note has them, and no cursor is carried into another life`() throws {
        var (stored, bytes) = try saved()
        stored.cursors = [.main: 2]
        let probe = HostProbe(stored: [.algebra: stored], after: 1, isLive: false)
        probe.draw(2, 3)
        try probe.restore(bytes, sequence: 1)
        probe.host.caughtUp(0, at: probe.now)
        #expect(probe.output.released() == [3])

        let next = HostProbe(stored: [.algebra: stored], after: 1, isLive: false)
        next.log(.control(.close))
        next.draw(1, 2)
        try next.restore(bytes, sequence: 1)
        next.host.caughtUp(0, at: next.now)
        #expect(next.output.released() == [1, 2])
    }

    @Test func `a pause counts though the log names the clock's session when it is over`() {
        let probe = HostProbe(gate: .video, isLive: false)
        probe.draw(5000)
        probe.wait(.seconds(40))
        probe.host.caughtUp(0, at: probe.now)
        probe.sample(#"{"m":1000,"ep":1,"s":"pause"}"#)
        probe.wait(.milliseconds(250))
        probe.sample(#"{"m":1000,"ep":1}"#)
        probe.log(.control(.epoch(1)))
        #expect(probe.output.released().isEmpty)
        probe.wait(.milliseconds(250))
        probe.sample(#"{"m":5001,"ep":1}"#)
        #expect(probe.output.lateness(of: 5000) == false)
    }

    @Test func `a room is current while its journal is known to have been read to the end`() {
        let probe = HostProbe()
        probe.draw(1)
        func isCurrent() -> Bool {
            guard case .here(let hosted) = probe.host.look(for: .algebra, partition: 0, at: probe.now) else {
                return false
            }
            return probe.host.isCurrent(hosted, at: probe.now)
        }
        #expect(!isCurrent())
        probe.host.setLevel(of: 0, until: probe.now + .seconds(2), at: probe.now)
        #expect(isCurrent())
        probe.wait(.seconds(3))
        #expect(!isCurrent())
    }
}

@Suite struct ExistenceTests {
    @Test(arguments: [
        "", "{}", "no JSON", #"{"n":1,"a":2}"#, #"{"n":1,"d":[]}"#, #"{"n":1,"e":99,"d":[{"x":1,"y":1}]}"#,
    ])
    func `an unacceptable message makes no room`(text: String) {
        for isDurable in [true, false] {
            let probe = HostProbe(isDurable: isDurable)
            probe.send(text)
            #expect(probe.output.told.count == 1)
            #expect(probe.host.roomNames.isEmpty)
            #expect(probe.host.covered(of: 0, through: 1) == 1)
            guard case .absent = probe.host.look(for: .algebra, partition: 0, at: probe.now) else {
                Issue.record("there is a room")
                continue
            }
            #expect(probe.after(.milliseconds(250)).host.nextWake == nil)
            #expect(probe.output.left == [.algebra])
            #expect(probe.output.saves.isEmpty)
        }
    }

    @Test func `several records that leave no room are covered together, when their end is saved`() throws {
        let probe = HostProbe()
        let ann = try #require(AuthorID("ann"))
        probe.send(#"{"n":7,"s":2,"d":[{"x":1,"y":1}]}"#)
        probe.log(.control(.mute(ann)))
        // To a reader that begins here it is a room.
        probe.draw(8)
        probe.log(.control(.unmute(ann)))
        #expect(probe.host.roomNames.isEmpty)
        #expect(probe.host.covered(of: 0, through: 4) == 0)
        #expect(probe.save().map(\.stored.sequence) == [4])
        #expect(probe.host.covered(of: 0, through: 4) == 4)
        #expect(probe.output.left == [.algebra])
    }

    @Test func `a clock sample makes no room that is written down, and tells the log of a session when there is one`() {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":1000,"ep":3}"#)
        #expect(probe.output.decisions.isEmpty)
        #expect(probe.host.roomNames.isEmpty)
        probe.draw(1)
        #expect(probe.output.decisions == [.epoch(3)])
        #expect(probe.output.released().isEmpty)
        probe.log(.control(.epoch(3)))
        #expect(probe.output.released() == [1])
    }

    @Test func `the clocks of rooms that do not exist take no more places than there are`() throws {
        let probe = HostProbe(rooms: 10)
        for number in 0..<1000 { probe.sample(#"{"m":1}"#, of: try #require(RoomID("room-\(number)"))) }
        #expect(probe.output.left.count == 990)
        probe.draw(1)
        probe.wait(.seconds(1))
        probe.serve()
        for number in 0..<1000 { probe.sample(#"{"m":1}"#, of: try #require(RoomID("room-\(number)"))) }
        probe.draw(2)
        #expect(probe.output.released() == [1, 2])
    }
}
