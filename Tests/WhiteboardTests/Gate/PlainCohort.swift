import StrokeWire
import Whiteboard

/// A cohort of ``PlainGate``: every sample that it ever took.
struct PlainCohort {
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
    var doubt: Seen?
    var waiting: Seen?
    var released = 0

    var epoch: Int64? { seen.last?.epoch }

    mutating func name(_ epoch: Int64) {
        for position in seen.indices { seen[position].epoch = epoch }
    }

    /// For how long the last sample is believed.
    private var life: Int64 {
        let stale = milliseconds(settings.staleAfter)
        guard seen.count > 1, let last = seen.last else { return stale }
        return max(stale, 3 * min(10_000, last.at - seen[seen.count - 2].at))
    }

    func isLive(at now: Int64) -> Bool {
        seen.last.map { now - $0.at <= life } ?? false
    }

    /// The first sample of the state that lasts.
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

    /// V when the last sample is believed for so long.
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

    func passes(_ operation: PlainGate.Logged, _ gateTime: Int64, at now: Int64) -> Bool {
        guard let epoch, let video = video(at: now), operation.epoch <= epoch else { return false }
        let hasEnded = seen.last?.sample.state == .end && now - stateSince >= 2000
        return operation.epoch < epoch || hasEnded || gateTime < video
    }

    func isOverdue(_ operation: PlainGate.Logged, at now: Int64) -> Bool {
        let state = seen.last?.sample.state
        if settings.policy != .maxhold || isLive(at: now) && (state == .pause || state == .stall) { return false }
        return now >= max(operation.at, created) + milliseconds(settings.maxHold)
    }

    private func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }
}
