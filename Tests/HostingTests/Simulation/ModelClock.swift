import StrokeWire
import Whiteboard

@testable import Hosting

/// A model of a cohort's clock by rules 3, 4, 5, 6 and 9, in whole nanoseconds: how far a process may believe the video to
/// be. A new session counts once the room's log has named it, from the last sample that waited for that.
struct ModelClock {
    private struct Seen {
        let sample: ClockSample
        let at: Int64
        var media: Int64 { sample.media.microseconds * 1000 }

        func video(after elapsed: Int64) -> Int64 {
            sample.state == .play ? media + elapsed * Int64(sample.rate) / 1000 : media
        }
    }

    private let settings: CohortSettings
    private var taken, doubted: Seen?
    private var waiting: (seen: Seen, session: Int64, stateSince: Int64)?
    private var interval: Int64 = 0
    private var stateSince: Int64 = 0
    /// Whether the first sample, without a name, was far below what was heard before: the process may have the log name a new
    /// session for it.
    private var mayBeginAnew = false

    /// Past pauses and stalls, as far as the clock was live in them.
    private var pauses: [ClosedRange<Int64>] = []

    /// The session that the clock is in; -1 for the one that the room's log has not named.
    private(set) var session: Int64 = -1

    /// A way back by more than this, without a name, is a new session. In nanoseconds.
    private static let restart: Int64 = 10_000_000_000

    init(_ settings: CohortSettings) { self.settings = settings }

    /// - Parameters:
    ///   - named: the sessions that the room's log has named, as far as the process has read it.
    ///   - heard: the greatest media time that any process has heard of the cohort before, in nanoseconds; nil for none.
    mutating func receive(_ sample: ClockSample, named: [Int64], heard: Int64?, at now: Int64) {
        let seen = Seen(sample: sample, at: now)
        takeWaiting(named)
        if taken == nil, sample.epoch == nil, let heard { mayBeginAnew = heard - seen.media > Self.restart }
        let session = sample.epoch ?? (taken == nil ? Self.first(of: sample, named) : self.session)
        guard session <= named.last ?? -1 else {
            wait(seen, for: session)
            return
        }
        take(seen, session, named)
    }

    /// Rule 9: repeated samples of one state do not start its time again.
    private mutating func wait(_ seen: Seen, for session: Int64) {
        let before = waiting.flatMap { $0.seen.sample.state == seen.sample.state ? $0.stateSince : nil }
        waiting = (seen, session, before ?? seen.at)
    }

    /// The session of a first sample without a name: that of the picture, which a saved clock shows; where the log has not named
    /// that, the last one.
    private static func first(of sample: ClockSample, _ named: [Int64]) -> Int64 {
        let session = sample.wallTime.map { ModelRoom.Life.session(ofLine: Int64($0), among: named) } ?? .max
        return session < .max ? session : named.last ?? -1
    }

    /// Forgets past pauses.
    mutating func forgetPauses() { pauses = [] }

    /// Enters the session that a sample waits for, if the log has named it. The first name is that of the session that is
    /// there.
    mutating func takeWaiting(_ named: [Int64]) {
        if taken != nil, session < 0, let first = named.first { session = first }
        if mayBeginAnew, taken != nil, let last = named.last, last > session {
            session = last
            mayBeginAnew = false
        }
        guard let (seen, session, stateSince) = waiting, session <= named.last ?? -1 else { return }
        waiting = nil
        if seen.sample.epoch != nil {
            take(seen, session, named, stateSince: stateSince)
        } else if self.session < session {
            enter(session, with: seen, stateSince: stateSince)
        }
    }

    private mutating func enter(_ session: Int64, with seen: Seen, stateSince: Int64? = nil) {
        pauses = pauses(until: seen.at)
        interval = taken.map { seen.at - $0.at } ?? 0
        (taken, self.stateSince, doubted) = (seen, stateSince ?? seen.at, nil)
        self.session = session
    }

