import Hosting
import StrokeWire
import Testing
import Whiteboard

@Suite struct RestingTests {
    private let probe = HostProbe()

    @Test func `a saved room in which nothing happens leaves memory, and comes back when it is asked for`() throws {
        probe.draw(1)
        probe.save()
        #expect(probe.after(.seconds(60)).output.left == [.algebra])
        guard case .waking = probe.host.look(for: .algebra, partition: 0, at: probe.now) else {
            Issue.record("it is not fetched")
            return
        }
        #expect(probe.output.fetched.map(\.stored.sequence) == [1])
        probe.serve()
        #expect(probe.room()?.head.index == 1)
    }

    @Test func `a room with something held stays`() {
        let probe = HostProbe(gate: .video)
        probe.sample(#"{"m":0,"s":"pause"}"#)
        probe.draw(100)
        for _ in 0..<20 { probe.save() }
        #expect(probe.output.left.isEmpty)
    }

    @Test func `without a journal that lasts a room sleeps in memory, and is the same when it wakes`() {
        let probe = HostProbe(isDurable: false)
        probe.draw(1, 2)
        #expect(probe.after(.seconds(60)).output.left == [.algebra])
        probe.draw(3)
        #expect(probe.output.released() == [1, 2, 3])
        #expect(probe.room()?.incarnation == "log-1")
    }

    @Test func `a message that was on its way when a decision was taken is not lost`() {
        let probe = HostProbe(isDurable: false)
        probe.draw(1, 3)
        probe.output.lastSequence = 1000
        #expect(probe.after(.seconds(2)).output.told.contains(.gaveUp(from: 2, to: 2)))
        probe.draw(4)
        #expect(probe.output.released() == [1, 2, 3])
    }

    @Test func `a room that only a clock was heard of makes place for one that is written to`() {
        let probe = HostProbe(rooms: 2)
        for room in [RoomID.algebra, .botany] { probe.sample(#"{"m":0,"ep":1}"#, of: room) }
        #expect(probe.output.decisions.isEmpty)
        probe.draw(1, to: .chemistry)
        #expect(probe.output.left == [.algebra])
        #expect(probe.host.roomNames == [.chemistry])
    }

    @Test func `a room that only a clock was heard of waits for its next sample when it is written to later`() {
        let probe = HostProbe(gate: .auto, rooms: 1)
        probe.wait(.seconds(5))
        probe.sample(#"{"m":0,"ep":1}"#)
        probe.draw(1, to: .botany)
        probe.draw(100_000)
        probe.serve(every: .milliseconds(50), times: 8)
        #expect(probe.output.left == [.algebra, .botany])
        #expect(probe.room()?.head.index == 1)
        #expect(probe.output.released().isEmpty)
    }

    @Test func `a partition that is closed saves its rooms, and releases nothing any more`() {
        let probe = HostProbe(gate: .video)
        probe.draw(1)
        probe.host.close(0, at: probe.now)
        probe.host.saved(.algebra, isSaved: false, at: probe.now)
        #expect(probe.after(.seconds(20)).output.released().isEmpty)
        #expect(probe.output.closed.isEmpty)
        #expect(Set(probe.acknowledge().map(\.room)) == [.algebra])
        #expect(probe.output.closed == [0] && probe.output.whole == [0])
    }

    @Test func `knowledge of a room that has left memory goes with its checkpoint`() {
        let quiet = StoredRoom(
            sequence: 1, handled: 1, cursors: [:], isQuiet: true, hasState: true, incarnation: "log-1")
        let probe = HostProbe(stored: [.botany: quiet], kept: .seconds(3600), after: 1)
        probe.wait(.seconds(600))
        probe.draw(1)
        probe.save()
        #expect(probe.after(.seconds(60)).output.left == [.algebra])
        #expect(Set(probe.host.roomNames) == [.algebra, .botany])
        #expect(probe.after(.seconds(2940)).output.forgotten == [.botany])
        #expect(probe.host.roomNames == [.algebra])
        #expect(probe.after(.seconds(661)).output.forgotten == [.botany, .algebra])
        #expect(probe.host.roomNames.isEmpty)
        #expect(probe.host.nextWake == nil)
    }

    @Test func `a room that comes back into memory is not forgotten`() throws {
        let probe = HostProbe(kept: .seconds(3600))
        probe.draw(1)
        let saved = try #require(probe.save().first)
        probe.wait(.seconds(60))
        probe.draw(2)
        try probe.restore(try #require(saved.bytes), sequence: saved.stored.sequence)
        for _ in 0..<120 {
            probe.wait(.seconds(50))
            probe.draw(3)
            probe.acknowledge()
        }
        #expect(probe.output.forgotten.isEmpty)
        #expect(probe.room()?.head.index == 3)
    }

    @Test func `of a room that was closed nothing is kept once its records have been passed`() {
        let closed = StoredRoom(sequence: 2, handled: 2, cursors: [:], isQuiet: true, hasState: false, incarnation: "")
        let probe = HostProbe(stored: [.algebra: closed], after: 1, isLive: false)
        probe.log(.control(.close))
        #expect(probe.host.roomNames == [.algebra])
        probe.host.caughtUp(0, at: probe.now)
        #expect(probe.host.roomNames.isEmpty)
        probe.draw(1)
        #expect(probe.output.released() == [1])
        #expect(probe.room()?.incarnation == "log-3")
    }
}

@Suite struct ArrivalTests {
    @Test func `operations made due by a sample that was handled late count as late`() {
        let probe = HostProbe(gate: .video)
        probe.draw(100)
        let arrivedAt = probe.now
        probe.sample(#"{"m":200}"#, handledAfter: .milliseconds(300))
        #expect(probe.output.released() == [1])
        #expect(probe.output.dueTimes == [arrivedAt])
    }

    @Test func `the video has gone on since a sample came that was handled late`() {
        let probe = HostProbe(gate: .video)
        for (number, time) in [(1, 400), (2, 600)] {
            probe.send(#"{"n":\#(number),"t":\#(time),"d":[{"x":1,"y":1}]}"#)
        }
        let arrivedAt = probe.now
        probe.sample(#"{"m":200}"#, handledAfter: .milliseconds(300))
        #expect(probe.output.released() == [1])
        #expect(probe.after(.milliseconds(150)).output.released() == [1, 2])
        for (due, passed) in zip(probe.output.dueTimes, [200, 400]) {
            #expect(due - arrivedAt >= .milliseconds(passed) && due - arrivedAt < .milliseconds(passed + 1))
        }
    }
}
