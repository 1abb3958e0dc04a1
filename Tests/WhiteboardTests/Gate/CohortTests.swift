import StrokeWire
import Testing
import Whiteboard

/// Cohorts: which come to be, from where; cursors moved from outside.
@Suite("Cohorts")
struct CohortTests {
    @Test("A cohort comes to be with its first sample and is shown in order what is due by its clock")
    func firstSample() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(10_000)
        room.log(9000, 9500, 9900)
        #expect(room.shown() == [1, 2, 3])
        #expect(room.gate.released(to: hls) == nil)
        try room.sample(9600, hls)
        #expect(room.shown(hls) == [1, 2])
        room.wait(.milliseconds(301))
        #expect(room.shown(hls) == [1, 2, 3])
    }

    @Test("The longest wait counts from no earlier than the cohort's first sample")
    func waitsFromFirstSample() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        room.log(9000)
        room.wait(.seconds(60))
        #expect(room.late() == [1])
        try room.sample(0, hls)
        #expect(room.shown(hls) == [])
        room.wait(.seconds(30) - .nanoseconds(1))
        #expect(room.shown(hls) == [])
        room.wait(.nanoseconds(1))
        #expect(room.late(hls) == [1])
    }

    @Test("At most eight cohorts come to be")
    func maximum() throws {
        var room = VirtualRoom()
        for number in 1..<8 { #expect(try room.sample(0, .named("c\(number)")) == .taken) }
        #expect(try room.sample(0, .named("c8")) == .tooManyCohorts)
        #expect(try room.sample(0) == .taken)
        #expect(room.gate.cohortNames.count == 8)
    }

    @Test("When closed only `main` and the configured cohorts exist")
    func closed() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom(CohortsConfiguration(named: [hls: CohortSettings(gate: .none)], open: false))
        #expect(room.gate.cohortNames == [.main, hls])
        #expect(try room.sample(0, .named("other")) == .unknownCohort)
        room.log(1000)
        #expect(room.shown(hls) == [1])
        #expect(room.shown() == [])
        #expect(room.gate.slowestCohort?.cohort == .main)
        #expect(room.gate.slowestCohort?.released == 0)
    }

    @Test("What all have released can be forgotten, no more; a later cohort starts after it")
    func forget() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(1000)
        room.log(100, 200, 300, 5000)
        room.change { gate, _, _ in gate.forget(through: 2) }
        try room.sample(1000, hls)
        #expect(room.shown(hls) == [3])
        room.change { gate, _, _ in gate.forget(through: .max) }
        #expect(room.gate.heldCount(of: hls) == 1)
        try room.sample(5001, d: true)
        #expect(room.shown() == [1, 2, 3, 4])
    }

    @Test("A memory bound releases late, in order, only that cohort's, only what is logged")
    func force() throws {
        let hls = try CohortName.named("hls")
        var room = VirtualRoom()
        try room.sample(0, hls)
        room.log(5000, 6000, 7000)
        room.change { gate, now, releases in
            gate.force(hls, through: 2, at: now, into: &releases)
            gate.force(hls, through: 1, at: now, into: &releases)
        }
        #expect(room.late(hls) == [1, 2])
        room.change { gate, now, releases in gate.force(hls, through: 99, at: now, into: &releases) }
        #expect(room.late(hls) == [1, 2, 3])
        #expect(room.shown() == [])
    }

    @Test("A cursor goes on from where it had been; a cohort that is made for one waits from then on, never early")
    func restore() throws {
        let hls = try CohortName.named("hls")
        var gate = Gate(configuration: CohortsConfiguration(), after: 40, at: .init(nanoseconds: 0))
        for second in -50 ..< -45 as Range<Int64> {
            gate.append(time: nil, at: .init(nanoseconds: second * 1_000_000_000), now: .init(nanoseconds: 0))
        }
        gate.restore(43, of: .main, at: .init(nanoseconds: 0))
        gate.restore(7, of: hls, at: .init(nanoseconds: 0))
        #expect(gate.released(to: hls) == 40)
        var releases: [Release] = []
        gate.release(at: .init(nanoseconds: 0), into: &releases)
        #expect(releases.map(\.index) == [44, 45])
        #expect(releases.allSatisfy { $0.isLate && $0.due == Instant(nanoseconds: 0) })
        gate.restore(42, of: .main, at: .init(nanoseconds: 0))
        #expect(gate.released(to: .main) == 45)
        gate.release(at: .init(nanoseconds: 29_999_999_999), into: &releases)
        #expect(releases.count == 2)
        gate.release(at: .init(nanoseconds: 30_000_000_000), into: &releases)
        #expect(releases.dropFirst(2).map(\.index) == [41, 42, 43, 44, 45])
        let sample = ClockSample(media: MediaTime(microseconds: 7))
        #expect(gate.receive(sample, cohort: .main, at: .init(nanoseconds: 0)) == .taken)
        gate.restore(99, of: .main, at: .init(nanoseconds: 0))
        #expect(gate.released(to: .main) == 45)
        #expect(gate.videoTime(of: .main, at: .init(nanoseconds: 0)) == sample.media)
    }
}