    private mutating func take(_ seen: Seen, _ session: Int64, _ named: [Int64], stateSince: Int64? = nil) {
        let (sample, now) = (seen.sample, seen.at)
        guard let taken, session <= self.session else { return enter(session, with: seen, stateSince: stateSince) }
        guard session == self.session else { return }
        // The prediction is V without the stale cap, so it contains the step of a pause.
        let ahead = seen.media - taken.video(after: now - taken.at) - step(taken, at: now)
        let behind = farthest(taken, at: now) - seen.media
        let agrees = doubted.map { abs(seen.media - $0.video(after: now - $0.at)) <= 1_000_000_000 } ?? false
        guard sample.isDiscontinuity || agrees || ahead <= 5_000_000_000 && behind <= 1_000_000_000 else {
            doubted = seen
            return
        }
        if sample.epoch == nil, behind > Self.restart {
            let next = named.first { $0 > session } ?? max(0, session) + 1
            guard next > named.last ?? -1 else { return enter(next, with: seen) }
            doubted = seen
            return wait(seen, for: next)
        }
        pauses = pauses(until: now)
        if sample.state != taken.sample.state { self.stateSince = now }
        interval = now - taken.at
        (self.taken, doubted) = (seen, nil)
    }

    /// The farthest that the video may be believed to be, in nanoseconds of media time; nil while unknown.
    func farthest(at now: Int64) -> Int64? { taken.map { farthest($0, at: now) } }

    private func farthest(_ seen: Seen, at now: Int64) -> Int64 {
        let elapsed = max(0, now - seen.at)
        let counted = !settings.extrapolate ? 0 : settings.policy == .freerun ? elapsed : min(elapsed, life)
        return seen.video(after: counted) + step(seen, at: now)
    }

    /// For how long the last sample is believed.
    private var life: Int64 { max(2_000_000_000, 3 * min(interval, 10_000_000_000)) }

    /// Pauses and stalls, with the one that lasts.
    func pauses(until now: Int64) -> [ClosedRange<Int64>] {
        guard let taken, taken.sample.state != .play, now > taken.at else { return pauses }
        let end = min(now, taken.at + life)
        guard let last = pauses.last, last.upperBound >= taken.at else { return pauses + [taken.at...end] }
        return pauses.dropLast() + [last.lowerBound...max(last.upperBound, end)]
    }

    /// Whether a sample has come that counts.
    var isHeard: Bool { taken != nil }
    /// Nanoseconds by which the cohort is behind the teacher, as that sample says.
    var age: Int64? { taken?.sample.age.map { $0 * 1000 } }

    /// Half a second into a pause V moves on by 1 ms, so that ink on the still picture appears.
    private func step(_ seen: Seen, at now: Int64) -> Int64 {
        seen.sample.state == .pause && now - stateSince >= 500_000_000 ? 1_000_000 : 0
    }
}

/// What a process knows of a cohort's video at a moment in which it releases something.
struct Standing {
    let at: Moment
    /// The encoder's session, and how far the video may be believed to be, in nanoseconds of media time; nil while unknown.
    var video: (session: Int64, farthest: Int64)?
    /// Since when what is held waits at the earliest: without a clock, since the process releases.
    var waitsFrom = Moment(nanoseconds: 0)
    /// Pauses and stalls of the video, in which nothing waits.
    var pauses: [ClosedRange<Moment>] = []
    /// By how much the cohort is behind the teacher, as its clock says.
    var age: Duration?
    /// Since when the process runs with a connection.
    var runsSince = Moment(nanoseconds: 0)

    /// How long an operation has waited by rule 10.
    func wait(since loggedAt: Moment) -> Duration {
        let start = max(loggedAt, waitsFrom)
        return pauses.reduce(at - start) { $0 - max(.zero, min($1.upperBound, at) - max($1.lowerBound, start)) }
    }
}

/// What a process knows of its rooms' videos: the clock samples that it has received, and the encoder sessions that it
/// has read of in the logs. The checks ask here how far a process may believe a video to be.
final class KnownClocks {
    /// Which session a room's log has named, as far as a process has read it.
    struct LoggedSession {
        /// Number of lives of the room that have ended.
        var life = 0
        /// Those of the present life.
        var sessions: [Int64] = []
        /// The newest; -1 where the log names none.
        var session: Int64 { sessions.last ?? -1 }
    }

    private struct Key: Hashable {
        let room: ObjectIdentifier
        let life: Int
        let cohort: CohortName
    }

