import StrokeWire
import TestSupport
import Testing

@testable import Whiteboard

/// Cohorts: which are made, where they start; cursors moved from outside.
@Suite("Cohorts")
struct CohortTests {
    private var room = VirtualRoom()

    @Test mutating func `At most eight cohorts come to be`() throws {
        for number in 1..<8 { #expect(try room.sample(0, .named("c\(number)")) == .taken) }
        #expect(try room.sample(0, .named("c8")) == .tooManyCohorts)
        #expect(try room.sample(0) == .taken)
        #expect(room.gate.cohortNames.count == 8)
    }

    @Test func `When closed only 'main' and the configured cohorts exist`() throws {
        var room = VirtualRoom(CohortsConfiguration(named: [.hls: CohortSettings(gate: .none)], open: false))
        #expect(room.gate.cohortNames == [.main, .hls])
        #expect(try room.sample(0, .named("other")) == .unknownCohort)
        room.log(1000)
        #expect(room.shown(.hls) == [1])
        #expect(room.shown() == [])
        #expect(room.gate.slowestCohort?.cohort == .main)
        #expect(room.gate.slowestCohort?.released == 0)
    }

    @Test mutating func `Only operations that all have released can be forgotten; a later cohort starts after them`()
        throws
    {
        try room.sample(1000)
        room.log(100, 200, 300, 5000)
        room.change { gate, _, _ in gate.forget(through: 2) }
        try room.sample(1000, .hls)
        #expect(room.shown(.hls) == [3])
        room.change { gate, _, _ in gate.forget(through: .max) }
        #expect(room.gate.heldCount(of: .hls) == 1)
        try room.sample(5001, d: true)
        #expect(room.shown() == [1, 2, 3, 4])
    }

    @Test mutating func `A memory bound releases late, in order, only that cohort's, only what is logged`() throws {
        try room.sample(0, .hls)
        room.log(5000, 6000, 7000)
        room.change { gate, now, releases in
            gate.force(.hls, through: 2, at: now, into: &releases)
            gate.force(.hls, through: 1, at: now, into: &releases)
        }
        #expect(room.late(.hls) == [1, 2])
        room.change { gate, now, releases in gate.force(.hls, through: 99, at: now, into: &releases) }
        #expect(room.late(.hls) == [1, 2, 3])
        #expect(room.shown() == [])
    }

    @Test("A cursor goes on from where it had been; a cohort that is made for one waits from then on, never early")
    func restore() throws {
        var gate = Gate(configuration: CohortsConfiguration(), after: 40, at: .init(nanoseconds: 0))
        for second in -50 ..< -45 as Range<Int64> {
            gate.append(time: nil, at: .init(nanoseconds: second * 1_000_000_000), now: .init(nanoseconds: 0))
        }
        gate.restore(43, of: .main, at: .init(nanoseconds: 0))
        gate.restore(7, of: .hls, at: .init(nanoseconds: 0))
        #expect(gate.released(to: .hls) == 40)
        var releases: [Release] = []
        gate.release(at: .init(nanoseconds: 29_999_999_999), into: &releases)
        #expect(releases.isEmpty)
        gate.release(at: .init(nanoseconds: 30_000_000_000), into: &releases)
        #expect(releases.map(\.index) == [44, 45, 41, 42, 43, 44, 45])
        #expect(releases.allSatisfy { $0.isLate && $0.due == Instant(nanoseconds: 30_000_000_000) })
        gate.restore(42, of: .main, at: .init(nanoseconds: 0))
        #expect(gate.released(to: .main) == 45)
        let sample = ClockSample(media: MediaTime(microseconds: 7))
        #expect(gate.receive(sample, cohort: .main, at: .init(nanoseconds: 30_000_000_000)) == .taken)
        gate.restore(99, of: .main, at: .init(nanoseconds: 0))
        #expect(gate.released(to: .main) == 45)
        #expect(gate.videoTime(of: .main, at: .init(nanoseconds: 0)) == sample.media)
    }
}

/// The gate's indexes over its cohorts, against the cohorts themselves.
@Suite struct `What the gate keeps of its cohorts` {
    /// A gate, and its indexes computed from its cohorts.
    private struct Model {
        var cursors: [CohortName: CohortCursor]
        var changes: UInt64
        /// Each cohort's R when it was last saved, and the most releases since.
        var saved: [CohortName: UInt64]
        var mostUnsaved: UInt64 = 0

        init(_ gate: Gate) {
            cursors = gate.cursors
            changes = gate.cohorts.cursorChanges
            saved = cursors.mapValues(\.released)
        }

