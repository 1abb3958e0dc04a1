import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Rule 17: the media time at the teacher.
@Suite struct `Live time` {
    private var probe = RoomProbe()

    private var live: Double? { probe.room.liveTime(at: probe.now).map { Double($0.microseconds) / 1000 } }

    @Test("Is the sample's media time and its age, and goes on, also while the picture stands or no sample comes")
    mutating func age() {
        #expect(live == nil)
        probe.clock(10_000)
        #expect(live == nil)
        probe.clock(10_000, .main, #","a":6000"#)
        #expect(live == 16_000)
        probe.wait(.seconds(20))
        #expect(live == 36_000)
        probe.clock(30_000, .main, #","s":"stall","a":6500.5"#)
        probe.wait(.seconds(1))
        #expect(live == 37_500.5)
        probe.clock(40_000, .main, #","r":500,"a":6000,"d":true"#)
        probe.wait(.seconds(2))
        #expect(live == 47_000)
        probe.wait(.seconds(600))
        #expect(live == nil)
    }

    @Test mutating func `Comes from the freshest sample with an age, of whichever cohort`() throws {
        probe.clock(10_000, .main, #","a":300"#)
        probe.wait(.seconds(1))
        probe.clock(1000, .hls, #","a":12000"#)
        #expect(live == 13_000)
        probe.wait(.seconds(1))
        probe.clock(12_000, .main)
        // This clock no longer tells its age.
        #expect(live == 14_000)
        probe.clock(2000, .hls)
        #expect(live == nil)
    }

    @Test mutating func `Is UTC where the video's time line is that and no clock tells its age`() {
        let utc = 1_800_000_000_000.0
        func room() -> RoomProbe {
            let start = Instant(nanoseconds: 5_000_000_000)
            var room = Room(configuration: RoomConfiguration(), at: start)
            room.setLogClock(ahead: .milliseconds(utc) - .seconds(5))
            return RoomProbe(room, at: start, logAhead: .milliseconds(utc) - .seconds(5))
        }
        for (video, expected) in [(utc - 6000, utc), (utc - 11.9 * 3_600_000, utc), (utc - 12.1 * 3_600_000, nil)] {
            probe = room()
            #expect(live == nil)
            probe.clock(video)
            #expect(live == expected, "\(video)")
        }
        probe.clock(utc - 6000, .main, #","a":5000,"d":true"#)
        #expect(live == utc - 1000)
    }

    @Test mutating func `Is not known by a counter that a stroke of the least time makes the least of all times`() {
        let utc = 1_800_000_000_000.0
        var configuration = RoomConfiguration()
        configuration.cohorts.defaults.gate = .video
        let start = Instant(nanoseconds: 5_000_000_000)
        let ahead = Duration.milliseconds(utc) - .seconds(5)
        var room = Room(configuration: configuration, at: start)
        room.setLogClock(ahead: ahead)
        probe = RoomProbe(room, at: start, logAhead: ahead)
        probe.send(draw(1, #","t":-9223372036854775"#))
        probe.clock(0, .main, #","b":33"#)
        #expect(live == nil)
        probe.wait(.seconds(5))
        #expect(live == nil)
    }

    @Test mutating func `An epoch that follows the greatest number is written down and read back`() throws {
        probe.clock(100_000, .main, #","ep":9007199254740991,"a":600000"#)
        probe.send(draw(1, #","t":700000"#), draw(2, #","t":600000"#))
        #expect(probe.room.gate.timeline.epochs.provisional != nil)
        let bytes = try probe.room.checkpoint().readBack(at: probe.now, logClockAhead: .zero)
        #expect(!bytes.isEmpty)
    }

    @Test mutating func `A time more than 250 ms below it is counted, and its author is told once a minute`() {
        probe.clock(10_000, .main, #","a":6000"#)
        probe.send(draw(1, #","t":16000"#), draw(2, #","t":15750"#), draw(3))
        #expect(probe.counts.behindLive == 0)
        #expect(probe.room.status(at: probe.now).behindLive == [])
        _ = probe.takeTold()
        // What students see now.
        probe.send(draw(4, #","t":10000"#), draw(5, #","t":15749"#), undo(6, #","t":10000"#))
        #expect(probe.counts.behindLive == 3)
        #expect(probe.takeTold() == ["applied 4 as 4", "behind 4 by 6000", "applied 5 as 5", "applied 6 as 6"])
        #expect(probe.room.status(at: probe.now).behindLive == [.alice])
        probe.wait(.seconds(59))
        probe.send(draw(7, #","t":69000"#))
        #expect(probe.takeTold() == ["applied 7 as 7"])
        probe.wait(.seconds(1))
        probe.send(draw(8, #","t":70000"#))
        #expect(probe.takeTold() == ["applied 8 as 8", "behind 8 by 6000"])
        probe.wait(.seconds(60))
        #expect(probe.room.status(at: probe.now).behindLive == [])
    }

    @Test
    mutating func `An operation logged before the freshest sample is compared with the time at the teacher then`() {
        probe.clock(10_000, .main, #","a":6000"#)
        probe.wait(.seconds(5))
        probe.clock(15_000, .main, #","a":6000"#)
        for (time, behind) in [(17_000, [AuthorID]()), (16_700, [AuthorID.alice])] {
            let message = RoomInput.message(.alice, session: nil, Array(draw(1, #","t":\#(time)"#).utf8))
            var late = probe
            late.recover(message, loggedAt: late.now + .seconds(-4))
            #expect(late.room.status(at: late.now).behindLive == behind, "\(time)")
        }
    }

    @Test mutating func `A stroke is logged at its end: it is not behind by the time that it took to draw`() {
        probe.clock(10_000, .main, #","a":6000"#)
        probe.send(#"{"n":1,"t":12000,"d":[{"x":1,"y":1},{"x":2,"y":2,"m":2000},{"x":3,"y":3,"m":4000}]}"#)
        // One that was held at its place, a pointer or an even line.
        probe.send(#"{"n":5,"t":12000,"d":[{"x":1,"y":1},{"x":1,"y":1,"m":4000}]}"#, session: "other")
        // Its points have no times: it may have taken five seconds.
        probe.send(draw(2, points: 9, #","t":11000"#))
        #expect(probe.counts.behindLive == 0)
        probe.send(#"{"n":3,"t":9000,"d":[{"x":1,"y":1},{"x":2,"y":2,"m":2000},{"x":3,"y":3,"m":4000}]}"#)
        #expect(probe.takeTold().last == "behind 3 by 3000")
        probe.send(draw(4, points: 9, #","t":10000"#))
        #expect(probe.counts.behindLive == 2)
    }

    @Test
    mutating func `Is known before anybody has written, also where the clock's session has no name in the log yet`() {
        probe.clock(10_000, .main, #","a":6000,"ep":3"#)
        #expect(probe.room.isBlank && probe.room.hasClock && live == 16_000)
        probe.wait(.milliseconds(500))
        #expect(live == 16_500)
        probe.send(draw(1, #","t":16500"#))
        #expect(live == 16_500 && probe.room.gate.epoch == 3)
    }

    @Test mutating func `Without it nothing is counted`() {
        probe.clock(10_000)
        probe.send(draw(1, #","t":1000"#))
        #expect(probe.counts.behindLive == 0)
    }

    @Test mutating func `Marks at the head tell it, with those of the cohorts`() throws {
        probe.clock(10_000)
        probe.send(draw(1, #","t":9000"#))
        probe.wait(.seconds(1))
        #expect(probe.marks.count == 1 && probe.headMarks.isEmpty)
        probe.clock(11_000, .main, #","a":6000"#)
        probe.wait(.seconds(1))
        let mark = try #require(probe.headMarks.first)
        #expect(mark.live == MediaTime(milliseconds: Int64(18_000)))
        #expect(mark.index == 1 && mark.video == nil && mark.gate == nil)
        #expect(probe.headMarks.count == 1)
    }
}

/// Rule 18: a time line that begins anew at the teacher, long before the delayed video does.
@Suite struct `A restart that the teacher sees first` {
    private var probe = RoomProbe()

    /// Samples each 250 ms of a video that is 6 s behind a teacher whose time line is at `media` now.
    private mutating func play(
        live media: Double, for duration: Duration, behind: Double = 6000, age: String? = nil, _ more: String = ""
    ) {
        let end = probe.now + duration
        var media = media
        while probe.now < end {
            probe.clock(media - behind, .main, more + (age ?? #","a":\#(behind)"#))
            probe.wait(.milliseconds(250))
            media += 250
        }
    }

    /// What was shown, and V when it was, in a video that began anew at an instant.
    private func shown(since restart: Instant) -> [(index: UInt64, video: Duration)] {
        probe.shown.map { ($0.operation.index, $0.at - restart) }
    }

    @Test(arguments: ["", #","ep":"#])
    mutating func `33: the strokes wait for the clock's restart and go by it, none early`(ep: String) {
        let (first, second) = ep.isEmpty ? ("", "") : (ep + "1", ep + "2")
        play(live: 100_000, for: .seconds(10), first)
        probe.send(draw(1, #","t":110000"#))
        play(live: 110_000, for: .seconds(20), first)
        #expect(probe.shown() == [1])
        // The encoder restarts now; its video gets here in 6 s.
        let restart = probe.now
        probe.clock(124_000, .main, first + #","a":6000"#)
        probe.wait(.milliseconds(510))
        probe.send(draw(2, #","t":500"#))
        play(live: 130_510, for: .milliseconds(2500), first)
        probe.send(draw(3, #","t":3000"#))
        play(live: 133_010, for: .milliseconds(2990), first)
        #expect(probe.shown() == [1])
        play(live: 6000, for: .seconds(4), second)
        #expect(probe.shown() == [1, 2, 3])
        #expect(probe.shown.allSatisfy { !$0.isLate })
        let videoStart = restart + .seconds(6)
        let videos = shown(since: videoStart).dropFirst()
        for (shown, time) in zip(videos, [Duration.milliseconds(500), .milliseconds(3000)]) {
            // Without `ep` the clock's fall counts when a second sample agrees.
            #expect(shown.video > time && shown.video < time + .milliseconds(600), "\(shown)")
        }
        #expect(probe.room.gate.timeline.epochs.provisional == nil)
    }

    @Test(arguments: ["", #","ep":"#])
    mutating func `Strokes more than ten seconds ahead of a video that begins anew are no stragglers`(ep: String) {
        let (first, second) = ep.isEmpty ? ("", "") : (ep + "1", ep + "2")
        play(live: 100_000, for: .seconds(5), behind: 20_000, first)
        probe.send(draw(1, #","t":105000"#))
        play(live: 105_000, for: .seconds(25), behind: 20_000, first)
        // The encoder restarts now; its video gets here in 20 s.
        probe.send(draw(2, #","t":0"#))
        play(live: 130_000, for: .seconds(15), behind: 20_000, first)
        probe.send(draw(3, #","t":15000"#))
        play(live: 145_000, for: .seconds(5), behind: 20_000, first)
        #expect(probe.shown() == [1])
        play(live: 20_000, for: .seconds(2), behind: 20_000, second)
        probe.send(draw(4, #","t":22000"#))
        play(live: 22_000, for: .milliseconds(12_750), behind: 20_000, second)
        #expect(probe.shown() == [1, 2])
        play(live: 34_750, for: .milliseconds(500), behind: 20_000, second)
        #expect(probe.shown() == [1, 2, 3])
        play(live: 35_250, for: .seconds(7), behind: 20_000, second)
        #expect(probe.shown() == [1, 2, 3, 4])
        #expect(probe.shown.allSatisfy { !$0.isLate })
    }

    @Test mutating func `A stroke that grows waits, too`() {
        let settings = CohortSettings(ink: .progressive)
        probe = RoomProbe(settings)
        play(live: 100_000, for: .seconds(10))
        probe.send(draw(1, #","t":110000"#))
        play(live: 110_000, for: .seconds(20))
        _ = probe.takeWet()
        let style = WetStrokeStyle(time: 500, boardWidth: 1024, boardHeight: 768)
        let points = (0..<5).map { StrokePoint(x: Double($0), y: 1, milliseconds: Double($0 * 50)) }
        probe.draw(WetUpdate(number: 2, update: 1, .points(WetPoints(style: style, first: 0, points: points))))
        play(live: 130_000, for: .seconds(6))
        #expect(probe.takeWet().filter { $0.cohort == .main && $0.wet.newPoints > 0 }.isEmpty)
        probe.send(draw(2, points: 5, #","t":500"#))
        #expect(probe.shown() == [1])
        play(live: 6000, for: .seconds(2))
        #expect(probe.shown() == [1, 2])
    }

    @Test mutating func `At most the age and five seconds, then late; the time line goes on as before`() {
        play(live: 100_000, for: .seconds(10))
        probe.send(draw(1, #","t":110000"#))
        play(live: 110_000, for: .seconds(20))
        let sent = probe.now
        probe.send(draw(2, #","t":500"#))
        probe.send(draw(1, #","t":130000"#), by: .bob)
        #expect(probe.decisions == [.provisionalEpoch(from: 2, age: 6_000_000)])
        play(live: 130_000, for: .seconds(12))
        #expect(probe.shown() == [1, 2, 3])
        #expect(probe.shown.dropFirst().allSatisfy { $0.isLate && $0.at == sent + .seconds(11) })
        probe.send(draw(2, #","t":142000"#), by: .bob)
        #expect(probe.decisions.last == .provisionalEpochOver(from: 2))
        play(live: 142_000, for: .seconds(7))
        #expect(probe.shown() == [1, 2, 3, 4])
        #expect(probe.shown.last.map { !$0.isLate && $0.at > sent + .seconds(18) } == true)
        // This author's time line is known by now.
        probe.send(draw(3, #","t":19500"#))
        #expect(probe.decisions.count == 2)
    }

    @Test
    mutating func `Later operations go by the new time line where the log has that before the end of the wait`() {
        play(live: 100_000, for: .seconds(10), #","ep":1"#)
        probe.send(draw(1, #","t":110000"#))
        play(live: 110_000, for: .seconds(20), #","ep":1"#)
        probe.send(draw(2, #","t":500"#))
        play(live: 130_000, for: .seconds(12), #","ep":1"#)
        #expect(probe.shown() == [1, 2])
        probe.decisionsReturn = []
        probe.send(draw(3, #","t":12500"#))
        #expect(probe.decisions.last == .provisionalEpochOver(from: 2))
        probe.wait(.milliseconds(900))
        probe.send(draw(4, #","t":13400"#))
        #expect(probe.decisions.count { $0 == .provisionalEpochOver(from: 2) } == 1)
        probe.record(.epoch(2))
        probe.clock(10_000, .main, #","ep":2,"a":3400"#)
        #expect(probe.after(.milliseconds(2500)).shown() == [1, 2])
        #expect(probe.after(.milliseconds(1)).shown() == [1, 2, 3])
        #expect(probe.shown.last?.isLate == false)
    }

    @Test(arguments: [ControlRecord.epoch(2), .provisionalEpochOver(from: 3)])
    mutating func `Another one that comes when the wait is over begins where the log ends the first`(
        end: ControlRecord
    ) {
        play(live: 100_000, for: .seconds(10), #","ep":1"#)
        probe.send(draw(1, #","t":110000"#))
        probe.send(draw(1, #","t":110000"#), by: .bob)
        play(live: 110_000, for: .seconds(20), #","ep":1"#)
        probe.send(draw(2, #","t":500"#))
        play(live: 130_000, for: .seconds(12), #","ep":1"#)
        #expect(probe.shown() == [1, 2, 3])
        probe.decisionsReturn = []
        probe.send(draw(3, #","t":12500"#))
        #expect(probe.decisions.last == .provisionalEpochOver(from: 3))
        probe.send(draw(2, #","t":12600"#), by: .bob)
        #expect(probe.after(.milliseconds(100)).shown() == [1, 2, 3])
        probe.record(end)
        // The log has the first one's end, or the epoch that both belong to.
        let isOver = end != .epoch(2)
        #expect(
            probe.decisions.last
                == (isOver ? .provisionalEpoch(from: 5, age: 6_000_000) : .provisionalEpochOver(from: 3)))
        #expect(probe.after(.milliseconds(100)).shown() == (isOver ? [1, 2, 3, 4] : [1, 2, 3]))
        probe.record(.epoch(2))
        probe.clock(12_599, .main, #","ep":2,"a":6000"#)
        #expect(probe.after(.milliseconds(1)).shown() == [1, 2, 3, 4])
        #expect(probe.after(.milliseconds(1)).shown() == [1, 2, 3, 4, 5])
    }

    @Test mutating func `Another author who goes on by the old time line does not hold up the new one`() {
        play(live: 100_000, for: .seconds(10))
        probe.send(draw(1, #","t":110000"#))
        play(live: 110_000, for: .seconds(20))
        probe.send(draw(2, #","t":0"#))
        play(live: 130_000, for: .seconds(4))
        probe.send(draw(1, #","t":134000"#), by: .bob)
        probe.send(draw(3, #","t":4000"#))
        play(live: 134_000, for: .seconds(2))
        #expect(probe.shown() == [1])
        play(live: 6000, for: .seconds(5))
        #expect(probe.shown() == [1, 2, 3, 4])
        #expect(probe.shown.allSatisfy { !$0.isLate })
    }

    @Test
    mutating func `Nothing changes without an age, for a smaller step back, and for the first stroke of an author`() {
        play(live: 100_000, for: .seconds(10), age: "")
        probe.send(draw(1, #","t":110000"#), draw(2, #","t":500"#))
        #expect(probe.decisions == [])
        play(live: 110_000, for: .seconds(1))
        probe.send(draw(1, #","t":500"#), draw(2, #","t":111000"#), draw(3, #","t":101001"#), by: .bob)
        probe.send(undo(4, #","t":0"#), by: .bob)
        #expect(probe.decisions == [])
    }

    @Test("The log decides: a replica without a clock makes the same epochs, and a restart keeps them")
    mutating func replicas() throws {
        probe.decisionsReturn = [.milliseconds(5)]
        play(live: 100_000, for: .seconds(10), #","ep":1"#)
        probe.send(draw(1, #","t":110000"#))
        play(live: 110_000, for: .seconds(20), #","ep":1"#)
        probe.send(draw(2, #","t":500"#))
        probe.wait(.milliseconds(10))
        let bytes = probe.room.checkpoint().encoded()
        #expect(bytes[3] == 6)
        let room = try probe.restored(bytes)
        #expect(room.checkpoint().encoded() == bytes)
        var restarted = RoomProbe(room, at: probe.now, logAhead: .zero)
        var replica = RoomProbe(Room(configuration: RoomConfiguration(), at: probe.now), at: probe.now, logAhead: .zero)
        for (_, input) in probe.inputs {
            if case .sample = input { continue }
            replica.take(input)
        }
        for input in [
            RoomInput.message(.alice, session: nil, Array(draw(3, #","t":900"#).utf8)), .record(.epoch(2)),
            .message(.alice, session: nil, Array(draw(4, #","t":1000"#).utf8)),
        ] {
            probe.take(input)
            restarted.take(input)
            replica.take(input)
        }
        func epochs(_ probe: RoomProbe) -> [Int64] { (2...4).map { probe.room.gate.timeline[$0].epoch } }
        for each in [probe, restarted, replica] {
            #expect(epochs(each) == [2, 2, 2])
            #expect(each.room.gate.epoch == 2)
        }
    }

    @Test mutating func `A recorded lesson has the strokes in the session that they waited for`() {
        var recording = RecordedRoom(configuration: RoomConfiguration())
        var clock = Instant(nanoseconds: 1_000_000_000_000)
        func take(_ text: String) {
            clock = clock + .seconds(1)
            recording.receive(
                IncomingMessage(author: .alice, session: nil, bytes: Array(text.utf8), loggedAt: clock),
                incarnation: { "life" })
        }
        take(draw(1, #","t":110000"#))
        recording.receive(.epoch(1), loggedAt: clock)
        take(draw(2, #","t":500"#))
        recording.receive(.provisionalEpoch(from: 2, age: 6_000_000), loggedAt: clock)
        take(draw(3, #","t":3000"#))
        recording.receive(.epoch(2), loggedAt: clock)
        // Decisions of one who had not read of the new session, and such as no room takes.
        for first in [3, 2, 0, .max] as [UInt64] {
            recording.receive(.provisionalEpoch(from: first, age: 6_000_000), loggedAt: clock)
        }
        take(draw(4, #","t":4000"#))
        recording.receive(.epoch(3), loggedAt: clock)
        recording.computeTimes()
        #expect((1...4).map { recording.time(of: $0).epoch } == [1, 2, 2, 2])
        #expect(recording.index(before: MediaTime(milliseconds: Int64(1000)), epoch: 2) == 2)
    }
}
