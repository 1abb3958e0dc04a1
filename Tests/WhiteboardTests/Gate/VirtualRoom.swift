import StrokeWire
import Testing
import Whiteboard

/// A gate in virtual time: its releases come when the wake-up times that it gives ask for them, and its epoch records
/// come back at once.
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

    /// A sample comes; what it asks for is logged.
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

    /// Samples every 250 ms of a video that plays from `milliseconds` on, for as long as `duration`.
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

    /// Time passes.
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

    /// Changes the gate behind the room's back.
    mutating func change(_ body: (inout Gate, Instant, inout [Release]) -> Void) {
        body(&gate, now, &releases)
    }

    /// The indices released to a cohort, in the order in which they were.
    func shown(_ cohort: CohortName = .main) -> [UInt64] {
        releases.filter { $0.cohort == cohort }.map(\.index)
    }

    /// Those of them that were late.
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
