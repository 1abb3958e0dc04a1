import StrokeWire
import Testing
import Whiteboard

/// Rule 6: encoder sessions.
@Suite("Epochs")
struct EpochTests {
    private var room = VirtualRoom()

    @Test mutating func `12: a cohort that sees the new epoch 20 s later has its own cursor until then`() throws {
        try room.sample(60_000, ep: 0)
        try room.sample(40_000, .hls, ep: 0)
        room.log(61_000, 62_000)
        try room.sample(0, ep: 1)
        #expect(room.shown() == [1, 2])
        room.log(500)
        for second in 0..<19 {
            try room.sample(Double(second) * 1000, ep: 1)
            try room.sample(40_000 + Double(second) * 1000, .hls, ep: 0)
            room.wait(.seconds(1))
        }
        #expect(room.shown() == [1, 2, 3])
        #expect(room.shown(.hls) == [])
        try room.sample(59_000, .hls, ep: 0)
        room.wait(.seconds(1))
        try room.sample(0, .hls, ep: 1)
        #expect(room.shown(.hls) == [1, 2])
        #expect(room.after(.milliseconds(501)).shown(.hls) == [1, 2, 3])
        #expect(room.late(.hls) == [])
        #expect(try room.sample(60_000, .hls, ep: 0) == .ignored(.olderEpoch))
    }

    @Test
    mutating func `Without 'ep' a declared jump back by over 10 s is a new epoch at once, a shorter one none`() throws {
        try room.sample(60_000)
        #expect(try room.sample(50_000, d: true) == .taken)
        #expect(try room.sample(39_999.999, d: true) == .newEpochs([0, 1]))
    }