        mutating func check(_ gate: Gate, _ event: String) {
            let now = gate.cursors
            let isSame =
                now.keys == cursors.keys
                && now.allSatisfy { name, cursor in cursors[name].map { cursor.isSame(as: $0) } ?? false }
            #expect(isSame || gate.cohorts.cursorChanges != changes, "a change of cursors is missed: \(event)")
            (cursors, changes) = (now, gate.cohorts.cursorChanges)
            for (name, cursor) in now {
                mostUnsaved = max(
                    mostUnsaved, cursor.released - min(saved[name, default: cursor.released], cursor.released))
                if saved[name] == nil { saved[name] = cursor.released }
            }
            #expect(gate.cohorts.mostUnsaved == mostUnsaved, "\(event)")
            let dues = gate.cohorts.filter { $0.released < gate.timeline.last }.map { cohort in
                let next = gate.timeline[cohort.released + 1]
                return cohort.due(next, gate.timeline.epochs.foreseen(next))?.instant
            }
            #expect(gate.cohorts.nextDue == dues.compactMap(\.self).min(), "\(event)")
            #expect(gate.cohorts.holdNothing == dues.isEmpty, "\(event)")
            for (position, cohort) in gate.cohorts.enumerated() {
                #expect(gate.cohorts.position(of: cohort.name) == position, "\(event)")
            }
        }
    }

    @Test(arguments: TestSeed.choose(24)) func `is what they say one by one, whatever happens`(seed: UInt64) throws {
        var schedule = GateSchedule(seed: seed, seconds: 60)
        var random = SeededGenerator(seed: ~seed)
        var gate = Gate(configuration: schedule.configuration, at: instant(0))
        var model = Model(gate)
        var records: [(at: Int64, epoch: Int64)] = []
        let others = try ["hls", "web", "late", "later"].map { try #require(CohortName($0)) }
        for (time, event) in schedule.events {
            let now = instant(time)
            while let next = records.first, next.at <= time {
                records.removeFirst()
                gate.beginEpoch(next.epoch, at: instant(next.at), now: now)
                model.check(gate, "seed \(seed), epoch at \(time)")
            }
            var releases: [Release] = []
            gate.release(at: now, into: &releases)
            model.check(gate, "seed \(seed), release at \(time)")
            switch event {
            case .operation(let media):
                gate.append(time: media, at: instant(time - Int64(random.pick([0, 0, 300, 5000]))), now: now)
            case .sample(let sample, let cohort):
                if case .newEpochs(let epochs) = gate.receive(sample, cohort: cohort, at: now) {
                    let delay = schedule.recordDelay()
                    records += epochs.map { (time + delay, $0) }
                }
            }
            model.check(gate, "seed \(seed), \(event)")
            guard random.chance(5, in: 100) else { continue }
            disturb(&gate, &model, &random, random.pick(others), at: time)
            model.check(gate, "seed \(seed), disturbed at \(time)")
        }
    }

    /// A random restart, change of owner, save or full log.
    private func disturb(
        _ gate: inout Gate, _ model: inout Model, _ random: inout SeededGenerator, _ cohort: CohortName, at time: Int64
    ) {
        switch random.int(0..<6) {
        case 0: gate.begin(at: instant(time - Int64(random.pick([0, 1000]))))
        case 1: gate.forget(through: UInt64(random.int(0...Int(gate.timeline.last))))
        case 2:
            let cursors =
                random.chance(50, in: 100) ? gate.cursors : gate.cursors.filter { _ in random.chance(50, in: 100) }
            gate.noteSaved(cursors)
            model.saved = gate.cursors.mapValues { _ in 0 }.merging(cursors.mapValues(\.released)) { $1 }
            model.mostUnsaved = 0
        case 3:
            var releases: [Release] = []
            gate.force(
                cohort, through: UInt64(random.int(0...Int(gate.timeline.last))), at: instant(time), into: &releases)
        default:
            let cursor = CohortCursor(
                UInt64(random.int(0...Int(gate.timeline.last) + 1)), pausedTime: .milliseconds(random.int(0...3000)),
                pausedSince: random.pick([nil, instant(time), instant(time - 2000)]))
            let before = gate.released(to: cohort)
            gate.restore(cursor, of: cohort, at: instant(time))
            guard let before, cursor.released >= before else { return }
            model.saved[cohort] = gate.released(to: cohort)
        }
    }

    private func instant(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: 1_000_000_000_000 + milliseconds * 1_000_000)
    }
}

extension Gate {
    fileprivate var cursors: [CohortName: CohortCursor] {
        Dictionary(uniqueKeysWithValues: cohorts.map { ($0.name, cursor(of: $0)) })
    }
}
