import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

@Suite struct `Log of operations` {
    /// An operation of 1000 bytes, its overhead included.
    private func operation(_ index: UInt64) -> Whiteboard.Operation {
        Operation(
            index: index, author: .alice, number: Int64(index), effect: .undo(reference: 1, page: 0), isLate: false,
            time: nil,
            digest: .empty, message: [UInt8](repeating: 32, count: 1000 - 256), isJoined: false)
    }

    @Test func `A tail is what comes after an index through another, nil where the log does not reach back so far`() {
        var log = OperationLog()
        #expect(log.tail(after: 0, through: 0)?.map(\.index) == [])
        for index in UInt64(1)...10 { log.append(operation(index)) }
        log.pack(through: 4)
        for _ in 0..<3 { _ = log.popFirst() }
        #expect(log.firstIndex == 4)
        #expect(log.lastIndex == 10)
        #expect(log.tail(after: 2, through: 9) == nil)
        #expect(log.tail(after: 3, through: 6)?.map(\.index) == [4, 5, 6])
        #expect(log.tail(after: 6, through: 6)?.map(\.index) == [])
        #expect(log.tail(after: 10, through: 10)?.map(\.index) == [])
        #expect(log[7].index == 7)
    }

    @Test func `Bytes are held until every cohort has released them, then kept with the tail, then given back`() {
        var log = OperationLog(after: 20)
        #expect(log.lastIndex == 20)
        for index in UInt64(21)...30 { log.append(operation(index)) }
        #expect(log.heldBytes == 10_000)
        log.pack(through: 24)
        #expect(log.heldBytes == 6000)
        #expect(log.releasedBytes == 4000)
        log.pack(through: 24)
        _ = log.popFirst()
        #expect(log.releasedBytes == 3000)
        log.pack(through: .max)
        #expect(log.heldBytes == 0)
        while log.count > 0 { _ = log.popFirst() }
        #expect(log.releasedBytes == 0)
        #expect(log.firstIndex == 31)
    }
}

@Suite struct `Log between two boards` {
    private func ready(_ text: String) throws -> ReadyOperation {
        let bytes = Array(text.utf8)
        let header = try StrokeMessage(decoding: bytes, limits: WireLimits())
        return ReadyOperation(author: .alice, header: header, bytes: bytes, isLate: false, isJoined: false)
    }

    @Test func `The operations kept lead from the base to the head, however the log is trimmed`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var log = RoomLog(RoomConfiguration())
        for number in Int64(1)...200 {
            let commands = [undo(number), redo(number), clear(number)]
            let operation = try ready(random.chance(70, in: 100) ? draw(number) : random.pick(commands))
            do throws(Rejection) {
                _ = try log.append(operation)
            } catch {
                #expect([.nothingToUndo, .nothingToRedo].contains(error), "seed \(random.seed)")
            }
            if random.chance(10, in: 100) {
                let released = UInt64(random.int(Int(log.base.index)...Int(log.head.index)))
                log.trim(through: released, keeping: LogRetention(tail: random.int(0...20)))
                #expect(log.base.index <= released, "seed \(random.seed)")
            }
            var board = log.base
            for operation in log.operations.kept { board.apply(operation) }
            #expect(board.index == log.head.index, "seed \(random.seed)")
            #expect(board.digest == log.head.digest, "seed \(random.seed)")
        }
        #expect(log.base.index > 0, "seed \(random.seed)")
    }

    @Test func `An operation that the board does not allow leaves the log as it was`() throws {
        var log = RoomLog(RoomConfiguration())
        _ = try log.append(ready(draw(1)))
        #expect(throws: Rejection.nothingToRedo) { try log.append(ready(redo(2))) }
        #expect(log.head.index == 1)
        #expect(log.operations.count == 1)
    }

    @Test func `Both ends of a compacted log are one board, and the next operation follows it`() throws {
        var log = RoomLog(RoomConfiguration())
        for number in Int64(1)...3 { _ = try log.append(ready(draw(number))) }
        log.compact()
        #expect(log.operations.count == 0)
        #expect(log.base.index == 3)
        #expect(log.base.digest == log.head.digest)
        #expect(try log.append(ready(undo(4))).index == 4)
    }
}

@Suite struct `What a room keeps of its log` {
    /// A room whose cohort is released everything at once.
    private func openRoom(_ log: LogRetention) -> RoomProbe {
        RoomProbe(RoomConfiguration(cohorts: CohortsConfiguration(defaults: CohortSettings(gate: .none)), log: log))
    }

