import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// Random rooms: the gate against a plain model, and timers against polling.
@Suite("Gate at random")
struct GatePropertyTests {
    static let seeds = TestSeed.choose(18)

    @Test(arguments: seeds) func `Polled every millisecond, the gate does what the plain rules say`(seed: UInt64) {
        var schedule = GateSchedule(seed: seed, seconds: 25)
        var gate = Gate(configuration: schedule.configuration, at: instant(0))
        var plain = ModelGate(schedule.configuration)
        var records: [(at: Int64, epoch: Int64)] = []
        var events = schedule.events[...]
        var clamped = 0
        for now in 0..<schedule.duration {
            expectSame(&gate, &plain, at: now)
            while let next = records.first, next.at <= now {
                records.removeFirst()
                gate.beginEpoch(next.epoch, at: instant(now), now: instant(now))
                plain.beginEpoch(next.epoch, at: now)
                expectSame(&gate, &plain, at: now)
            }
            while let next = events.first, next.at <= now {
                events.removeFirst()
                switch next.event {
                case .operation(let time):
                    gate.append(time: time, at: instant(now), now: instant(now))
                    plain.append(time: time, at: now)
                case .sample(let sample, let cohort):
                    let outcome = gate.receive(sample, cohort: cohort, at: instant(now))
                    let expected = plain.receive(sample, cohort: cohort, at: now)
                    #expect(outcome == expected, "at \(now)")
                    guard case .newEpochs(let epochs) = outcome else { break }
                    let delay = schedule.recordDelay()
                    records += epochs.map { (now + delay, $0) }
                }
                expectSame(&gate, &plain, at: now)
            }
            clamped += gate.takeClampedCount()
        }
        #expect(clamped == plain.clamped)
        #expect(gate.released(to: .main).map(Int.init) == plain.cohorts.first?.released)
    }

    /// Expects both to release the same now and to agree on every video time.
    private func expectSame(_ gate: inout Gate, _ plain: inout ModelGate, at now: Int64) {
        var releases: [Release] = []
        gate.release(at: instant(now), into: &releases)
        let shown = releases.map { ModelGate.Shown(cohort: $0.cohort, index: $0.index, isLate: $0.isLate) }
        let expected = plain.release(at: now)
        guard shown != expected || !releases.isEmpty else { return }
        #expect(shown == expected, "at \(now)")
        for cohort in plain.cohorts {
            #expect(gate.videoTime(of: cohort.name, at: instant(now))?.microseconds == cohort.video(at: now))
        }
    }

    @Test(arguments: seeds)
    func `Wake-ups alone release the same as polling, each operation at the instant when it is due`(seed: UInt64) {
        let woken = run(seed: seed) { gate, end, releases in
            while let wake = gate.nextRelease(after: instant(0)), wake <= end {
                let count = releases.count
                gate.release(at: wake, into: &releases)
                #expect(releases.count > count)
                #expect(releases[count...].allSatisfy { $0.due == wake })
                if releases.count == count { return }
            }
        }
        var now: Int64 = 0
        let polled = run(seed: seed) { gate, end, releases in
            while instant(now) <= end {
                gate.release(at: instant(now), into: &releases)
                now += 1
            }
            gate.release(at: end, into: &releases)
        }
        #expect(woken == polled)
        for cohort in Set(woken.map(\.cohort)) {
            let indices = woken.filter { $0.cohort == cohort }.map(\.index)
            #expect(indices == Array(1...UInt64(indices.count)))
        }
    }

    /// Plays a schedule; `pass` releases what is due until an instant.
    private func run(seed: UInt64, _ pass: (inout Gate, Instant, inout [Release]) -> Void) -> [Release] {
        let schedule = GateSchedule(seed: seed, seconds: 40)
        var gate = Gate(configuration: schedule.configuration, at: instant(0))
        var releases: [Release] = []
        for (at, event) in schedule.events {
            pass(&gate, instant(at), &releases)
            switch event {
            case .operation(let time): gate.append(time: time, at: instant(at), now: instant(at))
            case .sample(let sample, let cohort):
                guard case .newEpochs(let epochs) = gate.receive(sample, cohort: cohort, at: instant(at)) else { break }
                for epoch in epochs { gate.beginEpoch(epoch, at: instant(at), now: instant(at)) }
            }
        }
        pass(&gate, instant(schedule.duration + 35_000), &releases)
        return releases.sorted { ($0.cohort, $0.index) < ($1.cohort, $1.index) }
    }

