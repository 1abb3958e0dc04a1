import StrokeWire
import Whiteboard

/// The rules of the release gate as plainly as possible: everything is kept, everything is worked out again when it is
/// asked for, and time moves by whole milliseconds. Media times are in microseconds. Leaves out wrap and streams.
struct PlainGate {
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
    var cohorts: [PlainCohort]
    var epochs: [(number: Int64, began: Int64)] = [(-1, 0)]
    private var log: [Logged] = []
    private var gateTimes: [Int64] = []
    private var left: [Int64: Int64] = [:]
    private var lastAsked: (epoch: Int64, at: Int64)?
    private(set) var clamped = 0

    init(_ configuration: CohortsConfiguration) {
        self.configuration = configuration
        cohorts = [PlainCohort(name: .main, settings: configuration.defaults, created: .min)]
    }

    var isNamed: Bool { epochs.last?.number != -1 }
    var current: Int64 { epochs.last?.number ?? -1 }

    mutating func append(time: Int64?, at now: Int64) {
        log.append(Logged(time: time.map { $0 * 1000 }, at: now, epoch: current, isJudged: false))
        judge(at: now)
    }

    /// Judges what can be judged, and works out all gate times again.
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
            } else if time > fastest + 60_000_000 {
                log[position].time = nil
                clamped += 1
            }
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
        cohorts.append(PlainCohort(name: cohort, settings: configuration.defaults, created: now))
        return take(sample, cohorts.count - 1, received: now, now)
    }

    private mutating func take(
        _ sample: ClockSample, _ position: Int, received: Int64, _ now: Int64
    ) -> ClockOutcome {
        if let epoch = sample.epoch, epoch > current { return wait(sample, epoch, position, now) }
        let own = cohorts[position].epoch
        let epoch = sample.epoch ?? own ?? current
        guard let own, own >= epoch else {
            enter(PlainCohort.Seen(sample: sample, at: received, epoch: epoch), position, now)
            return .taken
        }
        if epoch < own { return .ignored(.olderEpoch) }
        let seen = PlainCohort.Seen(sample: sample, at: received, epoch: epoch)
        switch cohorts[position].opinion(of: seen) {
        case .ignored: return .ignored(.repeated)
        case .doubted:
            cohorts[position].doubt = seen
            return .candidate
        case .restarted where sample.epoch == nil:
            let next = epochs.map(\.number).filter { $0 > own }.min() ?? max(own, 0) + 1
            if next <= current {
                enter(PlainCohort.Seen(sample: sample, at: received, epoch: next), position, now)
                return .taken
            }
            cohorts[position].doubt = seen
            return wait(sample, next, position, now)
        case .restarted, .believed:
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
        cohorts[position].waiting = PlainCohort.Seen(sample: sample, at: now, epoch: epoch)
        if let lastAsked, lastAsked.epoch == epoch, now < lastAsked.at + 1000 { return .awaitingEpoch }
        lastAsked = (epoch, now)
        return .newEpochs(isNamed || sample.epoch != nil ? [epoch] : [epoch - 1, epoch])
    }

    private mutating func enter(_ seen: PlainCohort.Seen, _ position: Int, _ now: Int64) {
        if let own = cohorts[position].epoch, let video = cohorts[position].video(at: now) {
            left[own] = max(left[own] ?? .min, video)
        }
        cohorts[position].seen.append(seen)
        cohorts[position].doubt = nil
        judge(at: now)
    }

    /// One tick: what may be shown now.
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
