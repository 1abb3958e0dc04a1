import StrokeWire
import Testing
import Whiteboard

/// Random rooms: the gate against a plain model, and timers against polling.
@Suite("Gate at random")
struct GatePropertyTests {
    static let seeds: [UInt64] = Array(1...16) + (0..<2).map { _ in .random(in: 1000...UInt64.max) }

    @Test("Polled every millisecond, the gate does what the plain rules say", arguments: seeds)
    func model(seed: UInt64) {
        var schedule = GateSchedule(seed: seed, seconds: 25)
        var gate = Gate(configuration: schedule.configuration, at: instant(0))
        var plain = PlainGate(schedule.configuration)
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

    /// Both release the same now, and agree on every video time.
    private func expectSame(_ gate: inout Gate, _ plain: inout PlainGate, at now: Int64) {
        var releases: [Release] = []
        gate.release(at: instant(now), into: &releases)
        let shown = releases.map { PlainGate.Shown(cohort: $0.cohort, index: $0.index, isLate: $0.isLate) }
        let expected = plain.release(at: now)
        guard shown != expected || !releases.isEmpty else { return }
        #expect(shown == expected, "at \(now)")
        for cohort in plain.cohorts {
            #expect(gate.videoTime(of: cohort.name, at: instant(now))?.microseconds == cohort.video(at: now))
        }
    }

    @Test("Wake-ups alone release the same as polling, each operation at the instant when it is due", arguments: seeds)
    func wakeUps(seed: UInt64) {
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