    private func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
}

/// Long runs, hostile input, and their cost.
@Suite struct `Gate soak` {
    @Test(arguments: [-200, 0, 200])
    func `29: an hour of clocks drifting by ±200 ppm: none early; lateness p99 ≤ 10 ms`(partsPerMillion: Int) throws {
        var random = SeededGenerator(seed: TestSeed.choose())
        var room = VirtualRoom()
        var operations: [(at: Duration, time: Int64)] = []
        var samples: [(at: Duration, media: Int64)] = []
        let start = room.now
        var now: Int64 = 0
        while now < 3_600_000 {
            let media = now * Int64(1_000_000 + partsPerMillion) / 1000
            samples.append((.milliseconds(now), media))
            try room.sample(Double(media) / 1000)
            for _ in 0..<(now < 3_598_000 ? random.int(0..<3) : 0) {
                let time = media / 1000 + 300 + Int64(random.int(0..<400))
                operations.append((.milliseconds(now), time))
                room.log(time)
            }
            let step = Int64(200 + random.int(0..<300))
            room.wait(.milliseconds(step))
            now += step
        }
        #expect(operations.count > 8000)
        #expect(room.shown() == Array(1...UInt64(operations.count)))
        #expect(room.late() == [])
        var gateTime: Int64 = .min
        var lateness: [Double] = []
        for (release, operation) in zip(room.releases, operations) {
            let at = release.due - start
            gateTime = max(gateTime, operation.time)
            while samples.count > 1, samples[1].at < at { samples.removeFirst() }
            // V by rule 3, in microseconds; at the moment of a sample either before or after it.
            let video =
                samples.prefix { $0.at <= at }.map { Double($0.media) + (at - $0.at) / .microseconds(1) }.max() ?? 0
            #expect(Double(gateTime) * 1000 < video, "seed \(random.seed): \(release.index) is early")
            // When the video itself, which drifts, had passed the operation, or when it was logged.
            let passed = Double(gateTime) / (1 + Double(partsPerMillion) / 1_000_000)
            lateness.append(at / .milliseconds(1) - max(passed, operation.at / .milliseconds(1)))
        }
        lateness.sort()
        #expect(lateness[lateness.count * 99 / 100] <= 10, "seed \(random.seed)")
        // Between two samples half a second apart the clock drifts by 0.1 ms.
        #expect(lateness.allSatisfy { abs($0) < 0.11 }, "seed \(random.seed)")
    }

    @Test(arguments: GatePropertyTests.seeds)
    func `Nothing traps and log order stays, whatever the numbers`(seed: UInt64) throws {
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

    @Test func `A time that goes back counts as not having moved`() throws {
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

    @Test func `An operation that came into the log in the future, or out of order, waits no longer for it`() {
        let start = Instant(nanoseconds: 0)
        var gate = Gate(configuration: CohortsConfiguration(), at: start)
        gate.append(time: 100, at: start + .seconds(500), now: start)
        gate.append(time: 100, at: start + .seconds(-500), now: start)
        #expect(gate.nextRelease(after: start) == start + .seconds(30))
        var releases: [Release] = []
        gate.release(at: start + .seconds(30), into: &releases)
        #expect(releases.map(\.index) == [1, 2])
    }

    @Test(arguments: [false, true])
    func `An operation's wait does not begin before that of the one it follows`(isForgotten: Bool) {
        let start = Instant(nanoseconds: 0)
        var gate = Gate(configuration: CohortsConfiguration(), at: start)
        #expect(gate.receive(ClockSample(media: MediaTime(microseconds: 101_000)), cohort: .main, at: start) == .taken)
        gate.append(time: 100, at: start, now: start)
        var releases: [Release] = []
        gate.release(at: start, into: &releases)
        #expect(releases.map(\.index) == [1])
        if isForgotten { gate.forget(through: 1) }
        gate.append(time: 9000, at: start + .seconds(-500), now: start)
        #expect(gate.nextRelease(after: start) == start + .seconds(30))
    }
}
