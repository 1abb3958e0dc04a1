import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite("Rooms at rest")
struct RestTests {
    private var probe = RoomProbe(RoomConfiguration(log: LogRetention(quiet: .seconds(60))))

    private func rejoin(_ have: UInt64) throws -> CatchUp.Content {
        try #require(probe.room.catchUp(JoinRequest(incarnation: "life", have: have), cohort: .main)).content
    }

    @Test("So long after the last release the log is let go of, at the moment that the room said")
    mutating func lets() throws {
        probe.clock(1000)
        for number in Int64(1)...3 { probe.send(draw(number)) }
        let due = probe.now + .seconds(60)
        probe.wait(.milliseconds(59_999))
        #expect(probe.room.log.count == 3)
        #expect(try #require(probe.room.nextWake(after: probe.now)) <= due)
        probe.wait(.milliseconds(1))
        #expect(probe.room.log.count == 0)
        #expect(probe.room.gate.timeline.forgotten == 3)
        #expect(probe.room.base.index == 3)
        #expect(probe.room.restDue == nil)
    }

    @Test("Not while an operation is held, waits for another or for a shard, or cannot be published")
    mutating func busy() throws {
        probe = RoomProbe(
            RoomConfiguration(
                cohorts: CohortsConfiguration(defaults: CohortSettings(policy: .hold)),
                log: LogRetention(quiet: .milliseconds(1))))
        probe.decisionsReturn = []
        probe.send(draw(1))
        probe.wait(.seconds(90))
        #expect(probe.room.log.count == 1)
        probe.setOutput(isOpen: false)
        probe.clock(1e6)
        probe.wait(.seconds(90))
        #expect(probe.room.log.count == 1)
        probe.send(shard(2, 0, of: 2))
        probe.setOutput(isOpen: true)
        probe.wait(.seconds(90))
        #expect(probe.shown() == [1])
        #expect(probe.room.log.count == 1)
        probe.send(shard(2, 1, of: 2))
        probe.wait(.seconds(90))
        #expect(probe.shown() == [1, 2])
        #expect(probe.room.log.count == 0)
    }

    @Test("Who joins again with all of it gets nothing, who missed something gets the board")
    mutating func rejoins() throws {
        probe.clock(1000)
        for number in Int64(1)...3 { probe.send(draw(number)) }
        probe.wait(.seconds(60))
        guard case .tail(let tail) = try rejoin(3) else {
            Issue.record("no tail")
            return
        }
        #expect(tail.isEmpty)
        guard case .board(let board) = try rejoin(2) else {
            Issue.record("no board")
            return
        }
        #expect(board.visible.map(\.stroke.index) == [1, 2, 3])
    }

    @Test(
        "Of two rooms, one that rests at every chance and one that never does, nobody can tell which is which",
        arguments: TestSeed.choose(8))
    func same(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let settings = CohortSettings(maxHold: .seconds(random.int(1...8)))
        var configuration = RoomConfiguration(
            history: HistoryConfiguration(
                scope: random.chance(50, in: 100) ? .room : .author, depth: random.int(1...100),
                clear: random.chance(50, in: 100) ? .final : .undoable),
            cohorts: CohortsConfiguration(
                defaults: settings,
                named: Dictionary(uniqueKeysWithValues: TroubledClass.names.map { ($0, settings) })),
            log: LogRetention(tail: random.int(0...100), quiet: .seconds(1_000_000)))
        var awake = RoomProbe(configuration)
        for _ in 0..<3 {
            var lesson = TroubledClass(seed: random.next(), at: awake.now, operations: 30, isWild: true)
            while !lesson.isOver { lesson.step(&awake) }
            lesson.end(&awake)
        }
        configuration.log.quiet = random.milliseconds(1...2000)
        var resting = RoomProbe(configuration)
        resting.decisionsReturn = []
        var rests = 0
        for (at, input) in awake.inputs {
            resting.wait(at - resting.logTime)
            if resting.room.log.count == 0, resting.room.head.index > 0 { rests += 1 }
            resting.take(input)
        }
        resting.wait(awake.logTime - resting.logTime)
        #expect(rests > 0, "seed \(seed): it never rested before something more came")
        #expect(resting.applied.map(\.summary) == awake.applied.map(\.summary), "seed \(seed)")
        #expect(resting.applied.map(\.digest) == awake.applied.map(\.digest), "seed \(seed)")
        #expect(resting.told.map(\.feedback.summary) == awake.told.map(\.feedback.summary), "seed \(seed)")
        #expect(resting.shown.map(line) == awake.shown.map(line), "seed \(seed)")
        #expect(resting.marks.map { "\($0)" } == awake.marks.map { "\($0)" }, "seed \(seed)")
        #expect(state(of: resting.room) == state(of: awake.room), "seed \(seed)")
    }

    /// All of a room but its log.
    private func state(of room: Room) -> [UInt8] {
        var room = room
        room.trimLog(keeping: LogRetention(tail: 0))
        return room.checkpoint().encoded()
    }

    private func line(_ shown: RoomProbe.Shown) -> String {
        let message = String(decoding: shown.operation.restoredMessage, as: UTF8.self)
        return "\(shown.cohort) \(shown.operation.summary) \(shown.isLate) \(shown.at) \(message)"
    }
}
