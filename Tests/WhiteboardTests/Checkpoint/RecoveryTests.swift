import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// What a daemon does with a room between its checkpoint and its first sample.
@Suite("Recovery of a room")
struct RecoveryTests {
    private var probe = RoomProbe()

    /// The room in another process, whose clock began elsewhere.
    private func restored(_ probe: RoomProbe, after downtime: Duration = .zero) throws -> RoomProbe {
        let now = Instant(nanoseconds: -77_000_000_000)
        let ahead = probe.logTime + downtime - now
        let room = try Room(
            restoring: probe.room.checkpoint().encoded(), configuration: probe.room.configuration, at: now,
            logClockAhead: ahead)
        return RoomProbe(room, at: now, logAhead: ahead)
    }

    @Test("Cursors go where the note says, no farther than the log and never back; cohorts are made where they may be")
    mutating func cursors() throws {
        let hls = try #require(CohortName("hls"))
        probe.clock(1000)
        for number in Int64(1)...6 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        #expect(probe.room.cursors == [.main: 2])
        var restored = try restored(probe)
        restored.restoreCursors([.main: 1, hls: 4])
        #expect(restored.room.cursors == [.main: 2, hls: 4])
        #expect(restored.room.board(of: hls).index == 4)
        #expect(restored.shown.isEmpty)
        restored.restoreCursors([.main: .max])
        #expect(restored.room.cursors == [.main: 6, hls: 4])
        #expect(restored.room.board(of: .main).digest == restored.room.head.digest)
        restored.clock(1e6)
        #expect(restored.shown.isEmpty)
    }

    @Test("A cohort that the settings no longer allow is left out, one that they add begins where the log does")
    mutating func otherCohorts() throws {
        let hls = try #require(CohortName("hls"))
        let web = try #require(CohortName("web"))
        probe.clock(1000)
        probe.clock(500, hls)
        for number in Int64(1)...4 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        #expect(probe.room.cursors == [.main: 2, hls: 1])
        let bytes = probe.room.checkpoint().encoded()
        let closed = RoomConfiguration(cohorts: CohortsConfiguration(named: [web: CohortSettings()], open: false))
        let room = try Room(restoring: bytes, configuration: closed, at: probe.now, logClockAhead: .zero)
        #expect(room.cursors == [.main: 2, web: 0])
    }

    @Test("A cohort that a checkpoint does not know yet is shown nothing that its video has not reached")
    mutating func newCohort() throws {
        let hls = try #require(CohortName("hls"))
        probe.clock(2000)
        for number in Int64(1)...4 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        #expect(probe.room.cursors == [.main: 4])
        var restored = try restored(probe)
        restored.clock(900, hls)
        #expect(restored.room.cursors == [.main: 4, hls: 2])
        #expect(restored.room.board(of: hls).index == 2)
    }

    @Test("Nothing is shown before a sample comes; what it lets pass is shown again from the cursor on")
    mutating func unknownClock() throws {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        var restored = try restored(probe)
        restored.wait(.seconds(20))
        #expect(restored.shown.isEmpty)
        restored.clock(1300)
        #expect(restored.shown() == [3])
    }

    @Test("An operation has waited since it was logged, whatever this process's clock shows")
    mutating func waiting() throws {
        probe.send(draw(1))
        probe.wait(.seconds(12))
        var restored = try restored(probe, after: .seconds(5))
        restored.wait(.milliseconds(12_999))
        #expect(restored.shown.isEmpty)
        restored.wait(.milliseconds(1))
        #expect(restored.shown() == [1])
    }