    @Test func `One that restarts without 'ep' before anything is drawn is the one that the first stroke waits for`() {
        var probe = RoomProbe()
        probe.clock(60_000)
        probe.wait(.seconds(1))
        for media in stride(from: 0.0, through: 1000, by: 250) {
            probe.clock(media)
            probe.wait(.milliseconds(250))
        }
        probe.send(draw(1, #","t":7000"#))
        for media in stride(from: 1250.0, through: 7000, by: 250) {
            probe.clock(media)
            #expect(probe.shown() == [])
            probe.wait(.milliseconds(250))
        }
        #expect(probe.shown() == [1])
        #expect(probe.decisions == [])
    }

    @Test func `Of several cohorts the first stroke waits for each one's own restart without 'ep'`() {
        var probe = RoomProbe()
        // After so many milliseconds the cohort's video begins anew.
        let restarts: [(CohortName, Double)] = [(.main, 1000), (.hls, 4000)]
        for time in stride(from: 0.0, through: 12_000, by: 250) {
            for (cohort, restart) in restarts {
                probe.clock(time < restart ? 60_000 + time : time - restart, cohort)
            }
            if time == 6000 { probe.send(draw(1, #","t":7000"#)) }
            for (cohort, restart) in restarts {
                #expect(probe.shown(cohort) == (time > restart + 7000 ? [1] : []), "\(cohort), \(time)")
            }
            probe.wait(.milliseconds(250))
        }
        #expect(probe.decisions == [])
    }

    @Test
    mutating func `A cohort in an epoch that the log never had is past the older and before the newer ones`() throws {
        try room.sample(1000, .hls, ep: 3)
        room.log(2000)
        try room.sample(0, ep: 8)
        room.log(10)
        #expect(try room.sample(5000, .hls, ep: 5) == .taken)
        #expect(room.shown(.hls) == [1])
        #expect(try room.sample(11, .hls, ep: 8) == .taken)
        #expect(room.shown(.hls) == [1, 2])
    }
}

/// Rule 6: epochs take effect where they stand in the room's log.
@Suite struct `Epochs and the log` {
    @Test
    func `A sample waits for its epoch to be logged; the room is reminded once a second; records may repeat`() throws {
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 0))
        func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        func sample(_ media: Int64, _ q: Int64, ep: Int64) -> ClockSample {
            ClockSample(media: MediaTime(milliseconds: media), number: q, epoch: ep)
        }
        #expect(gate.receive(sample(0, 1, ep: 2), cohort: .main, at: at(0)) == .newEpochs([2]))
        #expect(gate.receive(sample(250, 2, ep: 2), cohort: .main, at: at(250)) == .awaitingEpoch)
        #expect(gate.receive(sample(0, 1, ep: 2), cohort: .main, at: at(260)) == .ignored(.repeated))
        #expect(gate.videoTime(of: .main, at: at(300)) == nil)
        #expect(gate.receive(sample(1000, 5, ep: 2), cohort: .main, at: at(1000)) == .newEpochs([2]))
        for _ in 0..<2 { gate.beginEpoch(2, at: at(1100), now: at(1100)) }
        gate.beginEpoch(1, at: at(1100), now: at(1100))
        gate.beginEpoch(-3, at: at(1100), now: at(1100))
        #expect(gate.epoch == 2)
        #expect(gate.videoTime(of: .main, at: at(1100)) == MediaTime(milliseconds: 1100))
    }

    @Test func `Operations become due when the log has brought the epoch, not when its sample came`() throws {
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 0))
        let (start, sampled, logged) = (Instant(nanoseconds: 0), Instant(nanoseconds: 5), Instant(nanoseconds: 900))
        gate.beginEpoch(1, at: start, now: start)
        let sample = ClockSample(media: MediaTime(milliseconds: 11), epoch: 2)
        #expect(gate.receive(sample, cohort: .main, at: sampled) == .newEpochs([2]))
        gate.beginEpoch(2, at: logged, now: logged)
        gate.append(time: 10, at: start, now: logged)
        var releases: [Release] = []
        gate.release(at: Instant(nanoseconds: 1000), into: &releases)
        #expect(releases.map(\.due) == [logged])
    }

    @Test("A restart without `ep` that waits for the log is dropped when the epoch gets a greater name meanwhile")
    func namedMeanwhile() throws {
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 0))
        let now = Instant(nanoseconds: 0)
        func sample(_ media: Int64, ep: Int64? = nil) -> ClockSample {
            ClockSample(media: MediaTime(microseconds: media), epoch: ep, isDiscontinuity: true)
        }
        #expect(gate.receive(sample(60_000_000), cohort: .main, at: now) == .taken)
        gate.append(time: 70_000, at: now, now: now)
        #expect(gate.receive(sample(0), cohort: .main, at: now) == .newEpochs([0, 1]))
        #expect(gate.receive(sample(60_000_000, ep: 7), cohort: .hls, at: now) == .newEpochs([7]))
        for epoch in [7, 0, 1] as [Int64] { gate.beginEpoch(epoch, at: now, now: now) }
        var releases: [Release] = []
        gate.release(at: now, into: &releases)
        #expect(releases == [])
        #expect(gate.receive(sample(0), cohort: .main, at: now) == .newEpochs([8]))
        gate.beginEpoch(8, at: now, now: now)
        gate.release(at: now, into: &releases)
        #expect(releases.map(\.cohort) == [.main])
    }

    @Test func `Hundreds of epochs leave the gate as it was`() throws {
        var room = VirtualRoom()
        for epoch in 0..<500 {
            try room.sample(0, ep: Int64(epoch))
            room.log(Int64(epoch % 7))
            room.wait(.milliseconds(epoch % 5))
        }
        try room.sample(10, ep: 499, d: true)
        #expect(room.shown() == Array(1...500))
        #expect(room.late() == [])
    }
}

/// Rule 6: operations of an epoch that come after its end.
@Suite("Stragglers")
struct StragglerTests {
    @Test
    func `A time too far above the old epoch, too late, or too near the new clock is no straggler`() throws {
        func isStraggler(_ time: Int64, after delay: Duration) throws -> Bool {
            var room = VirtualRoom()
            try room.sample(30_000, ep: 0)
            try room.sample(0, r: 0)
            try room.sample(0, ep: 1, r: 0)
            room.wait(delay)
            room.log(time)
            return room.shown() == [1]
        }
        #expect(try isStraggler(31_000, after: .seconds(5)))
        #expect(try !isStraggler(31_001, after: .zero))
        #expect(try !isStraggler(31_000, after: .seconds(5) + .nanoseconds(1)))
        #expect(try isStraggler(10_001, after: .zero))
        #expect(try !isStraggler(10_000, after: .zero))
    }

    @Test func `Too late is counted from when the epoch was logged, not from when this daemon read the log`() throws {
        func isStraggler(readAfter delay: Duration) throws -> Bool {
            var room = VirtualRoom()
            try room.sample(30_000, ep: 0)
            let logged = room.now
            room.wait(delay)
            room.change { gate, now, _ in gate.beginEpoch(1, at: logged, now: now) }
            try room.sample(0, ep: 1, r: 0)
            room.log(30_500)
            return room.shown() == [1]
        }
        #expect(try isStraggler(readAfter: .seconds(5)))
        #expect(try !isStraggler(readAfter: .seconds(5) + .nanoseconds(1)))
    }
}
