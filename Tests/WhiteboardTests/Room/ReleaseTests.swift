import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Cohorts and those who join them, while a class goes on over a bad network.
@Suite("Every cohort and every student gets every operation once, in order")
struct ReleaseTests {
    private struct Joined {
        let cohort: CohortName
        var student: Student
        /// How many releases had been published when the student joined.
        let after: Int
        let isTail: Bool
    }

    @Test(
        "Cohorts on paths of different delay, students who join at any moment",
        arguments: TestSeed.choose(6))
    func joins(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let rules = HistoryConfiguration(
            scope: random.chance(50, in: 100) ? .room : .author, depth: random.int(2...8),
            clear: random.chance(50, in: 100) ? .final : .undoable)
        var probe = RoomProbe(
            RoomConfiguration(
                intake: IntakeLimits(messagesPerSecond: 100_000, bytesPerSecond: 1 << 30), history: rules,
                log: LogRetention(tail: random.int(0...60), quiet: random.milliseconds(50...5000))))
        let hls = try #require(CohortName("hls"))
        let cohorts = [CohortName.main, hls]
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
                if random.chance(95, in: 100), media > 1000 { probe.clock(media - 3000, hls) }
            }
            for _ in 0..<2 {
                let cohort = random.chance(50, in: 100) ? CohortName.main : hls
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
                entry.student.take(shown.operation)
            }
            #expect(entry.student.index == last, "seed \(seed)")
            #expect(entry.student.digest == digest.value, "seed \(seed)")
            let visible = entry.student.visible
            #expect(
                visible.allSatisfy { entry.student.ink[$0] == probe.applied[Int($0) - 1].message }, "seed \(seed)")
        }
        print("joins \(joined.count), by tail \(joined.count { $0.isTail })")
    }

    /// A student who has the board, or who had followed for a while and joins again.
    private func join(
        _ cohort: CohortName, _ random: inout SeededGenerator, _ probe: RoomProbe, _ rules: HistoryConfiguration
    ) throws -> Joined {
        let published = probe.shown.filter { $0.cohort == cohort }
        var student = Student(rules)
        var request = JoinRequest()
        if random.chance(60, in: 100), published.first?.operation.index == 1 {
            let before = random.chance(50, in: 100) ? 5 : published.count
            let have = random.int(max(0, published.count - before)...published.count)
            for shown in published.prefix(have) { student.take(shown.operation) }
            request = JoinRequest(incarnation: probe.room.incarnation, have: UInt64(have))
        }
        let catchUp = try #require(probe.room.catchUp(request, cohort: cohort))
        #expect(catchUp.index == probe.room.gate.released(to: cohort) ?? 0)
        let isTail: Bool
        switch catchUp.content {
        case .tail(let operations):
            isTail = true
            for operation in operations { student.take(operation) }
        case .board(let board):
            isTail = false
            // A cohort that comes to be after its students starts where the log begins.
            if board.index == 0, probe.room.gate.released(to: cohort) == nil {
                return try join(.main, &random, probe, rules)
            }
            student = Student(rules, board: board)
        }
        #expect(student.index == catchUp.index)
        #expect(student.digest == catchUp.digest.value)
        return Joined(cohort: cohort, student: student, after: probe.shown.count, isTail: isTail)
    }
}