    @Test func `A tail of so many released operations, and all that are not released`() {
        var probe = RoomProbe(RoomConfiguration(log: LogRetention(tail: 10)))
        for number in Int64(1)...50 { probe.send(draw(number, #","t":\#(number * 10)"#)) }
        #expect(probe.room.log.operations.count == 50)
        probe.clock(205)
        #expect(probe.room.log.operations.firstIndex == 21)
        probe.clock(1000)
        #expect(probe.room.log.operations.count == 10)
        #expect(probe.room.log.base.index == 40)
        #expect(probe.room.log.base.visible.count == 40)
    }

    @Test func `A tail of no more than so many bytes, whatever its operations are`() {
        var probe = openRoom(LogRetention(tailBytes: 50_000))
        let filler = #","q":"\#(String(repeating: "a", count: 20_000))""#
        probe.send(draw(1))
        for number in Int64(2)...20 {
            probe.send(number.isMultiple(of: 2) ? undo(number, filler) : redo(number, filler))
        }
        #expect(probe.applied.count == 20)
        #expect(probe.room.log.operations.count == 2)
        #expect(probe.room.log.operations.releasedBytes < 50_000)
        #expect(probe.shown() == Array(1...20))
    }

    @Test
    func `Beyond the bytes that may be held the slowest cohort's oldest operations are released, marked late`() throws {
        var probe = RoomProbe(RoomConfiguration(log: LogRetention(heldBytes: 50_000)))
        let filler = #","q":"\#(String(repeating: "a", count: 20_000))""#
        for number in Int64(1)...5 { probe.send(draw(number, filler)) }
        #expect(probe.shown() == [1, 2, 3])
        #expect(probe.shown.allSatisfy { $0.isLate })
        #expect(probe.room.log.operations.heldBytes <= 50_000)
    }

    @Test func `A released stroke still gives its message back byte for byte`() throws {
        var probe = openRoom(LogRetention())
        let text = #"{"n":1, "t":5,"d":[{"x":1.50,"y":2,"q":7}]}"#
        probe.send(text)
        let catchUp = try #require(probe.room.catchUp(JoinRequest(incarnation: "life", have: 0), cohort: .main))
        let tail = try catchUp.tail()
        #expect(tail.map(\.restoredMessage) == [Array(text.utf8)])
        #expect(probe.shown.map(\.operation.restoredMessage) == [Array(text.utf8)])
    }
}

@Suite struct `Rooms at rest` {
    private var probe = RoomProbe(RoomConfiguration(log: LogRetention(quiet: .seconds(60))))

    private func rejoin(_ have: UInt64) throws -> CatchUp {
        try #require(probe.room.catchUp(JoinRequest(incarnation: "life", have: have), cohort: .main))
    }

    @Test
    mutating func `So long after the last release the log is let go of, at the moment that the room said`() throws {
        probe.clock(1000)
        for number in Int64(1)...3 { probe.send(draw(number)) }
        let due = probe.now + .seconds(60)
        #expect(probe.after(.milliseconds(59_999)).room.log.operations.count == 3)
        #expect(try #require(probe.room.nextWake(after: probe.now)) <= due)
        #expect(probe.after(.milliseconds(1)).room.log.operations.count == 0)
        #expect(probe.room.gate.timeline.forgotten == 3)
        #expect(probe.room.log.base.index == 3)
        #expect(probe.room.compactionDue == nil)
    }

    @Test
    mutating func `Not while an operation is held, waits for another or for a shard, or cannot be published`() throws {
        probe = RoomProbe(
            RoomConfiguration(
                cohorts: CohortsConfiguration(defaults: CohortSettings(policy: .hold)),
                log: LogRetention(quiet: .milliseconds(1))))
        probe.decisionsReturn = []
        probe.send(draw(1))
        #expect(probe.after(.seconds(90)).room.log.operations.count == 1)
        probe.setOutput(isOpen: false)
        probe.clock(1e6)
        #expect(probe.after(.seconds(90)).room.log.operations.count == 1)
        probe.send(shard(2, 0, of: 2))
        probe.setOutput(isOpen: true)
        #expect(probe.after(.seconds(90)).shown() == [1])
        #expect(probe.room.log.operations.count == 1)
        probe.send(shard(2, 1, of: 2))
        #expect(probe.after(.seconds(90)).shown() == [1, 2])
        #expect(probe.room.log.operations.count == 0)
    }

    @Test mutating func `A client that rejoins with all of it gets nothing; one that missed something gets the board`()
        throws
    {
        probe.clock(1000)
        for number in Int64(1)...3 { probe.send(draw(number)) }
        probe.wait(.seconds(60))
        let tail = try rejoin(3).tail()
        #expect(tail.isEmpty)
        let board = try rejoin(2).board()
        #expect(board.visible.map(\.index) == [1, 2, 3])
    }

    @Test(arguments: TestSeed.choose(8))
    func `A room that rests at every chance and one that never does cannot be told apart`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let settings = CohortSettings(maxHold: .seconds(random.int(1...8)))
        var configuration = RoomConfiguration(
            history: .random(depth: 1...100, using: &random),
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
            if resting.room.log.operations.count == 0, resting.room.head.index > 0 { rests += 1 }
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
