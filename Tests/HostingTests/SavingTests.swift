import StrokeWire
import Testing
import Whiteboard

@testable import Hosting

@Suite struct SavingTests {
    private let probe = HostProbe()

    @Test func `the first state is saved a second after the first record, later ones after 30 s or 256 operations`() {
        probe.draw(1)
        #expect(probe.after(.milliseconds(999)).output.saves.isEmpty)
        probe.wait(.milliseconds(1))
        #expect(probe.acknowledge().map { $0.bytes != nil } == [true])
        probe.draw(2)
        #expect(probe.save().map { $0.bytes != nil } == [false])
        probe.wait(.seconds(29))
        #expect(probe.acknowledge().map { $0.bytes != nil } == [true])
        for number in 3...258 { probe.draw(number) }
        #expect(probe.save().map { $0.bytes != nil } == [true])
    }

    @Test func `rooms of a partition that is to be covered soon are saved within an eighth of the interval, once`() {
        let rooms = (0..<20).compactMap { RoomID("room-\($0)") }
        for room in rooms { probe.draw(1, to: room) }
        probe.save()
        for room in rooms { probe.draw(2, to: room) }
        probe.save()
        probe.draw(3, to: rooms[0])
        let last: UInt64 = 41
        probe.host.saveSoon(0, at: probe.now)
        #expect(probe.host.covered(of: 0, through: last) < last)
        var saved: [RoomID] = []
        for _ in 0..<15 {
            probe.wait(.milliseconds(250))
            saved += probe.acknowledge().filter { $0.bytes != nil }.map(\.room)
        }
        #expect(Set(saved) == Set(rooms) && saved.count == rooms.count)
        #expect(probe.host.covered(of: 0, through: last) == last)
        for room in rooms { probe.draw(4, to: room) }
        probe.wait(.seconds(20))
        #expect(probe.acknowledge().allSatisfy { $0.bytes == nil })
    }

    @Test func `a note of cursors names the records that the last state holds, and those that authors know of`() {
        probe.draw(1)
        probe.save()
        probe.draw(2)
        let note = probe.save().first?.stored
        #expect(note?.sequence == 1)
        #expect(note?.handled == 2)
        #expect(note?.cursors.withoutClocks == [.main: 2])
    }

    @Test func `a room that could not be saved is saved whole after a second`() {
        probe.draw(1)
        probe.save()
        probe.draw(2)
        probe.wait(.seconds(1))
        #expect(probe.acknowledge(isSaved: false).map { $0.bytes != nil } == [false])
        #expect(probe.save().map { $0.bytes != nil } == [true])
    }

