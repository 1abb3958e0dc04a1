import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// Long runs, hostile input, and what they cost.
@Suite("Gate soak")
struct GateSoakTests {
    @Test("29: over an hour of drift nothing is early and nothing is late", arguments: [-200, 0, 200])
    func drift(partsPerMillion: Int) throws {
        var random = SeededGenerator(seed: UInt64(1000 + partsPerMillion))
        var room = VirtualRoom()
        var times: [(at: Int64, time: Int64)] = []
        let start = room.now
        var now: Int64 = 0
        while now < 3_600_000 {
            let media = now * Int64(1_000_000 + partsPerMillion) / 1000
            try room.sample(Double(media) / 1000)
            for _ in 0..<(now < 3_598_000 ? random.int(0..<3) : 0) {
                let time = media / 1000 + 300 + Int64(random.int(0..<400))
                times.append((now, time))
                room.log(time)
            }
            let step = Int64(200 + random.int(0..<300))
            room.wait(.milliseconds(step))
            now += step
        }
        #expect(times.count > 8000)
        #expect(room.shown() == Array(1...UInt64(times.count)))
        #expect(room.late() == [])
        // Between two samples half a second apart the clock drifts by 0.1 ms.
        let tolerance = 0.11
        var latest: Int64 = .min
        for (release, operation) in zip(room.releases, times) {
            let at = (release.due - start) / .milliseconds(1)
            let video = at * Double(1_000_000 + partsPerMillion) / 1_000_000
            latest = max(latest, operation.time)
            #expect(video > Double(latest) - tolerance)
            #expect(video < Double(latest) + tolerance || at == Double(operation.at))
        }
    }

    @Test("Whatever the numbers, nothing traps and log order stays", arguments: GatePropertyTests.seeds)
    func hostile(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let extremes: [Int64] = [.min, .min + 1, -1 << 53, -1, 0, 1, 1 << 32, 1 << 53, .max - 1, .max]
        let durations: [Duration] = [.seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .seconds(Int64.max)]
        var gate = Gate(
            configuration: CohortsConfiguration(
                defaults: CohortSettings(
                    policy: random.pick([.maxhold, .hold, .freerun]), maxHold: random.pick(durations),
                    staleAfter: random.pick(durations)), maximum: 3),
            after: 1 << 62, at: Instant(nanoseconds: random.pick(extremes)))
        var releases: [Release] = []
        for _ in 0..<2000 {
            let now = Instant(nanoseconds: random.pick([random.pick(extremes), Int64(random.int(0..<1 << 40))]))
            let cohort = try CohortName.named(random.pick(["main", "a", "b", "c"]))
            switch random.int(0..<6) {
            case 0:
                let time = random.pick([nil, random.pick(extremes)])
                gate.append(time: time, at: Instant(nanoseconds: random.pick(extremes)), now: now)
            case 1, 2:
                let sample = ClockSample(
                    media: MediaTime(microseconds: random.pick(extremes)),
                    number: random.pick([nil, random.pick(extremes)]),
                    epoch: random.pick([nil, random.pick(extremes)]), rate: random.pick([0, 1, 2000, .min, .max]),
                    state: random.pick(ClockSample.State.allCases), stream: random.pick(["", "x"]),
                    isDiscontinuity: random.pick([true, false]), wrapBits: random.pick([nil, 32, 33, 0, -1, 64, .max]))
                if case .newEpochs(let epochs) = gate.receive(sample, cohort: cohort, at: now) {
                    for epoch in epochs { gate.beginEpoch(epoch, at: now, now: now) }
                }
            case 3: gate.beginEpoch(random.pick(extremes), at: now, now: now)
            case 4: gate.force(cohort, through: random.pick([0, 1 << 62, .max]), at: now, into: &releases)
            default: gate.forget(through: random.pick([0, (1 << 62) + UInt64(random.int(0..<300)), .max]))
            }
            gate.release(at: now, into: &releases)
            if let wake = gate.nextRelease(after: now) { #expect(wake >= now) }
            for name in gate.cohortNames { _ = gate.videoTime(of: name, at: now) }
        }
        for cohort in gate.cohortNames {
            let indices = releases.filter { $0.cohort == cohort }.map(\.index)
            #expect(zip(indices, indices.dropFirst()).allSatisfy { $0 + 1 == $1 })
            #expect(gate.released(to: cohort) == indices.last ?? gate.released(to: cohort))
        }
    }

    @Test("A time that goes back counts as not having moved")
    func backwardTime() throws {
        var gate = Gate(configuration: CohortsConfiguration(), at: .init(nanoseconds: 5_000_000_000))
        let later = Instant(nanoseconds: 6_000_000_000)
        let earlier = Instant(nanoseconds: 1_000_000_000)
        let sample = ClockSample(media: MediaTime(microseconds: 0))
        #expect(gate.receive(sample, cohort: .main, at: later) == .taken)
        gate.append(time: 100, at: earlier, now: earlier)
        #expect(gate.videoTime(of: .main, at: earlier) == MediaTime(microseconds: 0))
        #expect(gate.nextRelease(after: earlier) == later + .milliseconds(100) + .microseconds(1))
        #expect(gate.nextRelease(after: later + .seconds(1)) == later + .seconds(1))
        var releases: [Release] = []
        gate.release(at: later + .milliseconds(50), into: &releases)
        gate.release(at: earlier, into: &releases)
        #expect(releases == [])
        #expect(gate.videoTime(of: .main, at: earlier) == MediaTime(microseconds: 50_000))
    }

    @Test("An operation that came into the log in the future, or out of order, waits no longer for it")
    func oddLogTimes() {
        let start = Instant(nanoseconds: 0)
        var gate = Gate(configuration: CohortsConfiguration(), at: start)
        gate.append(time: 100, at: start + .seconds(500), now: start)
        gate.append(time: 100, at: start + .seconds(-500), now: start)
        #expect(gate.nextRelease(after: start) == start + .seconds(30))
        var releases: [Release] = []
        gate.release(at: start + .seconds(30), into: &releases)
        #expect(releases.map(\.index) == [1, 2])
    }

    @Test("An operation's wait does not begin before that of the one it follows")
    func earlierThanBefore() {
        let start = Instant(nanoseconds: 0)
        var gate = Gate(configuration: CohortsConfiguration(), at: start)
        gate.append(time: 100, at: start, now: start)
        gate.append(time: 9000, at: start + .seconds(-500), now: start)
        #expect(gate.receive(ClockSample(media: MediaTime(microseconds: 101_000)), cohort: .main, at: start) == .taken)
        var releases: [Release] = []
        gate.release(at: start, into: &releases)
        #expect(releases.map(\.index) == [1])
        #expect(gate.nextRelease(after: start) == start + .seconds(30))
    }
}
