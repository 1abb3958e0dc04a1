import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

extension RoomProbe {
    /// The room in another process at the same moment, with all that is saved of it: a state, and cursors, which may be newer.
    func takenOver(
        state: [UInt8]? = nil, cursors: [CohortName: CohortCursor]? = nil
    ) throws -> RoomProbe {
        var room = try Room(
            restoring: state ?? self.room.checkpoint().encoded(), configuration: self.room.configuration, at: now,
            logClockAhead: logAhead)
        if let cursors { room.restoreCursors(cursors, at: now) }
        room.beginReleases(at: now)
        return RoomProbe(room, at: now, logAhead: logAhead)
    }
}

/// Rule 6: the sessions of clocks that do not name them, in the hands of another process.
@Suite struct `A clock without names of its sessions after a take-over` {
    private let hls = CohortName("hls") ?? .main
    private var probe = RoomProbe()

    /// The encoder restarts: `main` shows it, `hls` is 12 s behind, and both hold a stroke of the new time line.
    init() {
        probe.clock(3_600_000)
        probe.clock(3_588_000, hls)
        probe.send(draw(1, #","t":3599000"#))
        probe.wait(.milliseconds(250))
        probe.clock(0)
        probe.wait(.milliseconds(250))
        probe.clock(250)
        probe.send(draw(2, #","t":300"#))
    }

    /// Samples each 250 ms of `hls`, from `media` on.
    private func play(_ probe: inout RoomProbe, from media: Double, for duration: Duration) {
        let end = probe.now + duration
        var media = media
        while probe.now < end {
            probe.clock(media, hls)
            probe.wait(.milliseconds(250))
            media += 250
        }
    }

    @Test(arguments: [false, true]) func `is of the one that its video still shows`(hasCursors: Bool) throws {
        #expect(probe.room.gate.epoch == 1)
        #expect(probe.shown(hls) == [])
        var after = try probe.takenOver(cursors: hasCursors ? probe.room.cursors : nil)
        play(&after, from: 3_588_500, for: .milliseconds(10_500))
        #expect(after.shown(hls) == [])
        play(&after, from: 3_599_000, for: .milliseconds(250))
        #expect(after.shown(hls) == [1])
        // Its video restarts, too: in the session that the log has.
        play(&after, from: 0, for: .milliseconds(250))
        #expect(after.shown(hls) == [1])
        play(&after, from: 250, for: .milliseconds(500))
        #expect(after.shown(hls) == [1, 2])
        #expect(after.decisions == [])
        #expect(after.shown.allSatisfy { !$0.isLate })
        after.clock(20_000)
        after.send(draw(3, #","t":1000"#))
        play(&after, from: 750, for: .milliseconds(500))
        #expect(after.shown(hls) == [1, 2, 3])
    }

    @Test func `is of the new one where its video has restarted since it was saved`() throws {
        var after = try probe.takenOver()
        after.clock(290, hls)
        #expect(after.shown(hls) == [1])
        after.wait(.milliseconds(11))
        #expect(after.shown(hls) == [1, 2])
        #expect(after.shown.allSatisfy { !$0.isLate })
        #expect(after.decisions == [])
    }

    @Test func `is of the room's session where nothing was saved of it, as by an earlier release`() throws {
        let state = probe.room.checkpoint().encoded(hasNotes: false)
        var after = try probe.takenOver(state: state)
        #expect(after.room.cursors[hls]?.clock == nil)
        after.clock(200, hls)
        #expect(after.shown(hls) == [1])
    }

    /// A room whose video was at an hour when it was saved, in the hands of another process.
    private func anotherDay() throws -> RoomProbe {
        var day = RoomProbe()
        day.clock(3_600_000)
        day.send(draw(1, #","t":3599000"#))
        day.wait(.milliseconds(250))
        #expect(day.shown() == [1])
        return try day.takenOver(cursors: day.room.cursors)
    }

    @Test(arguments: [false, true])
    func `is of a new session where its encoder has restarted since, as in a class on another day`(isDeclared: Bool)
        throws
    {
        var day = try anotherDay()
        day.clock(1000, .main, isDeclared ? #","d":true"# : "")
        #expect(day.decisions.isEmpty != isDeclared)
        day.wait(.milliseconds(250))
        day.clock(1250)
        #expect(day.decisions == [.epoch(0), .epoch(1)])
        day.send(draw(2, #","t":2000"#))
        for media in [1500.0, 1750] {
            day.wait(.milliseconds(250))
            day.clock(media)
        }
        #expect(day.after(.milliseconds(250)).shown() == [])
        #expect(day.after(.milliseconds(1)).shown() == [2])
        #expect(day.shown.allSatisfy { !$0.isLate })
    }

    @Test func `leaves a straggler in the session before, whose video the process has not heard`() throws {
        var before = RoomProbe()
        before.clock(60_000)
        before.send(draw(1, #","t":59900"#))
        #expect(before.shown() == [1])
        var after = try before.takenOver()
        after.wait(.milliseconds(250))
        for epoch: Int64 in [0, 1] { after.record(.epoch(epoch)) }
        after.send(draw(2, #","t":60100"#), draw(3, #","t":100"#))
        after.clock(200)
        #expect(after.shown() == [2, 3])
        #expect(after.shown.allSatisfy { !$0.isLate })
    }

    @Test func `is of no new session by one stray sample`() throws {
        var day = try anotherDay()
        day.clock(1000, .main, #","q":1"#)
        day.clock(1000, .main, #","q":1"#)
        day.wait(.milliseconds(250))
        day.clock(3_600_500, .main, #","q":2"#)
        day.send(draw(2, #","t":3600700"#))
        #expect(day.after(.milliseconds(200)).shown() == [])
        #expect(day.after(.milliseconds(1)).shown() == [2])
        #expect(day.decisions == [])
    }

    @Test func `keeps its session while the room sleeps without having heard it`() throws {
        let first = try probe.takenOver()
        let second = try first.takenOver(cursors: first.room.cursors)
        #expect(second.room.cursors[hls] == probe.room.cursors[hls])
        var third = try second.takenOver()
        play(&third, from: 3_588_500, for: .milliseconds(500))
        #expect(third.shown(hls) == [])
    }

    @Test(arguments: [false, true]) func `does not go back to one that it had left`(hasCursors: Bool) throws {
        var before = RoomProbe()
        before.clock(60_000, .main, #","ep":1"#)
        before.clock(0, .main, #","ep":2"#)
        before.send(draw(1, #","t":500"#))
        var after = try before.takenOver(cursors: hasCursors ? before.room.cursors : nil)
        after.clock(60_250, .main, #","ep":1"#)
        #expect(after.counts.samplesIgnored == 1)
        #expect(after.room.cursors[.main]?.clock?.epoch == 2)
        after.clock(400, .main, #","ep":2"#)
        #expect(after.after(.milliseconds(100)).shown() == [])
        #expect(after.after(.milliseconds(1)).shown() == [1])
    }

    @Test func `was in the first session before that had a name`() throws {
        var probe = RoomProbe()
        probe.decisionsReturn = []
        probe.clock(60_000)
        probe.clock(48_000, hls)
        probe.send(draw(1, #","t":59000"#))
        let cursors = probe.room.cursors
        #expect(cursors[hls]?.clock == SavedClock(epoch: -1, media: MediaTime(milliseconds: Int64(48_000))))
        // What the log has behind the state.
        var room = try Room(
            restoring: probe.room.checkpoint().encoded(), configuration: probe.room.configuration, at: probe.now,
            logClockAhead: .zero)
        var effects = RoomEffects()
        for record in [ControlRecord.epoch(0), .epoch(1)] {
            room.receive(record, loggedAt: probe.now, at: probe.now, into: &effects)
        }
        room.restoreCursors(cursors, at: probe.now)
        var after = RoomProbe(room, at: probe.now, logAhead: .zero)
        after.clock(48_250, hls)
        #expect(after.shown(hls) == [])
        #expect(after.room.cursors[hls]?.clock?.epoch == 0)
    }
}

/// Rule 18: what a teacher's restart needs of the process before.
@Suite struct `A restart that the teacher sees first, around a take-over` {
    private var probe = RoomProbe()

    /// Samples each 250 ms of a video that is 6 s behind a teacher whose time line is at `media` now.
    private static func play(_ probe: inout RoomProbe, live media: Double, for duration: Duration) {
        let end = probe.now + duration
        var media = media
        while probe.now < end {
            probe.clock(media - 6000, .main, #","a":6000"#)
            probe.wait(.milliseconds(250))
            media += 250
        }
    }

    /// A class at 130 s of its time line, with a stroke from 110 s.
    init() {
        Self.play(&probe, live: 100_000, for: .seconds(10))
        probe.send(draw(1, #","t":110000"#))
        Self.play(&probe, live: 110_000, for: .seconds(20))
    }

    /// Expects that the strokes at 500 and 3,000 ms wait for the video's restart, which comes in 6 s less `passed`.
    private func expectWaits(_ probe: inout RoomProbe, passed: Duration) {
        let old = Double((Duration.seconds(130) + passed).nanoseconds / 1_000_000)
        Self.play(&probe, live: old, for: .milliseconds(2500))
        probe.send(draw(3, #","t":3000"#))
        Self.play(&probe, live: old + 2500, for: .milliseconds(3500) - passed)
        #expect(probe.shown(.main).isEmpty)
        #expect(probe.decisions == [.provisionalEpoch(from: 2, age: 6_000_000)])
        Self.play(&probe, live: 6000, for: .seconds(1))
        #expect(probe.shown() == [2])
        Self.play(&probe, live: 7000, for: .seconds(3))
        #expect(probe.shown() == [2, 3])
        #expect(probe.shown.allSatisfy { !$0.isLate })
    }

    @Test func `begins by the author's last draw, which the process before has seen`() throws {
        var after = try probe.takenOver(cursors: probe.room.cursors)
        after.clock(124_000, .main, #","a":6000"#)
        after.wait(.milliseconds(500))
        after.send(draw(2, #","t":500"#))
        expectWaits(&after, passed: .milliseconds(500))
    }

    @Test func `begins with the first sample that tells an age, where the draw came before`() throws {
        var after = try probe.takenOver(cursors: probe.room.cursors)
        after.wait(.milliseconds(500))
        after.send(draw(2, #","t":500"#))
        #expect(after.decisions == [])
        expectWaits(&after, passed: .milliseconds(500))
    }

    @Test mutating func `begins where the log ends the one before, whose wait was over when the draw came`() throws {
        probe.send(draw(1, #","t":130000"#), by: .bob)
        probe.send(draw(2, #","t":500"#))
        Self.play(&probe, live: 130_000, for: .seconds(12))
        let first = probe.room.head.index
        #expect(probe.shown().last == first)
        var after = try probe.takenOver(cursors: probe.room.cursors)
        after.decisionsReturn = []
        after.send(draw(2, #","t":12500"#), by: .bob)
        after.clock(136_250, .main, #","a":6000"#)
        #expect(after.decisions == [.provisionalEpochOver(from: first)])
        after.record(.provisionalEpochOver(from: first))
        #expect(after.decisions.last == .provisionalEpoch(from: first + 1, age: 6_000_000))
        #expect(after.after(.seconds(1)).shown().isEmpty)
    }

    @Test mutating func `begins where the log ends the one before, also in a process that comes in between`()
        throws
    {
        probe.send(draw(1, #","t":130000"#), by: .bob)
        probe.send(draw(2, #","t":500"#))
        Self.play(&probe, live: 130_000, for: .seconds(12))
        let first = probe.room.head.index
        probe.decisionsReturn = []
        probe.send(draw(2, #","t":12500"#), by: .bob)
        #expect(probe.decisions.last == .provisionalEpochOver(from: first))
        var after = try probe.takenOver()
        after.decisionsReturn = []
        for var room in [probe, after] {
            room.clock(136_250, .main, #","a":6000"#)
            room.record(.provisionalEpochOver(from: first))
            #expect(room.decisions.last == .provisionalEpoch(from: first + 1, age: 6_000_000))
            #expect(room.after(.seconds(1)).shown().last != first + 1)
        }
    }

    @Test func `begins in a process after one that has heard no clock at all`() throws {
        var deaf = try probe.takenOver(cursors: probe.room.cursors)
        deaf.wait(.milliseconds(400))
        deaf.send(draw(2, #","t":500"#))
        let bytes = deaf.room.checkpoint().encoded()
        #expect(bytes[3] == 4)
        var after = try deaf.takenOver(cursors: deaf.room.cursors)
        #expect(after.room.checkpoint().encoded() == bytes)
        after.wait(.milliseconds(100))
        expectWaits(&after, passed: .milliseconds(500))
    }

    @Test func `begins with the first sample of the new time line, where the video has followed before it is heard`()
        throws
    {
        var after = try probe.takenOver(cursors: probe.room.cursors)
        after.wait(.milliseconds(500))
        after.send(draw(2, #","t":500"#))
        after.wait(.milliseconds(6500))
        after.send(draw(3, #","t":7000"#))
        after.wait(.seconds(1))
        #expect(after.shown() == [])
        Self.play(&after, live: 8000, for: .milliseconds(500))
        #expect(after.decisions == [.provisionalEpoch(from: 2, age: 6_000_000), .epoch(0), .epoch(1)])
        #expect(after.shown() == [2])
        Self.play(&after, live: 8500, for: .milliseconds(4500))
        #expect(after.shown() == [2])
        Self.play(&after, live: 13_000, for: .milliseconds(250))
        #expect(after.shown() == [2, 3])
        #expect(after.shown.allSatisfy { !$0.isLate })
    }

    @Test func `begins with the first sample where the author's first time was absurd`() throws {
        var after = try probe.takenOver(cursors: probe.room.cursors)
        for (number, time) in [(1, 1_000_000_000_000_000), (2, 129_900), (3, 500)] {
            after.send(draw(Int64(number), #","t":\#(time)"#), by: .bob)
        }
        after.clock(124_000, .main, #","a":6000"#)
        #expect(after.decisions == [.provisionalEpoch(from: 4, age: 6_000_000)])
    }

    @Test func `does not begin with a draw that has waited as long as it may, nor in a room that never had a clock`()
        throws
    {
        var after = try probe.takenOver(cursors: probe.room.cursors)
        after.send(draw(2, #","t":500"#))
        after.wait(.seconds(12))
        after.clock(136_000, .main, #","a":6000"#)
        #expect(after.decisions == [])

        var fresh = RoomProbe()
        fresh.send(draw(1, #","t":110000"#))
        fresh.send(draw(2, #","t":500"#))
        fresh.clock(124_000, .main, #","a":6000"#)
        #expect(fresh.decisions == [])
    }

    /// The epochs of the operations from the second on.
    private func epochs(_ probe: RoomProbe) -> [Int64] {
        (2...probe.room.gate.timeline.last).map { probe.room.gate.timeline[$0].epoch }
    }

    /// A room with a stroke from 110 s, in the hands of one that has no clock and decides nothing.
    private func replica() -> RoomProbe {
        var replica = RoomProbe(Room(configuration: RoomConfiguration(), at: probe.now), at: probe.now, logAhead: .zero)
        replica.decisionsReturn = []
        replica.send(draw(1, #","t":110000"#))
        replica.record(.epoch(1))
        return replica
    }

    @Test func `is the one that the log names first, also for a replica restored between two records of it`() throws {
        var live = replica()
        live.send(draw(2, #","t":500"#))
        live.send(draw(3, #","t":900"#))
        live.record(.provisionalEpoch(from: 2, age: 6_000_000))
        var restored = try live.takenOver()
        restored.decisionsReturn = []
        for record in [ControlRecord.provisionalEpoch(from: 3, age: 6_000_000), .epoch(5)] {
            live.record(record)
            restored.record(record)
        }
        #expect(epochs(live) == [5, 5])
        #expect(epochs(restored) == [5, 5])
    }

    @Test(arguments: [ControlRecord.provisionalEpochOver(from: 2), .epoch(5)])
    func `does not begin again with another record of it when it is over`(end: ControlRecord) throws {
        var live = replica()
        live.send(draw(2, #","t":500"#))
        live.send(draw(3, #","t":900"#))
        for record in [ControlRecord.provisionalEpoch(from: 2, age: 6_000_000), end] { live.record(record) }
        let bytes = live.room.checkpoint().encoded()
        #expect(bytes[3] == 4)
        var restored = try live.takenOver()
        restored.decisionsReturn = []
        #expect(restored.room.checkpoint().encoded() == bytes)
        for record in [ControlRecord.provisionalEpoch(from: 2, age: 6_000_000), .epoch(9)] {
            live.record(record)
            restored.record(record)
        }
        #expect(epochs(restored) == epochs(live))
        #expect(epochs(live) == (end == .epoch(5) ? [5, 5] : [1, 1]))
    }

    @Test func `does not begin with an operation that the log has before its last session`() throws {
        var deciding = try replica().takenOver()
        deciding.decisionsReturn = []
        deciding.clock(124_000, .main, #","a":6000,"ep":1"#)
        deciding.send(draw(2, #","t":500"#))
        deciding.send(draw(3, #","t":900"#))
        // The log has the session before the decision of this one, which another's decision follows.
        deciding.record(.epoch(5))
        var restored = try deciding.takenOver()
        for index in [2, 3] as [UInt64] {
            deciding.record(.provisionalEpoch(from: index, age: 6_000_000))
            restored.record(.provisionalEpoch(from: index, age: 6_000_000))
        }
        #expect(deciding.room.gate.timeline.epochs.provisional == nil)
        #expect(restored.room.gate.timeline.epochs.provisional == nil)
    }

    /// A room whose log names a restart: `main` has followed it, `hls` is 12 s behind and holds a stroke of the new time line.
    private func followed(_ settings: CohortSettings) throws -> RoomProbe {
        var room = RoomProbe(settings)
        room.clock(124_000, .main, #","a":6000,"ep":1"#)
        room.clock(118_000, .hls, #","a":12000,"ep":1"#)
        room.send(draw(1, #","t":110000"#), draw(2, #","t":500"#))
        #expect(room.decisions == [.epoch(1), .provisionalEpoch(from: 2, age: 12_000_000)])
        room.wait(.seconds(6))
        room.clock(0, .main, #","a":6000,"ep":2"#)
        room.wait(.milliseconds(600))
        #expect(room.shown() == [1, 2])
        #expect(room.shown(.hls) == [1])
        return room
    }

    @Test func `holds up a cohort whose video does not follow for its age and five seconds, after a restore, too`()
        throws
    {
        let live = try followed(CohortSettings(policy: .hold))
        for var room in [live, try live.takenOver(cursors: live.room.cursors)] {
            for media in stride(from: 124_600.0, to: 136_000, by: 200) {
                room.clock(media, .hls, #","a":12000,"ep":1"#)
                room.wait(.milliseconds(200))
            }
            #expect(room.shown.last.map { $0.cohort == .hls && $0.operation.index == 2 && $0.isLate } == true)
        }
    }

    @Test func `lets no stroke of the new time line out with the old one's, after a restore, too`() throws {
        var before = RoomProbe()
        before.clock(110_000, .main, #","a":20000,"ep":1"#)
        before.send(draw(1, #","t":105000"#), draw(2, #","t":106000"#), draw(3, #","t":500"#))
        before.wait(.seconds(15))
        before.send(draw(4, #","t":15500"#))
        // A process that hears no clock reads the new session, and the room leaves its memory.
        var deaf = try before.takenOver(cursors: before.room.cursors)
        deaf.wait(.milliseconds(100))
        deaf.record(.epoch(2))
        for var room in [deaf, try deaf.takenOver(cursors: deaf.room.cursors)] {
            room.wait(.seconds(4))
            room.clock(0, .main, #","ep":2"#)
            room.wait(.milliseconds(400))
            #expect(room.shown() == [])
            room.clock(400, .main, #","ep":2"#)
            room.wait(.milliseconds(200))
            #expect(room.shown() == [3])
        }
    }

    @Test func `that is over does not begin again in a state that has another one before the log`() throws {
        var deciding = try replica().takenOver()
        deciding.decisionsReturn = []
        deciding.clock(124_000, .main, #","a":6000,"ep":1"#)
        deciding.send(draw(2, #","t":500"#))
        let first = ControlRecord.provisionalEpoch(from: 2, age: 6_000_000)
        for record in [first, .provisionalEpochOver(from: 2)] { deciding.record(record) }
        deciding.send(draw(3, #","t":131000"#))
        deciding.clock(125_000, .main, #","a":6000,"ep":1"#)
        deciding.send(draw(4, #","t":800"#))
        var restored = try deciding.takenOver()
        for record in [first, .epoch(9)] {
            deciding.record(record)
            restored.record(record)
        }
        #expect(epochs(deciding) == [1, 1, 9])
        #expect(epochs(restored) == [1, 1, 9])
    }

    @Test func `is replaced by the log's own where a state has it before the log`() throws {
        var live = replica()
        var deciding = try live.takenOver()
        deciding.decisionsReturn = []
        deciding.clock(124_000, .main, #","a":6000,"ep":1"#)
        deciding.send(draw(2, #","t":500"#))
        #expect(deciding.decisions == [.provisionalEpoch(from: 2, age: 6_000_000)])
        var restored = try deciding.takenOver()
        restored.decisionsReturn = []
        live.send(draw(2, #","t":500"#))
        let inputs = [
            RoomInput.message(.alice, session: nil, Array(draw(3, #","t":900"#).utf8)),
            .record(.provisionalEpoch(from: 3, age: 6_000_000)), .record(.epoch(9)),
        ]
        for input in inputs {
            live.take(input)
            restored.take(input)
        }
        #expect(epochs(live) == [1, 9])
        #expect(epochs(restored) == [1, 9])
    }
}
