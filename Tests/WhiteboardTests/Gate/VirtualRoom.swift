import StrokeWire
import TestSupport
import Testing
import Whiteboard

/// A gate in virtual time: released at its own wake-up times; its epoch records come back at once.
struct VirtualRoom {
    private(set) var gate: Gate
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
    private(set) var releases: [Release] = []
    private(set) var lastIndex: UInt64 = 0

    init(_ configuration: CohortsConfiguration = CohortsConfiguration()) {
        gate = Gate(configuration: configuration, at: now)
    }

    init(_ settings: CohortSettings) {
        self.init(CohortsConfiguration(defaults: settings))
    }

    /// Logs operations with these media times in milliseconds.
    mutating func log(_ times: Int64?...) {
        for time in times {
            gate.append(time: time, at: now, now: now)
            lastIndex += 1
        }
        release()
    }

    /// Takes a sample, and logs the epochs that it asks for.
    @discardableResult
    mutating func sample(
        _ milliseconds: Double, _ cohort: CohortName = .main, q: Int64? = nil, ep: Int64? = nil, r: Int = 1000,
        s: ClockSample.State = .play, st: String = "", d: Bool = false, b: Int? = nil
    ) throws -> ClockOutcome {
        let media = try #require(MediaTime(milliseconds: milliseconds))
        let sample = ClockSample(
            media: media, number: q, epoch: ep, rate: r, state: s, stream: st, isDiscontinuity: d, wrapBits: b)
        return receive(sample, cohort)
    }

    @discardableResult
    mutating func receive(_ sample: ClockSample, _ cohort: CohortName) -> ClockOutcome {
        let outcome = gate.receive(sample, cohort: cohort, at: now)
        if case .newEpochs(let epochs) = outcome {
            for epoch in epochs { gate.beginEpoch(epoch, at: now, now: now) }
        }
        release()
        return outcome
    }

    /// Takes samples every 250 ms for `duration` of a video that plays from `milliseconds` on.
    mutating func play(
        from milliseconds: Double, _ cohort: CohortName = .main, ep: Int64? = nil, for duration: Duration
    ) throws {
        let end = now + duration
        var media = milliseconds
        while now < end {
            try sample(media, cohort, ep: ep)
            wait(.milliseconds(250))
            media += 250
        }
    }

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let wake = gate.nextRelease(after: now), wake <= end {
            now = wake
            guard release() > 0 else {
                Issue.record("a wake-up with nothing to release, \(now)")
                break
            }
        }
        now = end
        #expect(release() == 0, "something was due without a wake-up, \(now)")
    }

    /// The room some time later.
    mutating func after(_ duration: Duration) -> VirtualRoom {
        wait(duration)
        return self
    }

    /// Lets time pass in which nothing is heard and nothing can be released.
    mutating func beDeaf(_ duration: Duration) {
        now = now + duration
        gate.begin(at: now)
    }

    mutating func change(_ body: (inout Gate, Instant, inout [Release]) -> Void) { body(&gate, now, &releases) }

    /// The indices released to a cohort, in order of release.
    func shown(_ cohort: CohortName = .main) -> [UInt64] { releases.filter { $0.cohort == cohort }.map(\.index) }

    func late(_ cohort: CohortName = .main) -> [UInt64] {
        releases.filter { $0.cohort == cohort && $0.isLate }.map(\.index)
    }

    /// V in milliseconds.
    func video(_ cohort: CohortName = .main) -> Double? {
        gate.videoTime(of: cohort, at: now).map { Double($0.microseconds) / 1000 }
    }

    @discardableResult
    private mutating func release() -> Int {
        let count = releases.count
        gate.release(at: now, into: &releases)
        return releases.count - count
    }
}

extension CohortName {
    /// A cohort on a slower path.
    static func named(_ text: String) throws -> CohortName { try #require(CohortName(text)) }
}

/// Random events in a room: operations, and the clocks of three cohorts whose samples jitter, get lost, are repeated and
/// reordered, jump, pause, end, fall silent and start over.
struct GateSchedule {
    enum Event {
        case operation(time: Int64?)
        case sample(ClockSample, CohortName)
    }

    /// By time in whole milliseconds.
    private(set) var events: [(at: Int64, event: Event)] = []
    let duration: Int64
    let configuration: CohortsConfiguration
    private var random: SeededGenerator

