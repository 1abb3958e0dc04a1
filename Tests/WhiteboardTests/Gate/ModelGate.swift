import StrokeWire
import Whiteboard

/// A model of the release gate, as plain as possible: keeps everything, computes everything again on demand, and moves
/// time by whole milliseconds. Media times are in microseconds. Leaves out wrap and streams.
struct ModelGate {
    struct Logged {
        var time: Int64?
        let at: Int64
        var epoch: Int64
        var isJudged: Bool
    }

    struct Shown: Equatable {
        let cohort: CohortName
        let index: UInt64
        let isLate: Bool
    }

    let configuration: CohortsConfiguration
    var cohorts: [ModelCohort]
    var epochs: [(number: Int64, began: Int64)] = [(-1, 0)]
    private var log: [Logged] = []
    private var gateTimes: [Int64] = []
    private var left: [Int64: Int64] = [:]
    private var lastAsked: (epoch: Int64, at: Int64)?
    /// The last time near a clock of each epoch, and when it was logged.
    private var anchors: [Int64: (time: Int64, at: Int64)] = [:]
    private(set) var clamped = 0

    init(_ configuration: CohortsConfiguration) {
        self.configuration = configuration
        cohorts = [ModelCohort(name: .main, settings: configuration.defaults, created: .min)]
    }

    var isNamed: Bool { epochs.last?.number != -1 }
    var current: Int64 { epochs.last?.number ?? -1 }

    mutating func append(time: Int64?, at now: Int64) {
        log.append(Logged(time: time.map { $0 * 1000 }, at: now, epoch: current, isJudged: false))
        judge(at: now)
        guard let time = log[log.count - 1].time, log[log.count - 1].epoch == current else { return }
        let clocks = cohorts.filter { $0.epoch == current }.compactMap { $0.video(at: now, believed: .max) }
        if clocks.contains(where: { abs($0 - time) <= 60_000_000 }) { anchors[current] = (time, now) }
    }

    /// Judges what can be judged, and computes all gate times again.
    private mutating func judge(at now: Int64) {
        for position in log.indices where !log[position].isJudged {
            let epoch = log[position].epoch
            let there = cohorts.filter { $0.epoch == epoch }
            guard let fastest = there.compactMap({ $0.video(at: now, believed: .max) }).max() else { continue }
            log[position].isJudged = true
            guard let time = log[position].time else { continue }
            if let old = epochs.last(where: { $0.number < epoch }),
                let now = epochs.first(where: { $0.number == epoch }),
                let seen = lastVideo(of: old.number), log[position].at - now.began <= 5000,
                time > fastest + 10_000_000, time <= seen + 1_000_000
            {
                log[position].epoch = old.number
                continue
            }
            let limit =
                anchors[epoch].map { $0.time + (log[position].at - $0.at) * 1000 + 60_000_000 }
                ?? fastest + 86_400_000_000
            guard time > fastest + 60_000_000, time > limit else { continue }
            log[position].time = nil
            clamped += 1
        }
        gateTimes = log.indices.map { index in
            log[...index].filter { $0.epoch == log[index].epoch }.compactMap(\.time).max() ?? .min
        }
        func lastVideo(of epoch: Int64) -> Int64? {
            let there = cohorts.filter { $0.epoch == epoch }.compactMap { $0.video(at: now) }
            return (there + [left[epoch]].compactMap(\.self)).max()
        }
    }

    mutating func beginEpoch(_ epoch: Int64, at now: Int64) {
        guard epoch > current else { return }
        if isNamed {
            epochs.append((epoch, now))
        } else {
            epochs[0].number = epoch
            anchors[epoch] = anchors.removeValue(forKey: -1)
            for position in log.indices { log[position].epoch = epoch }
            for position in cohorts.indices { cohorts[position].name(epoch) }
        }
        for position in cohorts.indices {
            guard let waiting = cohorts[position].waiting, waiting.epoch <= epoch else { continue }
            cohorts[position].waiting = nil
            if waiting.sample.epoch != nil {
                _ = take(waiting.sample, position, received: waiting.at, now)
            } else if let own = cohorts[position].epoch, own < waiting.epoch {
                enter(waiting, position, now)
            }
        }
    }

