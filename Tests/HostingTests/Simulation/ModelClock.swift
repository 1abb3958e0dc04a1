import Hosting
import StrokeWire
import Whiteboard

/// A cohort's clock by rules 3, 4, 5 and 9, in whole nanoseconds: how far the video can be, as far as a process may
/// believe. A new session counts when the room's log has named it, and from the last sample that waited for that.
struct ModelClock {
    private struct Seen {
        let sample: ClockSample
        let at: Int64
        var media: Int64 { sample.media.microseconds * 1000 }

        func video(after elapsed: Int64) -> Int64 {
            sample.state == .play ? media + elapsed * Int64(sample.rate) / 1000 : media
        }
    }

    private var taken: Seen?
    private var doubted: Seen?
    private var waiting: Seen?
    private var interval: Int64 = 0
    private var stateSince: Int64 = 0

    /// The session that the clock is in; -1 where samples name none.
    var session: Int64 { taken?.sample.epoch ?? -1 }

    /// - Parameter named: the newest session that the room's log has named, as far as the process has read it.
    mutating func receive(_ sample: ClockSample, named: Int64, at now: Int64) {
        let seen = Seen(sample: sample, at: now)
        takeWaiting(named)
        guard sample.epoch ?? -1 <= named else {
            waiting = seen
            return
        }
        take(seen)
    }

    /// Enters the session that was waited for, if it has been named.
    mutating func takeWaiting(_ named: Int64) {
        guard let seen = waiting, seen.sample.epoch ?? -1 <= named else { return }
        waiting = nil
        take(seen)
    }

    private mutating func take(_ seen: Seen) {
        let (sample, now) = (seen.sample, seen.at)
        guard let taken, sample.epoch ?? -1 <= session else {
            let taken = self.taken
            interval = taken.map { now - $0.at } ?? 0
            (self.taken, stateSince) = (seen, now)
            return
        }
        guard sample.epoch ?? -1 == session else { return }
        let ahead = seen.media - taken.video(after: now - taken.at)
        let behind = farthest(taken, at: now) - seen.media
        let agrees = doubted.map { abs(seen.media - $0.video(after: now - $0.at)) <= 1_000_000_000 } ?? false
        guard sample.isDiscontinuity || agrees || ahead <= 5_000_000_000 && behind <= 1_000_000_000 else {
            doubted = seen
            return
        }
        if sample.state != taken.sample.state { stateSince = now }
        interval = now - taken.at
        (self.taken, doubted) = (seen, nil)
    }

    /// The farthest that the video may be believed to be, in nanoseconds of media time; nil while unknown.
    func farthest(at now: Int64) -> Int64? {
        taken.map { farthest($0, at: now) }
    }

    private func farthest(_ seen: Seen, at now: Int64) -> Int64 {
        let life = max(2_000_000_000, 3 * min(interval, 10_000_000_000))
        let step: Int64 = seen.sample.state == .pause && now - stateSince >= 500_000_000 ? 1_000_000 : 0
        return seen.video(after: max(0, min(now - seen.at, life))) + step
    }
}

/// What the rooms that a process has or had in memory have heard of the clocks of their cohorts.
struct KnownClocks {
    /// How far a process has read a room's log.
    struct Naming {
        /// How many lives of the room have ended.
        var life = 0
        /// The newest session of the encoder that the log has named in this one.
        var session: Int64 = -1
    }

    private struct Key: Hashable {
        let room: ObjectIdentifier
        let life: Int
        let cohort: CohortName
    }

    private var clocks: [Key: ModelClock] = [:]
    /// Kept, so that no two have the same identity.
    private var rooms: [ObjectIdentifier: HostedRoom] = [:]

    mutating func receive(
        _ bytes: [UInt8], of room: HostedRoom, _ cohort: CohortName, named: Naming, at now: Instant
    ) {
        guard let sample = try? ClockSample(decoding: bytes) else { return }
        rooms[ObjectIdentifier(room)] = room
        let key = Key(room: ObjectIdentifier(room), life: named.life, cohort: cohort)
        clocks[key, default: ModelClock()].receive(sample, named: named.session, at: now.nanoseconds)
    }

    /// The clock as it stands when the room's log has named a session.
    mutating func clock(of room: HostedRoom, _ cohort: CohortName, named: Naming) -> ModelClock? {
        let key = Key(room: ObjectIdentifier(room), life: named.life, cohort: cohort)
        clocks[key]?.takeWaiting(named.session)
        return clocks[key]
    }
}
