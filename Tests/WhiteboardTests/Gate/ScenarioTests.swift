import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Scenarios of the gate that are about boards and students: a whole room, in virtual time. Those about the clock alone
/// have their numbers in the other files of this folder, or are cases of `clocks.json`.
@Suite struct `Scenarios of the gate` {
    private var probe = RoomProbe()

    /// Sets a clock that stands still.
    private mutating func video(_ milliseconds: Double) { probe.clock(milliseconds, .main, #","r":0"#) }

    /// The strokes on the board of a cohort, bottom to top.
    private func board(_ cohort: CohortName = .main) -> [UInt64] { probe.room.board(of: cohort).visible.map(\.index) }

    @Test mutating func `4: stroke t=800, undo t=100, V=500: the undo is held behind its stroke`() {
        video(500)
        probe.send(draw(1, #","t":800"#), undo(2, #","t":100"#))
        #expect(probe.visible == [])
        #expect(probe.shown() == [])
        video(800)
        #expect(probe.shown() == [])
        video(801)
        #expect(probe.shown() == [1, 2])
        #expect(probe.shown.map(\.operation.reference) == [nil, 1])
        #expect(probe.shown.allSatisfy { !$0.isLate })
    }

    @Test mutating func `5: clear t=700 among strokes 600, 800: 600, clear, 800; the board between is blank`() {
        video(500)
        probe.send(draw(1, #","t":600"#), clear(2, #","t":700"#), draw(3, #","t":800"#))
        let steps: [(video: Double, shown: [UInt64], board: [UInt64])] = [
            (600, [], []), (601, [1], [1]), (700, [1], [1]), (701, [1, 2], []), (800, [1, 2], []),
            (801, [1, 2, 3], [3]),
        ]
        for step in steps {
            video(step.video)
            #expect(probe.shown() == step.shown, "V=\(step.video)")
            #expect(board() == step.board, "V=\(step.video)")
        }
    }

    @Test("15: policy hold, no clock ever: never released; a joiner gets the empty board; the held are counted")
    mutating func holdWithoutClock() throws {
        probe = RoomProbe(CohortSettings(policy: .hold))
        for number in Int64(1)...3 { probe.send(draw(number, #","t":\#(number * 100)"#)) }
        #expect(probe.after(.seconds(30 * 86_400)).shown() == [])
        let joined = try #require(probe.room.catchUp(JoinRequest(), cohort: .main))
        #expect(joined.index == 0 && joined.digest == .empty)
        let board = try joined.board()
        #expect(board.visible.isEmpty)
        // What lectern_gate_depth is made of.
        var held: [CohortName: Int] = [:]
        probe.room.forEachCohort { held[$0] = $1 }
        #expect(held == [.main: 3])
    }

    @Test mutating func `22: join under load, 10,000 times: no gap, no repeat, nothing with e ≥ V`() throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        probe = RoomProbe(RoomConfiguration(intake: .fast, log: LogRetention(tail: random.int(0...200))))
        let start = probe.now
        let rules = probe.room.configuration.history
        var sent: [(at: Instant, gateTime: Double)] = []
        var followers: [(student: ModelStudent, after: Int)] = []
        var joins = 0
        var number = Int64(0)
        while joins < 10_000 {
            // The video is 300 ms behind, its samples are exact.
            let elapsed = (probe.now - start) / .milliseconds(1)
            if number % 5 == 0 { probe.clock(elapsed - 300) }
            for _ in 0..<random.int(0...3) {
                number += 1
                let time = Int(elapsed) - random.int(0...600)
                let more = #","t":\#(time)"#
                let isCommand = random.chance(20, in: 100) && !probe.visible.isEmpty
                probe.send(isCommand ? random.pick([undo, undo, clear])(number, more) : draw(number, more))
                sent.append((probe.now, max(sent.last?.gateTime ?? -.infinity, Double(time))))
            }
            for _ in 0..<random.int(0...40) {
                joins += 1
                let joined = try #require(probe.room.catchUp(JoinRequest(), cohort: .main))
                // As many as were released before: what follows is the next one.
                try #require(joined.index == UInt64(probe.shown.count), "seed \(random.seed)")
                let due = sent.prefix { $0.gateTime < elapsed - 300 }.count
                try #require(joined.index == UInt64(due), "seed \(random.seed), V=\(elapsed - 300)")
                let board = try joined.board()
                let visible = board.visible.map(\.index)
                try #require(joined.digest.value == plainDigest(visible), "seed \(random.seed)")
                try #require(visible.last ?? 0 <= joined.index, "seed \(random.seed)")
                if joins.isMultiple(of: 100) {
                    followers.append((ModelStudent(rules, board: board), probe.shown.count))
                }
            }
            probe.wait(.milliseconds(random.int(1...40)))
        }
        probe.clock(1e9, .main, #","d":true"#)
        #expect(probe.shown() == Array(1...UInt64(sent.count)), "seed \(random.seed)")
        for (student, after) in followers {
            var student = student
            for shown in probe.shown[after...] { student.receive(shown.operation) }
            #expect(student.digest == probe.room.head.digest.value, "seed \(random.seed)")
        }
    }

    @Test("25: a student moves from the fast to the slow cohort: the board is drawn again at the lower R")
    mutating func toTheSlowCohort() throws {
        let rules = probe.room.configuration.history
        for number in Int64(1)...9 { probe.send(draw(number, #","t":\#(number * 1000)"#)) }
        probe.send(undo(10, #","t":9500"#))
        // The slow video is 5 s behind the fast one.
        for milliseconds in stride(from: 0.0, through: 8500, by: 250) {
            probe.clock(milliseconds)
            probe.clock(milliseconds - 5000, .hls)
            probe.wait(.milliseconds(milliseconds < 8500 ? 250 : 1))
        }
        var student = ModelStudent(rules)
        for shown in probe.shown where shown.cohort == .main { student.receive(shown.operation) }
        #expect(student.index == 8)

        // With what it has it would be told to wait: it joins as one who has nothing.
        let kept = try #require(probe.room.catchUp(JoinRequest(incarnation: "life", have: 8), cohort: .hls))
        guard kept.index == 3, case .tail(let none) = kept.content, none.isEmpty else { throw Unexpected("\(kept)") }
        let joined = try #require(probe.room.catchUp(JoinRequest(), cohort: .hls))
        let board = try joined.board()
        student = ModelStudent(rules, board: board)
        #expect(student.index == 3)
        #expect(student.visible == [1, 2, 3])
        let after = probe.shown.count
        for milliseconds in [7000.0, 10_000] {
            probe.clock(milliseconds, .hls, #","d":true"#)
            probe.wait(.milliseconds(1))
        }
        for shown in probe.shown[after...] where shown.cohort == .hls { student.receive(shown.operation) }
        #expect(student.index == 10)
        #expect(student.visible == Array(1...8))
    }

    @Test mutating func `28: stroke and undo due in one tick: both sent, in order; the canvas is unchanged`() throws {
        video(100)
        probe.send(draw(1, #","t":50"#))
        let before = board()
        probe.send(draw(2, #","t":500"#), undo(3, #","t":500"#))
        #expect(probe.shown() == [1])
        let tick = probe.now
        video(501)
        #expect(probe.shown() == [1, 2, 3])
        #expect(probe.shown.dropFirst().allSatisfy { $0.at == tick && !$0.isLate })
        #expect(board() == before)
        #expect(probe.shown.last?.operation.digest.value == plainDigest(before))
    }
}

/// The protocol's test vectors of video clocks: samples and operations, and what goes out when.
@Suite struct `The protocol's test vectors of clocks` {
    @Test func `release what is stated, at the stated times`() throws {
        for vector in try ProtocolVectors.cases("clocks.json", of: ClockVector.self, atLeast: 30) {
            var room = VirtualRoom(try vector.settings?.cohorts() ?? CohortSettings())
            let start = room.now
            for step in vector.steps {
                room.wait(start + .milliseconds(step.at) - room.now)
                let cohort = try #require(CohortName(step.cohort ?? "main"))
                if let operation = step.operation { room.log(operation.t) }
                if let sample = step.sample {
                    let outcome = room.receive(try sample.decoded(), cohort)
                    if let then = step.then {
                        #expect(ClockVector.name(of: outcome) == then, "\(vector.name), \(step.at) ms")
                    }
                }
                if let video = step.v { #expect(room.video(cohort) == video, "\(vector.name), \(step.at) ms") }
            }
            room.wait(start + .milliseconds(vector.until) - room.now)
            let released = room.releases.map { release in
                ClockVector.Released(
                    at: Int((release.due - start) / .milliseconds(1)), index: release.index,
                    cohort: release.cohort == .main ? nil : release.cohort.text, late: release.isLate ? true : nil)
            }
            #expect(released == vector.released, "\(vector.name)")
        }
    }
}

private struct ClockVector: Decodable {
    struct Settings: Decodable {
        let policy, gate: String?
        let extrapolate: Bool?

        func cohorts() throws -> CohortSettings {
            var settings = CohortSettings()
            if let policy { settings.policy = try #require(CohortSettings.Policy(rawValue: policy)) }
            if let gate { settings.gate = try #require(CohortSettings.Gating(rawValue: gate)) }
            if let extrapolate { settings.extrapolate = extrapolate }
            return settings
        }
    }

    struct Operation: Decodable {
        let t: Int64?
    }

    struct Sample: Decodable {
        let m: Double
        let q, ep: Int64?
        let r: Int?
        let s, st: String?
        let d: Bool?
        let b: Int?

        func decoded() throws -> ClockSample {
            ClockSample(
                media: try #require(MediaTime(milliseconds: m)), number: q, epoch: ep, rate: r ?? 1000,
                state: try #require(ClockSample.State(rawValue: s ?? "play")), stream: st ?? "",
                isDiscontinuity: d ?? false, wrapBits: b)
        }
    }

    struct Step: Decodable {
        let at: Int
        let cohort: String?
        let operation: Operation?
        let sample: Sample?
        let then: String?
        let v: Double?
    }

    struct Released: Decodable, Equatable {
        let at: Int
        let index: UInt64
        let cohort: String?
        let late: Bool?
    }

    let name: String
    let settings: Settings?
    let steps: [Step]
    let until: Int
    let released: [Released]

    static func name(of outcome: ClockOutcome) -> String {
        switch outcome {
        case .taken, .newEpochs, .awaitingEpoch: "taken"
        case .candidate: "doubted"
        case .ignored, .unknownCohort, .tooManyCohorts: "ignored"
        }
    }
}