    mutating func receive(_ sample: ClockSample, cohort: CohortName, at now: Int64) -> ClockOutcome {
        if let position = cohorts.firstIndex(where: { $0.name == cohort }) {
            return take(sample, position, received: now, now)
        }
        cohorts.append(ModelCohort(name: cohort, settings: configuration.defaults, created: now))
        return take(sample, cohorts.count - 1, received: now, now)
    }

    private mutating func take(
        _ sample: ClockSample, _ position: Int, received: Int64, _ now: Int64
    ) -> ClockOutcome {
        if let epoch = sample.epoch, epoch > current { return wait(sample, epoch, position, now) }
        let own = cohorts[position].epoch
        let epoch = sample.epoch ?? own ?? current
        guard let own, own >= epoch else {
            enter(ModelCohort.Seen(sample: sample, at: received, epoch: epoch), position, now)
            return .taken
        }
        if epoch < own { return .ignored(.olderEpoch) }
        let seen = ModelCohort.Seen(sample: sample, at: received, epoch: epoch)
        switch cohorts[position].opinion(of: seen) {
        case .ignored: return .ignored(.repeated)
        case .doubted:
            cohorts[position].doubt = seen
            return .candidate
        case .restarted where sample.epoch == nil:
            let next = epochs.map(\.number).filter { $0 > own }.min() ?? max(own, 0) + 1
            if next <= current {
                enter(ModelCohort.Seen(sample: sample, at: received, epoch: next), position, now)
                return .taken
            }
            cohorts[position].doubt = seen
            return wait(sample, next, position, now)
        case .restarted, .believed:
            cohorts[position].closePause(at: received)
            cohorts[position].seen.append(seen)
            cohorts[position].doubt = nil
            return .taken
        }
    }

    private mutating func wait(
        _ sample: ClockSample, _ epoch: Int64, _ position: Int, _ now: Int64
    ) -> ClockOutcome {
        if let waiting = cohorts[position].waiting, waiting.epoch == epoch,
            let last = waiting.sample.number, let number = sample.number, number <= last
        {
            return .ignored(.repeated)
        }
        cohorts[position].waiting = ModelCohort.Seen(sample: sample, at: now, epoch: epoch)
        if let lastAsked, lastAsked.epoch == epoch, now < lastAsked.at + 1000 { return .awaitingEpoch }
        lastAsked = (epoch, now)
        return .newEpochs(isNamed || sample.epoch != nil ? [epoch] : [epoch - 1, epoch])
    }

    private mutating func enter(_ seen: ModelCohort.Seen, _ position: Int, _ now: Int64) {
        if let own = cohorts[position].epoch, let video = cohorts[position].video(at: now) {
            left[own] = max(left[own] ?? .min, video)
        }
        cohorts[position].closePause(at: now)
        cohorts[position].seen.append(seen)
        cohorts[position].doubt = nil
        judge(at: now)
    }

    /// One tick: what may be released now.
    mutating func release(at now: Int64) -> [Shown] {
        var shown: [Shown] = []
        for position in cohorts.indices {
            while cohorts[position].released < log.count {
                let index = cohorts[position].released
                let operation = log[index]
                let passes = cohorts[position].passes(operation, gateTimes[index], at: now)
                guard passes || cohorts[position].isOverdue(operation, at: now) else { break }
                cohorts[position].released += 1
                shown.append(Shown(cohort: cohorts[position].name, index: UInt64(index + 1), isLate: !passes))
            }
        }
        return shown
    }
}

/// A cohort of ``ModelGate``: all samples that it took.
struct ModelCohort {
    struct Seen {
        let sample: ClockSample
        let at: Int64
        var epoch: Int64

        /// By this sample alone.
        func video(at now: Int64) -> Int64 {
            let media = sample.media.microseconds
            // Thousandths times milliseconds are microseconds.
            return sample.state == .play ? media + max(0, now - at) * Int64(sample.rate) : media
        }
    }