    /// A sample for a room that is still being loaded.
    private struct EarlySample {
        let bytes: [UInt8]
        let room: HostedRoom
        let cohort: CohortName
        let arrivedAt: Instant
    }

    private unowned let process: DaemonProcess
    private var clocks: [Key: ModelClock] = [:]
    private var readings: [RoomID: RoomReading] = [:]
    private var earlySamples: [EarlySample] = []

    init(_ process: DaemonProcess) {
        self.process = process
    }

    func receive(_ sample: [UInt8], of room: HostedRoom, _ cohort: CohortName, _ logged: LoggedSession) {
        if room.room == nil {
            earlySamples.append(EarlySample(bytes: sample, room: room, cohort: cohort, arrivedAt: process.now))
        } else {
            receive(sample, of: room, cohort, logged, at: process.now)
        }
    }

    private func receive(
        _ bytes: [UInt8], of room: HostedRoom, _ cohort: CohortName, _ logged: LoggedSession, at now: Instant
    ) {
        guard let sample = try? ClockSample(decoding: bytes) else { return }
        let key = Key(room: process.world.identity(of: room), life: logged.life, cohort: cohort)
        let heard = process.cluster.hear(sample, of: room.id, cohort, life: logged.life)
        clocks[key, default: ModelClock(process.cluster.plan.settings(of: cohort))].receive(
            sample, named: logged.sessions, heard: heard, at: now.nanoseconds)
    }

    /// A room has come into memory, maybe again: what was heard of its clocks before is forgotten. Early samples count
    /// for the life that it is in now.
    func open(_ room: HostedRoom) {
        clocks = clocks.filter { $0.key.room != ObjectIdentifier(room) }
        guard earlySamples.contains(where: { $0.room === room }) else { return }
        let logged = loggedSession(of: room.id)
        for sample in earlySamples where sample.room === room {
            receive(sample.bytes, of: room, sample.cohort, logged, at: sample.arrivedAt)
        }
        // A host keeps the last few.
        for key in clocks.keys where key.room == ObjectIdentifier(room) { clocks[key]?.forgetPauses() }
        earlySamples.removeAll { $0.room === room }
    }

    /// The connection is back: what came before it of rooms that are not in memory counts no more.
    func forgetEarly() { earlySamples = [] }

    /// A room has left memory.
    func leave(_ room: HostedRoom) { earlySamples.removeAll { $0.room === room } }

    /// What is known of a cohort's video now.
    func standing(of room: HostedRoom, _ cohort: CohortName) -> Standing {
        let (logged, now) = (loggedSession(of: room.id), process.now)
        let key = Key(room: ObjectIdentifier(room), life: logged.life, cohort: cohort)
        clocks[key]?.takeWaiting(logged.sessions)
        var standing = Standing(at: process.world.now, runsSince: process.freeSince)
        guard let clock = clocks[key], clock.isHeard else {
            standing.waitsFrom = process.releasesSince(of: room.partition)
            return standing
        }
        func moment(_ nanoseconds: Int64) -> Moment { process.clock.moment(of: Instant(nanoseconds: nanoseconds)) }
        standing.video = clock.farthest(at: now.nanoseconds).map { (clock.session, $0) }
        standing.pauses = clock.pauses(until: now.nanoseconds).map { moment($0.lowerBound)...moment($0.upperBound) }
        standing.age = clock.age.map { .nanoseconds($0) }
        return standing
    }

    func loggedSession(of room: RoomID) -> LoggedSession {
        let cluster = process.cluster
        let partition = cluster.partition(of: room)
        let log = cluster.logs[partition]
        var read = max(process.works[partition]?.delivered ?? 0, process.keeper.restoredThrough[room] ?? 0)
        // Records for a room that is about to leave memory wait until it is back.
        if let hosted = process.host.rooms[room], hosted.isLeaving { read = min(read, hosted.sequence) }
        readings[room, default: RoomReading(cluster.plan.history)].read(log, of: room, through: read)
        guard let reading = readings[room] else { return LoggedSession() }
        return LoggedSession(
            life: reading.room.lives.count { $0.isClosed }, sessions: reading.life?.sessions ?? [])
    }
}