    @Test func `a room is saved from its first operation on`() {
        probe.send(#"{"n":1,"s":2,"o":0,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.after(.seconds(9)).output.saves.isEmpty)
        #expect(probe.host.covered(of: 0, through: 1) == 0)
        probe.send(#"{"n":1,"s":2,"o":1,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.save().map { $0.bytes != nil } == [true])
        #expect(probe.host.covered(of: 0, through: 2) == 2)
    }

    @Test func `256 releases are saved at once, counted from the cursors that were acknowledged`() {
        let probe = HostProbe(gate: .video)
        for number in 0..<600 {
            let message = #"{"n":\#(number / 3 + 1),"t":\#(10_001 + number),"d":[{"x":1,"y":1}]}"#
            probe.send(message, by: ["ann", "bob", "cid"][number % 3])
        }
        #expect(probe.save().map { $0.bytes != nil } == [true])
        func release(through number: Int) { probe.sample(#"{"m":\#(10_001 + number),"r":0,"d":true}"#) }
        release(through: 255)
        #expect(probe.output.released().count == 255)
        #expect(probe.output.saves.isEmpty)
        release(through: 256)
        #expect(probe.output.saves.map(\.stored.cursors.withoutClocks) == [[.main: 256]])
        release(through: 400)
        probe.acknowledge()
        release(through: 511)
        #expect(probe.output.saves.isEmpty)
        release(through: 512)
        #expect(probe.output.saves.map(\.stored.cursors.withoutClocks) == [[.main: 512]])
    }

    @Test func `a pause that begins or ends is saved within a second, though no cursor moves`() {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":1000}"#)
        probe.send(#"{"n":1,"t":50000,"d":[{"x":1,"y":1}]}"#)
        #expect(probe.save().last?.stored.cursors.withoutClocks == [.main: 0])
        let paused = probe.now
        for _ in 0..<40 {
            probe.sample(#"{"m":1000,"s":"pause"}"#)
            probe.wait(.milliseconds(250))
        }
        #expect(
            probe.acknowledge().map(\.stored.cursors.withoutClocks) == [[.main: CohortCursor(0, pausedSince: paused)]])
        probe.sample(#"{"m":1000}"#)
        #expect(
            probe.save().map(\.stored.cursors.withoutClocks) == [[.main: CohortCursor(0, pausedTime: .seconds(10))]])
    }

    @Test func `a clock that goes back is saved within a second, though no cursor moves`() {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":100000}"#)
        probe.send(#"{"n":1,"t":200000,"d":[{"x":1,"y":1}]}"#)
        probe.save()
        for media in [100_500, 101_000] {
            probe.sample(#"{"m":\#(media)}"#)
            #expect(probe.save().isEmpty)
        }
        for media in [93_000, 85_000] {
            probe.sample(#"{"m":\#(media),"d":true}"#)
            let clock = probe.save().last?.stored.cursors[.main]?.clock
            #expect(clock?.media == MediaTime(milliseconds: Int64(media)))
        }
    }

    @Test
    func `a cohort that comes to be is saved within a second, though its first sample waits for its epoch`() throws {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":1000,"ep":1}"#)
        probe.send(#"{"n":1,"t":50000,"d":[{"x":1,"y":1}]}"#)
        probe.log(.control(.epoch(1)))
        #expect(probe.save().map(\.stored.cursors.withoutClocks) == [[.main: 0]])
        let late = try #require(CohortName("late"))
        probe.sample(#"{"m":0,"ep":2}"#, cohort: late)
        #expect(probe.output.decisions.last == .epoch(2))
        #expect(probe.save().map(\.stored.cursors.withoutClocks) == [[.main: 0, late: 0]])
    }

    @Test func `a successor saves what becomes of a pause, and nothing that it has from the newest note`() throws {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":1000}"#)
        probe.send(#"{"n":1,"t":500,"d":[{"x":1,"y":1}]}"#)
        probe.send(#"{"n":2,"t":50000,"d":[{"x":1,"y":1}]}"#)
        let bytes = try #require(probe.save().first?.bytes)
        probe.send(#"{"n":3,"t":90000,"d":[{"x":1,"y":1}]}"#)
        probe.sample(#"{"m":60000,"s":"pause","d":true}"#)
        let paused = probe.now
        let note = try #require(probe.save().first)
        #expect(note.bytes == nil)
        #expect(note.stored.cursors.withoutClocks == [.main: CohortCursor(2, pausedSince: paused)])

        let next = HostProbe(gate: .video, stored: [.algebra: note.stored], after: 2, isLive: false)
        next.wait(.seconds(3))
        next.send(#"{"n":3,"t":90000,"d":[{"x":1,"y":1}]}"#)
        try next.restore(bytes, sequence: 2)
        next.host.caughtUp(0, at: next.now)
        for _ in 0..<8 {
            next.wait(.milliseconds(500))
            next.sample(#"{"m":60000,"s":"pause"}"#)
        }
        #expect(next.output.saves.isEmpty)
        next.sample(#"{"m":60000}"#)
        next.wait(.seconds(1))
        #expect(
            next.acknowledge().map(\.stored.cursors.withoutClocks) == [
                [.main: CohortCursor(2, pausedTime: .seconds(4))]
            ])
        #expect(next.output.released().isEmpty)
    }
}

@Suite struct ConfirmationTests {
    private func probe() -> HostProbe {
        let probe = HostProbe()
        probe.output.confirms = false
        return probe
    }

    private func reconnect(_ probe: HostProbe) {
        probe.host.setOutput(isOpen: false, at: probe.now)
        probe.host.setOutput(isOpen: true, at: probe.now)
    }

    @Test func `all rooms share one question at a time, and none is asked where nothing was published`() {
        let probe = probe()
        #expect(probe.after(.seconds(1)).output.confirmations == 0)
        for number in 1...50 {
            probe.draw(number)
            probe.draw(number, to: .botany)
        }
        #expect(probe.after(.milliseconds(249)).output.confirmations == 0)
        #expect(probe.after(.milliseconds(500)).output.confirmations == 1)
        probe.output.confirms = true
        probe.confirm()
        probe.wait(.milliseconds(900))
        // Marks and notices of what is missing come again by themselves.
        #expect(probe.output.confirmations == 1)
    }

    @Test func `a server that confirms nothing is sent a bounded number of bytes, and the rest when it does`() {
        let probe = probe()
        let points = Array(repeating: #"{"x":1,"y":1}"#, count: 15_000).joined(separator: ",")
        for number in 1...120 {
            probe.send(#"{"n":\#((number + 29) / 30),"t":1,"d":[\#(points)]}"#, by: "author-\(number % 30)")
            probe.wait(.milliseconds(200))
        }
        let sent = probe.output.released().count
        #expect(sent > 20 && sent < 100)
        probe.output.confirms = true
        probe.confirm()
        for _ in 1...20 { probe.wait(.milliseconds(250)) }
        #expect(probe.output.released() == (1...120).map { UInt64($0) })
    }

    @Test func `rooms that are there for an answer alone do not pile up while the server confirms nothing`() throws {
        let probe = probe()
        for number in 0..<5000 { probe.send("{}", to: try #require(RoomID("room-\(number)"))) }
        #expect(probe.output.left.count == 5000 - 4096)
        #expect(probe.host.unconfirmedRooms.count == 4096)
    }

    @Test func `a room stays in memory until all that it has published is confirmed`() {
        let probe = probe()
        probe.draw(1)
        probe.save()
        probe.wait(.seconds(120))
        probe.acknowledge()
        #expect(probe.output.left.isEmpty)
        probe.output.confirms = true
        probe.confirm()
        #expect(probe.after(.seconds(61)).output.left == [.algebra])
    }

    @Test func `saves that fail come twice as late each time, and soon again on a new connection`() {
        let probe = HostProbe()
        probe.draw(1)
        for pause in [1, 1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(probe.after(.seconds(pause) - .milliseconds(1)).output.saves.isEmpty, "before \(pause) s")
            probe.wait(.milliseconds(1))
            #expect(probe.acknowledge(isSaved: false).count == 1, "after \(pause) s")
        }
        reconnect(probe)
        #expect(probe.save().count == 1)
    }
}
