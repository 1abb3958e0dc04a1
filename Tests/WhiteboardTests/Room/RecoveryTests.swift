import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// A restored room until its first clock sample.
@Suite struct `Recovery of a room` {
    private var probe = RoomProbe()

    /// The room in another process, whose clock has another origin.
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
        probe.clock(1000)
        for number in Int64(1)...6 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        #expect(probe.room.cursors.mapValues(\.released) == [.main: 2])
        var restored = try restored(probe)
        restored.restoreCursors([.main: 1, .hls: 4])
        #expect(restored.room.cursors.mapValues(\.released) == [.main: 2, .hls: 4])
        #expect(restored.room.board(of: .hls).index == 4)
        #expect(restored.shown.isEmpty)
        restored.restoreCursors([.main: CohortCursor(.max)])
        #expect(restored.room.cursors.mapValues(\.released) == [.main: 6, .hls: 4])
        #expect(restored.room.board(of: .main).digest == restored.room.head.digest)
        restored.clock(1e6)
        #expect(restored.shown.isEmpty)
    }

    @Test("A cohort that the settings no longer allow is left out, one that they add begins where the log does")
    mutating func otherCohorts() throws {
        let web = try #require(CohortName("web"))
        probe.clock(1000)
        probe.clock(500, .hls)
        for number in Int64(1)...4 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        #expect(probe.room.cursors.mapValues(\.released) == [.main: 2, .hls: 1])
        let closed = RoomConfiguration(cohorts: CohortsConfiguration(named: [web: CohortSettings()], open: false))
        #expect(try probe.restored(nil, closed).cursors.mapValues(\.released) == [.main: 2, web: 0])
    }

    @Test mutating func `While no clock is heard an operation waits from the restart on`() throws {
        probe.send(draw(1))
        probe.wait(.seconds(12))
        var restored = try restored(probe, after: .seconds(500))
        #expect(restored.after(.milliseconds(29_999)).shown.isEmpty)
        #expect(restored.after(.milliseconds(1)).shown() == [1])
    }

    @Test("With a video that plays it has waited since it was logged, whatever this process's clock shows")
    mutating func waiting() throws {
        probe.send(draw(1, #","t":90000"#))
        probe.wait(.seconds(12))
        var restored = try restored(probe, after: .seconds(5))
        restored.clock(0)
        #expect(restored.after(.milliseconds(12_999)).shown.isEmpty)
        #expect(restored.after(.milliseconds(1)).shown() == [1])
    }

    @Test("In a long pause nothing is let out at a take-over, nor by its end", arguments: [0, 1, 2], [false, true])
    mutating func pause(samplesAfterwards: Int, isNoted: Bool) throws {
        probe.clock(5000, .main, #","s":"pause""#)
        probe.send(draw(1, #","t":6000"#))
        for _ in 0..<2000 {
            probe.wait(.milliseconds(250))
            probe.clock(5000, .main, #","s":"pause""#)
        }
        #expect(probe.shown.isEmpty)
        var restored = try restored(probe, after: .seconds(100))
        if isNoted { restored.restoreCursors(probe.room.cursors) }
        restored.wait(.seconds(5))
        for _ in 0..<samplesAfterwards {
            restored.clock(5000, .main, #","s":"pause""#)
            restored.wait(.milliseconds(500))
        }
        restored.clock(5000)
        #expect(restored.shown.isEmpty)
        #expect(restored.after(.milliseconds(1001)).shown() == [1])
        #expect(restored.shown.allSatisfy { !$0.isLate })
    }

    @Test mutating func `Time that a cohort was paused before a restart does not count as waiting after it`() throws {
        probe.clock(5000)
        probe.send(draw(1, #","t":65000"#))
        for state in ["stall", "play"] {
            for _ in 0..<80 {
                probe.wait(.milliseconds(250))
                probe.clock(5000, .main, #","s":"\#(state)","d":true"#)
            }
        }
        // Logged 40 s ago, of which 20 s in a stall.
        #expect(probe.shown.isEmpty)
        var restored = try restored(probe)
        restored.restoreCursors(probe.room.cursors)
        restored.clock(5000)
        #expect(restored.after(.milliseconds(9_999)).shown.isEmpty)
        #expect(restored.after(.milliseconds(1)).shown() == [1])
        #expect(restored.shown.allSatisfy { $0.isLate })
    }

    @Test mutating func `A gate time goes on counting after its operation was released, judged or not`() throws {
        for hasClock in [false, true] {
            probe = RoomProbe(RoomConfiguration(log: LogRetention(tail: hasClock ? 1024 : 0)))
            if hasClock { probe.clock(10_000, .main, #","d":true"#) }
            probe.send(draw(1, #","t":9000"#))
            #expect(probe.after(.seconds(31)).shown() == [1])
            var restored = try restored(probe)
            restored.send(draw(2, #","t":300"#))
            restored.clock(8000, .main, #","d":true"#)
            #expect(restored.after(.milliseconds(1000)).shown() == [])
            #expect(restored.after(.milliseconds(1)).shown() == [2])
        }
    }

    @Test("A time beyond belief that came without a clock is judged at the first sample, older ones not again")
    mutating func absurd() throws {
        probe.clock(0)
        probe.send(draw(1, #","t":59000"#))
        var restored = try restored(probe)
        restored.send(draw(2, #","t":1000000000000000"#), draw(3, #","t":54000"#))
        restored.clock(-5000)
        #expect(restored.counts.clamped == 1)
        #expect(restored.shown() == [])
        restored.clock(58_999, .main, #","d":true"#)
        #expect(restored.shown() == [])
        #expect(restored.after(.milliseconds(2)).shown() == [1, 2, 3])
    }

    @Test mutating func `A log clock that is found to be elsewhere moves no video time and no release`() throws {
        probe.clock(1000)
        probe.send(draw(1, #","t":2000"#))
        let wake = probe.room.nextWake(after: probe.now)
        var room = probe.room
        room.setLogClock(ahead: .seconds(1_700_000_000))
        #expect(room.nextWake(after: probe.now) == wake)
        #expect(room.status(at: probe.now).cohorts.first?.video == MediaTime(milliseconds: Int64(1000)))
    }

    @Test mutating func `A message of the log's future counts as logged now`() throws {
        var room = probe.room
        var effects = RoomEffects()
        room.receive(clockSample: Array(#"{"m":1000}"#.utf8), cohort: .main, at: probe.now, into: &effects)
        let message = IncomingMessage(
            author: .alice, session: nil, bytes: Array(draw(1, #","t":1"#).utf8), loggedAt: .distantFuture)
        room.receive(message, incarnation: { "life" }, at: probe.now, into: &effects)
        room.advance(to: probe.now, into: &effects)
        #expect(room.cursors.mapValues(\.released) == [.main: 1])
    }

    @Test mutating func `A room is quiet when only an input can make something happen`() throws {
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
        #expect(probe.after(.seconds(3)).room.isQuiet)
    }

    @Test
    mutating func `A cohort's position is announced again after a restart, if anything was ever released to it`() throws
    {
        probe.send(draw(1))
        var restored = try restored(probe)
        #expect(restored.after(.seconds(5)).marks.isEmpty)
        probe.clock(1)
        restored = try self.restored(probe)
        #expect(restored.after(.seconds(1)).marks.map(\.mark.index) == [1])
        #expect(restored.marks.map(\.mark.digest.value) == [plainDigest([1])])
    }

    @Test mutating func `A close tells every cohort that the life has ended`() throws {
        probe.clock(1000)
        probe.clock(1000, .hls)
        probe.send(draw(1))
        probe.record(.close)
        let ended = Mark(room: "", index: 0, digest: .empty, video: nil)
        #expect(probe.marks.map(\.cohort) == [.main, .hls])
        #expect(probe.marks.map(\.mark) == [ended, ended] && probe.headMarks.last == ended)
        #expect(probe.room.isBlank && probe.room.isQuiet)
        let restored = try restored(probe)
        #expect(restored.room.isBlank)
    }
}

/// A restored room goes on like one that was never restarted.
@Suite("Restarts")
struct RestartTests {
    private static let seeds = TestSeed.choose(10)

    private func configuration(_ random: inout SeededGenerator, cohortsAreNamed: Bool) -> RoomConfiguration {
        let settings = CohortSettings(
            policy: [.maxhold, .maxhold, .hold, .freerun][random.int(0...3)], maxHold: .seconds(random.int(2...20)))
        let named = cohortsAreNamed ? TroubledClass.names.map { ($0, settings) } : []
        return RoomConfiguration(
            intake: IntakeLimits(messagesPerSecond: [8, 1000][random.int(0...1)], numberLead: 200),
            history: .random(depth: 1...12, using: &random),
            cohorts: CohortsConfiguration(defaults: settings, named: Dictionary(uniqueKeysWithValues: named)),
            log: LogRetention(tail: cohortsAreNamed ? random.int(0...100) : 0))
    }

    @Test("At any moment of a wild class: the same from then on, down to the last byte of the state", arguments: seeds)
    func atOnce(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // A late joiner's cohort starts where the log begins: with the released tail, which checkpoints leave out.
        var probe = RoomProbe(configuration(&random, cohortsAreNamed: false))
        probe.decisionsReturn = [[.zero], [.milliseconds(7)], [.milliseconds(900), .seconds(2)]][random.int(0...2)]
        var lesson = TroubledClass(seed: random.next(), at: probe.now, operations: 50, isWild: true)
        var restarts: [Restart] = []
        while !lesson.isOver {
            lesson.step(&probe)
            guard random.chance(2, in: 100) else { continue }
            probe.take(.clocksLost(nil))
            var restart = Restart(checkpoint: probe)
            restart.die(&probe)
            restarts.append(restart)
        }
        lesson.end(&probe)
        for restart in restarts.shuffled(using: &random).prefix(5) {
            let restored = try restart.restored(
                for: probe, logAhead: random.milliseconds(-1_000_000_000...1_000_000_000))
            restart.expectSame(restored, probe, seed)
            #expect(restored.room.checkpoint().encoded() == probe.room.checkpoint().encoded(), "seed \(seed)")
        }
        #expect(probe.applied.count > 5 && probe.room.isQuiet && !restarts.isEmpty, "seed \(seed)")
    }

    @Test(arguments: seeds)
    func `From an older checkpoint, the log's tail and older cursors nothing is lost or early`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var probe = RoomProbe(configuration(&random, cohortsAreNamed: true))
        probe.decisionsReturn = [random.milliseconds(0...900)]
        var lesson = TroubledClass(seed: random.next(), at: probe.now, operations: 50, isWild: false)
        var restarts: [Restart] = []
        var restart: Restart?
        while !lesson.isOver {
            lesson.step(&probe)
            if restart == nil, random.chance(3, in: 100) {
                restart = Restart(checkpoint: probe)
                restart?.note(probe)
            }
            if random.chance(3, in: 100) { restart?.note(probe) }
            if random.chance(2, in: 100), var dying = restart {
                dying.die(&probe)
                restarts.append(dying)
                restart = nil
            }
        }
        lesson.end(&probe)
        for restart in restarts.shuffled(using: &random).prefix(5) {
            let restored = try restart.restored(
                for: probe, logAhead: random.milliseconds(-1_000_000_000...1_000_000_000))
            restart.expectSame(restored, probe, seed)
        }
        #expect(probe.applied.count > 5 && probe.room.isQuiet, "seed \(seed)")
    }
}