    @Test("A gate time goes on counting after its operation was released, judged or not")
    mutating func gateTimeGoesOn() throws {
        for hasClock in [false, true] {
            probe = RoomProbe(RoomConfiguration(log: LogRetention(tail: hasClock ? 1024 : 0)))
            if hasClock { probe.clock(10_000, .main, #","d":true"#) }
            probe.send(draw(1, #","t":9000"#))
            probe.wait(.seconds(31))
            #expect(probe.shown() == [1])
            var restored = try restored(probe)
            restored.send(draw(2, #","t":300"#))
            restored.clock(8000, .main, #","d":true"#)
            restored.wait(.milliseconds(1000))
            #expect(restored.shown() == [])
            restored.wait(.milliseconds(1))
            #expect(restored.shown() == [2])
        }
    }

    @Test(
        "A time beyond belief that came while no clock was known is judged at the first sample, older ones are not again"
    )
    mutating func absurd() throws {
        probe.clock(0)
        probe.send(draw(1, #","t":59000"#))
        var restored = try restored(probe)
        restored.send(draw(2, #","t":1000000000000000"#))
        restored.send(draw(3, #","t":54000"#))
        restored.clock(-5000)
        #expect(restored.counts.clamped == 1)
        #expect(restored.shown() == [])
        restored.clock(58_999, .main, #","d":true"#)
        #expect(restored.shown() == [])
        restored.wait(.milliseconds(2))
        #expect(restored.shown() == [1, 2, 3])
    }

    @Test("A log clock that is found to be elsewhere moves no video time and no release")
    mutating func logClock() throws {
        probe.clock(1000)
        probe.send(draw(1, #","t":2000"#))
        let wake = probe.room.nextWake(after: probe.now)
        var room = probe.room
        room.setLogClock(ahead: .seconds(1_700_000_000))
        #expect(room.nextWake(after: probe.now) == wake)
        #expect(room.status(at: probe.now).cohorts.first?.video == MediaTime(milliseconds: Int64(1000)))
    }

    @Test("A message of the log's future counts as logged now")
    mutating func future() throws {
        var room = probe.room
        var effects = RoomEffects()
        room.receive(clockSample: Array(#"{"m":1000}"#.utf8), cohort: .main, at: probe.now, into: &effects)
        let message = IncomingMessage(
            author: .alice, session: nil, bytes: Array(draw(1, #","t":1"#).utf8), loggedAt: .distantFuture)
        room.receive(message, incarnation: { "life" }, at: probe.now, into: &effects)
        room.advance(to: probe.now, into: &effects)
        #expect(room.cursors == [.main: 1])
    }

    @Test("A room is quiet when only an input can make something happen")
    mutating func quiet() throws {
        #expect(probe.room.isQuiet)
        probe.send(draw(1))
        #expect(!probe.room.isQuiet)
        probe.clock(1)
        #expect(probe.room.isQuiet)
        probe.send(shard(2, 0, of: 2))
        #expect(!probe.room.isQuiet)
        #expect(try !restored(probe).room.isQuiet)
        probe.send(shard(2, 1, of: 2))
        #expect(probe.room.isQuiet)
        probe.send(draw(4))
        #expect(!probe.room.isQuiet)
        probe.wait(.seconds(3))
        #expect(probe.room.isQuiet)
    }

    @Test("Where a cohort stands is said again after a restart, if anything was ever released to it")
    mutating func marks() throws {
        probe.send(draw(1))
        var restored = try restored(probe)
        restored.wait(.seconds(5))
        #expect(restored.marks.isEmpty)
        probe.clock(1)
        restored = try self.restored(probe)
        restored.wait(.seconds(1))
        #expect(restored.marks.map(\.mark.index) == [1])
        #expect(restored.marks.map(\.mark.digest.value) == [plainDigest([1])])
    }

    @Test("A close tells every cohort that the life has ended")
    mutating func close() throws {
        let hls = try #require(CohortName("hls"))
        probe.clock(1000)
        probe.clock(1000, hls)
        probe.send(draw(1))
        probe.record(.close)
        let ended = Mark(room: "", index: 0, digest: .empty, video: nil)
        #expect(probe.marks.map(\.cohort) == [.main, hls])
        #expect(probe.marks.map(\.mark) == [ended, ended])
        #expect(probe.room.isBlank && probe.room.isQuiet)
        let restored = try restored(probe)
        #expect(restored.room.isBlank)
    }
}
