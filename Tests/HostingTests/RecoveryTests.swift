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

    @Test func `a clock without names of its sessions is of the one that was saved with the cursors`() throws {
        let hls = try #require(CohortName("hls"))
        let before = HostProbe(gate: .video)
        before.sample(#"{"m":3600000}"#)
        before.sample(#"{"m":3588000}"#, cohort: hls)
        before.send(#"{"n":1,"t":3599000,"d":[{"x":1,"y":1}]}"#)
        before.wait(.seconds(1))
        // Saved before the encoder restarts: the log has the rest.
        let save = try #require(before.acknowledge().last)
        let bytes = try #require(save.bytes)
        #expect(save.stored.cursors[hls]?.clock?.epoch == -1)
        let probe = HostProbe(gate: .video, stored: [.algebra: save.stored], after: 1, isLive: false)
        for record in [ControlRecord.epoch(0), .epoch(1)] { probe.log(.control(record)) }
        probe.send(#"{"n":2,"t":300,"d":[{"x":1,"y":1}]}"#)
        let room = try Room(
            restoring: bytes, configuration: probe.host.configuration.room, at: probe.now, logClockAhead: .zero)
        probe.host.restored(.algebra, room, sequence: 1, restorations: 0, tail: [], at: probe.now)
        probe.host.caughtUp(0, at: probe.now)
        probe.sample(#"{"m":3589000}"#, cohort: hls)
        probe.wait(.milliseconds(500))
        #expect(probe.output.released(hls).isEmpty)
        for sample in [#"{"m":0}"#, #"{"m":250}"#] {
            probe.sample(sample, cohort: hls)
            probe.wait(.milliseconds(250))
        }
        #expect(probe.output.released(hls) == [1, 2])
        #expect(probe.output.decisions.isEmpty)
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

    @Test func `where nothing can be read, the room is made from its whole log, and saved anew`() throws {
        let (stored, _) = try saved()
        let probe = HostProbe(stored: [.algebra: stored], after: 1)
        probe.draw(2)
        let first = JournalRecord(
            partition: 0, room: .algebra,
            content: .message(
                author: try #require(AuthorID("ann")), session: nil,
                bytes: Array(#"{"n":1,"t":1,"d":[{"x":1,"y":1}]}"#.utf8)), sequence: 1, loggedAt: probe.now)
        probe.host.restored(.algebra, nil, sequence: 0, restorations: 0, tail: [first], at: probe.now)
        #expect(probe.room()?.head.index == 2)
        #expect(probe.save().map { $0.bytes != nil } == [true])
    }

    @Test func `a room whose checkpoint lacks covered records is saved whole before its cursors`() throws {
        let (stored, bytes) = try saved(isQuiet: false)
        let probe = HostProbe(stored: [.algebra: stored], after: 2)
        let second = JournalRecord(
            partition: 0, room: .algebra,
            content: .message(
                author: try #require(AuthorID("ann")), session: nil,
                bytes: Array(#"{"n":2,"t":1,"d":[{"x":1,"y":1}]}"#.utf8)), sequence: 2, loggedAt: probe.now)
        try probe.restore(bytes, sequence: 1, tail: [second])
        #expect(probe.output.released() == [2])
        #expect(probe.save().map { $0.bytes != nil } == [true])
    }

    @Test func `nothing is decided about what is missing while the journal has records that were not read`() {
        let probe = HostProbe()
        probe.draw(1, 3)
        probe.host.setLevel(of: 0, until: probe.now + .seconds(1), at: probe.now)
        #expect(probe.after(.seconds(5)).output.decisions.isEmpty)
        // It was among these.
        probe.draw(2)
        probe.host.setLevel(of: 0, until: probe.now + .seconds(2), at: probe.now)
        #expect(probe.output.decisions.isEmpty)
        #expect(probe.output.released() == [1, 2, 3])

        probe.draw(5)
        probe.host.setLevel(of: 0, until: .distantPast, at: probe.now)
        #expect(probe.after(.seconds(5)).output.decisions.isEmpty)
        probe.host.setLevel(of: 0, until: probe.now + .seconds(2), at: probe.now)
        #expect(probe.output.decisions == [probe.given(up: 4)])
    }

    @Test func `nothing is decided about what is missing while records wait for a room on its way out`() {
        let probe = HostProbe(rooms: 1)
        probe.draw(1, 3)
        probe.wait(.milliseconds(300))
        probe.draw(7, to: .botany)
        probe.draw(2)
        #expect(probe.after(.seconds(5)).output.decisions.isEmpty)
        for _ in 0..<10 { probe.serve() }
        probe.wait(.seconds(5))
        probe.serve()
        #expect(probe.output.decisions.isEmpty)
    }

    @Test func `a partition whose room is being fetched is closed when the answer has come`() throws {
        let (stored, bytes) = try saved(isQuiet: false)
        let probe = HostProbe(stored: [.algebra: stored], after: 1)
        probe.host.close(0, at: probe.now)
        #expect(probe.output.closed.isEmpty)
        try probe.restore(bytes, sequence: 1)
        #expect(probe.output.closed == [0])
    }

    @Test func `a barrier is passed when no more than is allowed waits for rooms`() throws {
        let (stored, bytes) = try saved()
        let probe = HostProbe(stored: [.algebra: stored], after: 1)
        for number in 2...10 { probe.draw(number) }
        let passed = Flag()
        probe.host.barrier { passed.set() }
        #expect(!passed.isSet)
        try probe.restore(bytes, sequence: 1)
        #expect(passed.isSet)
    }
}

@Suite struct ExistenceTests {
    @Test(arguments: [
        "", "{}", "no JSON", #"{"n":1,"a":2}"#, #"{"n":1,"d":[]}"#, #"{"n":1,"e":99,"d":[{"x":1,"y":1}]}"#,
    ])
    func `what is not acceptable makes no room`(text: String) {
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

    @Test func `what was refused before the first operation leaves no trace`() {
        let probe = HostProbe()
        probe.send(#"{"n":5,"a":2}"#)
        probe.draw(6)
        #expect(probe.output.released() == [1])
        #expect(probe.room()?.incarnation == "log-2")
    }

    @Test func `a room is none again when its only stroke is given up`() {
        let probe = HostProbe()
        probe.send(#"{"n":1,"s":2,"o":0,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.host.roomNames == [.algebra])
        probe.wait(.seconds(10))
        #expect(probe.output.decisions.first == probe.given(up: 1))
        probe.log(.control(probe.given(up: 1)))
        #expect(probe.output.told.last == .gaveUp(from: 1, to: 1))
        #expect(probe.host.roomNames.isEmpty)
        #expect(probe.host.covered(of: 0, through: 2) == 2)
        #expect(probe.output.saves.isEmpty)
        #expect(probe.after(.seconds(1)).host.nextWake == nil)
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

extension HostProbe {
    /// The decision that gives a number up.
    func given(up number: Int64) -> ControlRecord {
        guard let author = AuthorID("ann") else { return .close }
        return .gaveUp(author: author, from: number, to: number, incarnation: "log-1")
    }
}
