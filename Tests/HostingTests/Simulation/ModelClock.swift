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

    private var taken, doubted: Seen?
    private var waiting: (seen: Seen, session: Int64)?
    private var interval: Int64 = 0
    private var stateSince: Int64 = 0
    /// Whether the first sample, without a name, was far below what was heard before: the process may have the log name a new
    /// session for it.
    private var mayBeginAnew = false

    /// The session that the clock is in; -1 for the one that the room's log has not named.
    private(set) var session: Int64 = -1

    /// A way back by more than this, without a name, is a new session. In nanoseconds.
    private static let restart: Int64 = 10_000_000_000

    /// - Parameters:
    ///   - named: the sessions that the room's log has named, as far as the process has read it.
    ///   - heard: the greatest media time that any process has heard of the cohort before, in nanoseconds; nil for none.
    mutating func receive(_ sample: ClockSample, named: [Int64], heard: Int64?, at now: Int64) {
        let seen = Seen(sample: sample, at: now)
        takeWaiting(named)
        if taken == nil, sample.epoch == nil, let heard { mayBeginAnew = heard - seen.media > Self.restart }
        let session = sample.epoch ?? (taken == nil ? named.last ?? -1 : self.session)
        guard session <= named.last ?? -1 else {
            waiting = (seen, session)
            return
        }
        take(seen, session, named)
    }

    /// Enters the session that a sample waits for, if the log has named it. The first name is that of the session that is
    /// there.
    mutating func takeWaiting(_ named: [Int64]) {
        if taken != nil, session < 0, let first = named.first { session = first }
        if mayBeginAnew, taken != nil, let last = named.last, last > session {
            session = last
            mayBeginAnew = false
        }
        guard let (seen, session) = waiting, session <= named.last ?? -1 else { return }
        waiting = nil
        if seen.sample.epoch != nil { return take(seen, session, named) }
        if self.session < session { enter(session, with: seen) }
    }

    private mutating func enter(_ session: Int64, with seen: Seen) {
        interval = taken.map { seen.at - $0.at } ?? 0
        (taken, stateSince, doubted) = (seen, seen.at, nil)
        self.session = session
    }

    private mutating func take(_ seen: Seen, _ session: Int64, _ named: [Int64]) {
        let (sample, now) = (seen.sample, seen.at)
        guard let taken, session <= self.session else { return enter(session, with: seen) }
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
            (doubted, waiting) = (seen, (seen, next))
            return
        }
        if sample.state != taken.sample.state { stateSince = now }
        interval = now - taken.at
        (self.taken, doubted) = (seen, nil)
    }

    /// The farthest that the video may be believed to be, in nanoseconds of media time; nil while unknown.
    func farthest(at now: Int64) -> Int64? { taken.map { farthest($0, at: now) } }

    private func farthest(_ seen: Seen, at now: Int64) -> Int64 {
        let life = max(2_000_000_000, 3 * min(interval, 10_000_000_000))
        return seen.video(after: max(0, min(now - seen.at, life))) + step(seen, at: now)
    }

    /// Half a second into a pause V moves on by 1 ms, so that ink on the still picture appears.
    private func step(_ seen: Seen, at now: Int64) -> Int64 {
        seen.sample.state == .pause && now - stateSince >= 500_000_000 ? 1_000_000 : 0
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

    /// A room's log folded through the last record that the process has read.
    private struct Reading {
        var room: ModelRoom
        var through: UInt64 = 0
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
    /// Keeps the rooms alive, so that no two have the same identity.
    private var rooms: [ObjectIdentifier: HostedRoom] = [:]
    private var readings: [RoomID: Reading] = [:]
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
        rooms[ObjectIdentifier(room)] = room
        let key = Key(room: ObjectIdentifier(room), life: logged.life, cohort: cohort)
        let heard = process.cluster.hear(sample, of: room.id, cohort)
        clocks[key, default: ModelClock()].receive(sample, named: logged.sessions, heard: heard, at: now.nanoseconds)
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
        earlySamples.removeAll { $0.room === room }
    }

    /// A room has left memory.
    func leave(_ room: HostedRoom) { earlySamples.removeAll { $0.room === room } }

    /// How far the video of a cohort can be now: its session, and the media time in nanoseconds; nil while unknown.
    func video(of room: HostedRoom, _ cohort: CohortName) -> (session: Int64, farthest: Int64)? {
        let logged = loggedSession(of: room.id)
        let key = Key(room: ObjectIdentifier(room), life: logged.life, cohort: cohort)
        clocks[key]?.takeWaiting(logged.sessions)
        guard let clock = clocks[key] else { return nil }
        return clock.farthest(at: process.now.nanoseconds).map { (clock.session, $0) }
    }

    func loggedSession(of room: RoomID) -> LoggedSession {
        let cluster = process.cluster
        let partition = cluster.partition(of: room)
        let log = cluster.logs[partition]
        var read = max(process.works[partition]?.delivered ?? 0, process.keeper.restoredThrough[room] ?? 0)
        // Records for a room that is about to leave memory wait until it is back.
        if let hosted = process.host.rooms[room], hosted.isLeaving { read = min(read, hosted.sequence) }
        var reading = readings[room] ?? Reading(room: ModelRoom(cluster.plan.history))
        if reading.through > read { reading = Reading(room: ModelRoom(cluster.plan.history)) }
        while reading.through < min(read, log.last) {
            let entry = log.entries[Int(reading.through)]
            if entry.record.room == room { reading.room.take(entry, prefix: log.prefix) }
            reading.through += 1
        }
        readings[room] = reading
        let life = reading.room.lives.last.flatMap { $0.isClosed ? nil : $0 }
        return LoggedSession(life: reading.room.lives.count { $0.isClosed }, sessions: life?.sessions ?? [])
    }
}
