import StrokeWire
import Whiteboard

/// What a process has heard of the clocks of all cohorts.
struct ClockBook {
    private struct Key: Hashable {
        let room: RoomID
        let cohort: CohortName
    }

    private var clocks: [Key: PlainClock] = [:]

    mutating func receive(_ bytes: [UInt8], of room: RoomID, _ cohort: CohortName, at now: Instant) {
        guard let sample = try? ClockSample(decoding: bytes) else { return }
        clocks[Key(room: room, cohort: cohort), default: PlainClock()].receive(sample, at: now.nanoseconds)
    }

    subscript(room: RoomID, cohort: CohortName) -> PlainClock? { clocks[Key(room: room, cohort: cohort)] }
}

/// A cohort's clock by rules 3, 4, 5 and 9, in whole nanoseconds: how far the video can be, as far as a process may
/// believe. One that has just begun to listen believes the first sample it hears, so the last sample alone counts, too.
struct PlainClock {
    private struct Seen {
        let sample: ClockSample
        let at: Int64
        var media: Int64 { sample.media.microseconds * 1000 }

        func video(after elapsed: Int64) -> Int64 {
            sample.state == .play ? media + elapsed * Int64(sample.rate) / 1000 : media
        }
    }

    private var taken: Seen?
    private var last: Seen?
    private var doubted: Seen?
    private var interval: Int64 = 0
    private var stateSince: Int64 = 0

    /// The session that the clock is in; -1 where samples name none.
    var session: Int64 { last?.sample.epoch ?? -1 }

    mutating func receive(_ sample: ClockSample, at now: Int64) {
        let seen = Seen(sample: sample, at: now)
        guard let taken, let last, sample.epoch ?? -1 <= session else {
            (taken, last, stateSince) = (seen, seen, now)
            return
        }
        guard sample.epoch ?? -1 == session else { return }
        if sample.state != last.sample.state { stateSince = now }
        self.last = seen
        let ahead = seen.media - taken.video(after: now - taken.at)
        let behind = farthest(taken, at: now) - seen.media
        let agrees = doubted.map { abs(seen.media - $0.video(after: now - $0.at)) <= 1_000_000_000 } ?? false
        guard sample.isDiscontinuity || agrees || ahead <= 5_000_000_000 && behind <= 1_000_000_000 else {
            doubted = seen
            return
        }
        interval = now - taken.at
        (self.taken, doubted) = (seen, nil)
    }

    /// The farthest that the video may be believed to be, in nanoseconds of media time; nil while unknown.
    func farthest(at now: Int64) -> Int64? {
        [taken, last].compactMap(\.self).map { farthest($0, at: now) }.max()
    }

    private func farthest(_ seen: Seen, at now: Int64) -> Int64 {
        let life = max(2_000_000_000, 3 * min(interval, 10_000_000_000))
        let step: Int64 = seen.sample.state == .pause && now - stateSince >= 500_000_000 ? 1_000_000 : 0
        return seen.video(after: max(0, min(now - seen.at, life))) + step
    }
}