    init(seed: UInt64, seconds: Int64) {
        random = SeededGenerator(seed: seed)
        duration = seconds * 1000
        let policy: CohortSettings.Policy = random.pick([.maxhold, .maxhold, .maxhold, .hold, .freerun])
        configuration = CohortsConfiguration(
            defaults: CohortSettings(
                policy: policy, maxHold: .seconds(random.pick([3, 8, 30])), staleAfter: .seconds(random.pick([1, 2])),
                extrapolate: random.pick([true, true, true, false])))
        let restarts = (0..<random.int(0..<3)).map { _ in Int64(random.int(0..<Int(duration))) }.sorted()
        let givesEpoch = random.pick([true, false])
        let start = Int64(random.pick([0, 50_000, 3_600_000]))
        let names = [CohortName.main, CohortName("hls"), CohortName("web")].compactMap(\.self)
        for (name, delay) in zip(names, [Int64(300), 7000, 1500]) {
            addClock(name, delay: delay, start: start, restarts: restarts, givesEpoch: givesEpoch)
        }
        addOperations(start: start, restarts: restarts)
        events.sort { $0.at < $1.at }
    }

    /// The teacher's video time and encoder session.
    private func video(at now: Int64, start: Int64, restarts: [Int64]) -> (media: Int64, session: Int) {
        guard let restart = restarts.last(where: { $0 <= now }) else { return (start + now, 0) }
        return (now - restart, restarts.count { $0 <= now })
    }

    private mutating func addOperations(start: Int64, restarts: [Int64]) {
        var now = Int64(0)
        while now < duration {
            let media = video(at: now, start: start, restarts: restarts).media
            let time: Int64? =
                switch random.int(0..<30) {
                case 0: nil
                case 1:
                    random.pick([
                        .max, .min, 1 << 60, -1, media + 59_000, media + 61_000, media + 86_390_000, media + 86_500_000,
                    ])
                case 2: media + Int64(random.int(0..<20_000)) - 10_000
                case 3: start + now
                default: media - Int64(random.int(0..<300))
                }
            // Beyond the model's range in microseconds.
            events.append((now, .operation(time: time.map { max(-1 << 50, min($0, 1 << 50)) })))
            now += Int64(random.pick([0, 1, 40, 200, 900, 2500]))
        }
    }

    private mutating func addClock(
        _ name: CohortName, delay: Int64, start: Int64, restarts: [Int64], givesEpoch: Bool
    ) {
        var now = Int64(random.int(0..<8000))
        var number = Int64(0)
        let isNumbered = random.pick([true, false])
        var state = ClockSample.State.play
        var skew = Int64(0)
        while now < duration {
            let seen = video(at: max(0, now - delay), start: start, restarts: restarts)
            number += 1
            var sample = ClockSample(
                media: MediaTime(microseconds: (seen.media + skew) * 1000 + Int64(random.int(0..<20_000)) - 10_000),
                number: isNumbered ? number : nil, epoch: givesEpoch ? Int64(seen.session * 3 + 1) : nil,
                rate: random.pick([1000, 1000, 1000, 1000, 500, 1337, 2000, 0]), state: state)
            var arrival = now
            switch random.int(0..<40) {
            case 0: sample.media = sample.media + Int64(random.int(0..<160_000_000) - 80_000_000)
            case 1: arrival += 400
            case 2: events.append((now + Int64(random.int(0..<3)), .sample(sample, name)))
            case 3: sample.isDiscontinuity = true
            case 4: skew += Int64(random.int(0..<40_000) - 20_000)
            case 5: now += Int64(random.int(0..<12_000))
            case 6, 7: state = random.pick([.play, .pause, .stall, .end])
            case 8, 9, 10: state = .play
            case 11: sample.epoch = random.pick([nil, sample.epoch, 0])
            default: break
            }
            if random.int(0..<30) > 0 { events.append((arrival, .sample(sample, name))) }
            now += Int64(200 + random.int(0..<300))
        }
    }

    /// How long an epoch record takes to come back from the log, in milliseconds.
    mutating func recordDelay() -> Int64 { Int64(random.pick([0, 1, 7, 700, 2000])) }
}