    enum Opinion {
        case ignored
        case doubted
        case believed
        /// Believed, more than 10 s back.
        case restarted
    }

    let name: CohortName
    let settings: CohortSettings
    let created: Int64
    var seen: [Seen] = []
    var doubt, waiting: Seen?
    var released = 0
    /// Times in which the clock was live and its picture stood still.
    private(set) var pauses: [ClosedRange<Int64>] = []

    var epoch: Int64? { seen.last?.epoch }

    mutating func name(_ epoch: Int64) { for position in seen.indices { seen[position].epoch = epoch } }

    /// Milliseconds for which the last sample is believed.
    private var life: Int64 {
        let stale = milliseconds(settings.staleAfter)
        guard seen.count > 1, let last = seen.last else { return stale }
        return max(stale, 3 * min(10_000, last.at - seen[seen.count - 2].at))
    }

    func isLive(at now: Int64) -> Bool { seen.last.map { now - $0.at <= life } ?? false }

    /// The first sample of the current state.
    private var stateSince: Int64 {
        var since: Int64 = 0
        for sample in seen.reversed() {
            guard sample.sample.state == seen.last?.sample.state, sample.epoch == epoch else { break }
            since = sample.at
        }
        return since
    }

    func video(at now: Int64) -> Int64? {
        if !settings.extrapolate { return video(at: now, believed: 0) }
        return video(at: now, believed: settings.policy == .freerun ? .max : life)
    }

    /// V if the last sample is believed for that long.
    func video(at now: Int64, believed: Int64) -> Int64? {
        guard let last = seen.last else { return nil }
        let pause: Int64 = last.sample.state == .pause && now - stateSince >= 500 ? 1000 : 0
        return last.video(at: min(now, believed < .max ? last.at + believed : now)) + pause
    }

    func opinion(of new: Seen) -> Opinion {
        guard let last = seen.last, let video = video(at: new.at), let expected = self.video(at: new.at, believed: .max)
        else { return .believed }
        guard new.at >= last.at else { return .ignored }
        if let number = new.sample.number {
            let numbers = seen.filter { $0.epoch == new.epoch }.compactMap(\.sample.number)
            if let before = numbers.last, number <= before, isLive(at: new.at) { return .ignored }
            if doubt?.sample.number == number { return .ignored }
        }
        let media = new.sample.media.microseconds
        let isNear = media - expected <= 5_000_000 && video - media <= 1_000_000
        let isConfirmed = doubt.map { abs(media - $0.video(at: new.at)) <= 1_000_000 } ?? false
        guard isNear || isConfirmed || new.sample.isDiscontinuity else { return .doubted }
        return video - media > 10_000_000 ? .restarted : .believed
    }

    func passes(_ operation: ModelGate.Logged, _ gateTime: Int64, at now: Int64) -> Bool {
        guard let epoch, let video = video(at: now), operation.epoch <= epoch else { return false }
        let hasEnded = seen.last?.sample.state == .end && now - stateSince >= 2000
        return operation.epoch < epoch || hasEnded || gateTime < video
    }

    func isOverdue(_ operation: ModelGate.Logged, at now: Int64) -> Bool {
        guard settings.policy == .maxhold else { return false }
        var from = max(operation.at, created)
        var waited: Int64 = 0
        for pause in (pauses + [pause(at: now)].compactMap(\.self)).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            waited += max(0, pause.lowerBound - from)
            from = max(from, pause.upperBound)
        }
        return waited + max(0, now - from) >= milliseconds(settings.maxHold)
    }

    /// The current pause, as long as the clock is live.
    private func pause(at now: Int64) -> ClosedRange<Int64>? {
        guard let last = seen.last, last.sample.state == .pause || last.sample.state == .stall else { return nil }
        return last.at...max(last.at, min(now, last.at + life))
    }

    /// Takes a sample.
    mutating func closePause(at now: Int64) { if let pause = pause(at: now) { pauses.append(pause) } }

    private func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }
}
