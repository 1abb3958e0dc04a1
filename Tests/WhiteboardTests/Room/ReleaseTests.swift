import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Releases and joins during a class over a bad network.
@Suite struct `Every cohort and every student gets every operation once, in order` {
    private struct Joined {
        let cohort: CohortName
        var student: ModelStudent
        /// Number of releases published before the student joined.
        let after: Int
        let isTail: Bool
    }

    @Test
    func `Operations that a jump of the clock makes due go out in turns, in order, and leave time for other rooms`() {
        var probe = RoomProbe()
        probe.clock(0)
        for number in 1...60 { probe.send(draw(Int64(number), points: 1000, #","t":\#(number)"#)) }
        #expect(probe.shown.isEmpty)
        probe.clock(10_000, .main, #","d":true"#)
        #expect((1..<30).contains(probe.shown.count))
        #expect(probe.after(.microseconds(1)).shown() == Array(1...60))
    }

    @Test(arguments: TestSeed.choose(6))
    func `Cohorts on paths of different delay, students who join at any moment`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let rules = HistoryConfiguration.random(depth: 2...8, using: &random)
        var probe = RoomProbe(
            RoomConfiguration(
                intake: .fast, history: rules,
                log: LogRetention(tail: random.int(0...60), quiet: random.milliseconds(50...5000))))
        let cohorts = [CohortName.main, .hls]
        let began = probe.now
        var lesson = LossyClass(seed: random.next(), at: began, authors: 2...3, operations: 50)
        var joined: [Joined] = []
        var nextSample = began
        while !lesson.isOver {
            lesson.step(&probe)
            if probe.now >= nextSample {
                nextSample = probe.now + .milliseconds(250)
                let media = Double((probe.now.nanoseconds - began.nanoseconds) / 1_000_000)
                if random.chance(95, in: 100) { probe.clock(media - 300) }
                if random.chance(95, in: 100), media > 1000 { probe.clock(media - 3000, .hls) }
            }
            for _ in 0..<2 {
                let cohort = random.chance(50, in: 100) ? CohortName.main : .hls
                joined.append(try join(cohort, &random, probe, rules))
            }
        }
        probe.wait(.seconds(60))

        let last = UInt64(probe.applied.count)
        let digest = try #require(probe.applied.last).digest
        for cohort in cohorts {
            let indices = probe.shown(cohort)
            #expect(indices == Array((indices.first ?? 1)...last), "seed \(seed)")
            if cohort == .main { #expect(indices.first == 1, "seed \(seed)") }
            for shown in probe.shown where shown.cohort == cohort {
                let applied = probe.applied[Int(shown.operation.index) - 1]
                #expect(shown.operation.restoredMessage == applied.message, "seed \(seed)")
            }
        }
        for var entry in joined {
            for shown in probe.shown[entry.after...] where shown.cohort == entry.cohort {
                entry.student.receive(shown.operation)
            }
            #expect(entry.student.index == last, "seed \(seed)")
            #expect(entry.student.digest == digest.value, "seed \(seed)")
            let visible = entry.student.visible
            #expect(visible.allSatisfy { entry.student.ink[$0] == probe.applied[Int($0) - 1].message }, "seed \(seed)")
        }
        print("joins \(joined.count), by tail \(joined.count { $0.isTail })")
    }

    /// A student who joins with the board, or again after having followed for a while.
    private func join(
        _ cohort: CohortName, _ random: inout SeededGenerator, _ probe: RoomProbe, _ rules: HistoryConfiguration
    ) throws -> Joined {
        let published = probe.shown.filter { $0.cohort == cohort }
        var student = ModelStudent(rules)
        var request = JoinRequest()
        if random.chance(60, in: 100), published.first?.operation.index == 1 {
            let before = random.chance(50, in: 100) ? 5 : published.count
            let have = random.int(max(0, published.count - before)...published.count)
            for shown in published.prefix(have) { student.receive(shown.operation) }
            request = JoinRequest(incarnation: probe.room.incarnation, have: UInt64(have))
        }
        let catchUp = try #require(probe.room.catchUp(request, cohort: cohort))
        #expect(catchUp.index == probe.room.gate.released(to: cohort) ?? 0)
        let isTail: Bool
        switch catchUp.content {
        case .tail(let operations):
            isTail = true
            for operation in operations { student.receive(operation) }
        case .version:
            throw Unexpected("no position was asked for")
        case .board(let board):
            isTail = false
            // A cohort made after its students joined starts where the log begins.
            if board.index == 0, probe.room.gate.released(to: cohort) == nil {
                return try join(.main, &random, probe, rules)
            }
            student = ModelStudent(rules, board: board)
        }
        #expect(student.index == catchUp.index)
        #expect(student.digest == catchUp.digest.value)
        return Joined(cohort: cohort, student: student, after: probe.shown.count, isTail: isTail)
    }
}

@Suite("Marks")
struct MarkTests {
    private var probe = RoomProbe()

    @Test("None before the first release; then every second for 30 s after the last release, then every 10 s")
    mutating func rhythm() {
        #expect(probe.after(.seconds(60)).marks.isEmpty)
        probe.clock(1000)
        let start = probe.now
        probe.send(draw(1))
        probe.wait(.seconds(60))
        let seconds = probe.marks.map { ($0.at - start).components.seconds }
        #expect(seconds == Array(1...30) + [40, 50, 60])
        probe.send(draw(2))
        probe.clock(100_000, .main, #","d":true"#)
        #expect(probe.after(.seconds(1)).marks.count == seconds.count + 1)
    }

    @Test func `Marks of rooms written to at different times go out together, each at least a second after the last`() {
        let times = (0..<20).map { milliseconds in
            var probe = RoomProbe(CohortSettings(gate: .none))
            probe.wait(.milliseconds(milliseconds))
            let start = probe.now
            probe.send(draw(1))
            let marks = probe.after(.seconds(3)).marks.map(\.at)
            let pauses = zip(marks, [start] + marks).map { $0 - $1 }
            #expect(pauses.allSatisfy { Duration.seconds(1) ... .milliseconds(1019) ~= $0 })
            return marks
        }
        // All but the first, which was written to at such a moment.
        #expect(Set(times.dropFirst()).count == 1 && times[1].count == 2)
    }

    @Test mutating func `Say room, index, digest and video time of the cohort, not of the head`() throws {
        probe.clock(1000)
        probe.send(draw(1, #","t":900"#), draw(2, #","t":9000"#))
        probe.wait(.seconds(1))
        let mark = try #require(probe.marks.last).mark
        #expect(
            mark
                == Mark(
                    room: "life", index: 1, digest: BoardDigest(value: plainDigest([1])),
                    video: MediaTime(milliseconds: Int64(2000)), gate: .video))
    }

    @Test mutating func `The video time is unknown where no sample came`() throws {
        probe = RoomProbe(CohortSettings(gate: .none))
        probe.send(draw(1))
        probe.wait(.seconds(1))
        #expect(try #require(probe.marks.last).mark.video == nil)
    }

    @Test mutating func `While nothing can be published no mark is said and no cursor moves`() {
        probe.clock(1000)
        probe.setOutput(isOpen: false)
        probe.send(draw(1))
        #expect(probe.after(.seconds(5)).marks.isEmpty)
        #expect(probe.shown() == [])
        #expect(probe.applied.count == 1)
        probe.setOutput(isOpen: true)
        #expect(probe.shown() == [1])
        #expect(probe.after(.seconds(1)).marks.count == 1)
    }
}

@Suite struct `The earliest of many instants` {
    @Test(arguments: TestSeed.choose(8))
    func `is the same as in a plain list, and so is the first that is due`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var tree = DeadlineTree()
        var list: [Instant] = []
        #expect(tree.earliest == .distantFuture)
        #expect(tree.first(dueAt: .distantFuture) == nil)
        for _ in 0..<400 {
            let instant = random.chance(20, in: 100) ? .distantFuture : Instant(nanoseconds: Int64(random.int(0...50)))
            if list.isEmpty || random.chance(10, in: 100) {
                list.append(instant)
                tree.append(instant)
            } else {
                let position = random.int(0..<list.count)
                list[position] = instant
                tree[position] = instant
                #expect(tree[position] == instant, "seed \(seed)")
            }
            #expect(tree.count == list.count, "seed \(seed)")
            #expect(tree.earliest == list.min(), "seed \(seed)")
            let now = Instant(nanoseconds: Int64(random.int(-1...50)))
            #expect(tree.first(dueAt: now) == list.firstIndex { $0 <= now }, "seed \(seed)")
        }
    }
}

@Suite("Joining")
struct JoiningTests {
    private var probe = RoomProbe()

    private func join(_ have: UInt64? = nil, room: String? = "life", _ cohort: CohortName = .main) throws -> CatchUp {
        try #require(probe.room.catchUp(JoinRequest(incarnation: room, have: have), cohort: cohort))
    }

    private func indices(_ catchUp: CatchUp) -> [UInt64]? {
        if case .tail(let operations) = catchUp.content { operations.map(\.index) } else { nil }
    }

    @Test mutating func `The board is that of what was released to the cohort, never of the head of the log`() throws {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number, #","t":\#(number * 400)"#)) }
        let catchUp = try join()
        #expect(catchUp.index == 2)
        #expect(catchUp.digest.value == plainDigest([1, 2]))
        let board = try catchUp.board()
        #expect(board.visible.map(\.index) == [1, 2])
        #expect(indices(try join(0)) == [1, 2])
    }

    @Test("A client with a part of this life gets the tail; one with none of it, or of another, gets the board")
    mutating func forms() throws {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number)) }
        #expect(indices(try join(0)) == [1, 2, 3, 4, 5])
        #expect(indices(try join(3)) == [4, 5])
        #expect(indices(try join(5)) == [])
        #expect(indices(try join(nil)) == nil)
        #expect(indices(try join(3, room: "other")) == nil)
        #expect(indices(try join(3, room: nil)) == nil)
    }

    @Test(arguments: [6, UInt64.max])
    mutating func `A client ahead of the cohort gets its lower index and no operations`(_ have: UInt64) throws {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number)) }
        let catchUp = try join(have)
        #expect(catchUp.index == 5)
        #expect(indices(catchUp) == [])
    }

    @Test
    mutating func
        `A client with operations that the log has lost gets the board, once the log is known to have no more`() throws
    {
        probe.clock(1000)
        for number in Int64(1)...5 { probe.send(draw(number)) }
        probe.send(draw(6, #","t":2000"#))
        func answer(_ have: UInt64) throws -> [CatchUp] {
            let request = JoinRequest(incarnation: "life", have: have)
            return [
                try #require(probe.room.catchUp(request, cohort: .main, isCurrent: true)),
                try #require(probe.room.catchUpHead(request, isCurrent: true)),
            ]
        }
        #expect(try answer(6).map { indices($0) } == [[], []])
        let boards = try answer(7)
        #expect(boards.map { indices($0) } == [nil, nil] && boards.map(\.index) == [5, 6])
    }

    @Test mutating func `A room that nobody has written to is an empty board with index 0 and no incarnation`() throws {
        let catchUp = try join(7, room: "")
        #expect(catchUp.incarnation == "")
        #expect(catchUp.index == 0)
        #expect(catchUp.digest == .empty)
        let board = try catchUp.board()
        #expect(board.size == BoardSize(width: 1024, height: 768))
        #expect(board.visible.isEmpty)
    }

    @Test("A join never makes a cohort: one that is not there yet has the empty board, a closed room none at all")
    mutating func unknownCohort() throws {
        probe.clock(1000)
        probe.send(draw(1))
        #expect(try join(nil, .hls).index == 0)
        #expect(probe.room.status(at: probe.now).cohorts.map(\.name) == [.main])
        probe = RoomProbe(RoomConfiguration(cohorts: CohortsConfiguration(open: false)))
        #expect(probe.room.catchUp(JoinRequest(), cohort: .hls) == nil)
    }

    @Test mutating func `The redo stack comes with the board, the next to be done again last`() throws {
        probe.clock(1000)
        probe.send(draw(1), draw(2), draw(3), undo(4), undo(5))
        let board = try join().board()
        #expect(board.visible.map(\.index) == [1])
        #expect(board.undone.map(\.index) == [3, 2])
    }

    @Test("A close ends the life: the board is empty, and who knew the old life gets the board of the new one")
    mutating func close() throws {
        probe.clock(1000)
        probe.send(draw(1))
        probe.record(.close)
        #expect(try join().incarnation == "")
        #expect(probe.room.isBlank)
        probe.send(draw(2))
        probe.clock(1000)
        let catchUp = try join(1, room: "earlier")
        #expect(catchUp.index == 1)
        #expect(indices(catchUp) == nil)
    }
}
