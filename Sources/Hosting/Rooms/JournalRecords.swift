import DequeModule
import StrokeWire
public import Whiteboard

/// Folding the journal's records into rooms.
extension RoomHost {
    /// The next record of a partition, in the order of its journal. One that a room's state holds already is passed
    /// over, and so are those of partitions that this host does not work on.
    /// - Parameter arrivedAt: when it came to this process; what was due since then is late.
    public func take(_ record: JournalRecord, arrivedAt: Instant, at now: Instant) {
        guard let phase = partitions[record.partition]?.phase, phase != .closing else { return }
        guard let hosted = rooms[record.room] else {
            guard let stored = stored[record.room] else { return takeFirst(record, arrivedAt, at: now) }
            if record.sequence > stored.sequence || record.restores(after: stored.restorations) {
                load(record.room, for: record, at: now)
            }
            return
        }
        guard hosted.room != nil, !hosted.isLeaving else { return wait(record, for: hosted) }
        let before = hosted.sequence
        fold(record, into: hosted, at: min(arrivedAt, now))
        guard hosted.room != nil else { return }
        if hosted.hasState, !hosted.hasPlace, !hosted.isOverLimit {
            guard hasFreePlace else { return queueUp(hosted, for: record, after: before, at: now) }
            takePlace(hosted)
        }
        touch(hosted, at: now)
        // Nothing is due, saved or forgotten before the journal has been read: all rooms are settled then. And nothing
        // is left to be published of what the host before has published.
        if phase == .recovering, hosted.hasState, !hosted.isOverLimit {
            if record.sequence > hosted.toldThrough { perform(in: hosted, at: now) }
        } else {
            settle(hosted, at: now)
        }
    }

    /// Rooms that do not exist and have answers to be confirmed; beyond, an answer may be lost with the connection.
    private static var answeredRooms: Int { 4096 }

    /// A record of a room that does not exist. It comes to exist by a message that is acceptable; anything else is
    /// answered, and leaves no trace.
    private func takeFirst(_ record: JournalRecord, _ arrivedAt: Instant, at now: Instant) {
        guard !record.restores(after: 0) else {
            load(record.room, for: record, at: now)
            return
        }
        let hosted = HostedRoom(address(of: record.room), at: now)
        var room = Room(configuration: configuration.room, at: now)
        room.setOutput(isOpen: isOutputOpen)
        room.setLogClock(ahead: logClockAhead(of: hosted.partition))
        // A clock that was there before the host may not have been heard yet.
        if let start = hearsSince(hosted) { room.beginReleases(at: start) }
        hosted.room = room
        fold(record, into: hosted, at: min(arrivedAt, now))
        if hosted.hasState, !hosted.isOverLimit, !hasFreePlace {
            register(hosted)
            return queueUp(hosted, for: record, after: 0, at: now)
        }
        perform(in: hosted, at: now)
        // An answer is kept until it is sent and confirmed.
        if rooms.count - occupied - departing - queue.count >= Self.answeredRooms { forgetUnconfirmed(of: hosted) }
        guard hosted.hasState || hosted.isRecorded || !hosted.unsent.isEmpty || !hosted.unconfirmed.isEmpty else {
            return output.left(hosted)
        }
        register(hosted)
        if hosted.hasState, !hosted.isOverLimit {
            takePlace(hosted)
            touch(hosted, at: now)
        }
        settle(hosted, at: now)
    }

    /// Calls `pass` when all records before it have been folded in or wait within bounds: what slows the journal down
    /// to the host's pace.
    public func barrier(_ pass: @escaping @Sendable () -> Void) {
        guard waitingBytes > configuration.waitingBytes else { return pass() }
        barriers.append(pass)
    }

    /// The journal's clock is so far ahead of the host's. To be said before the first record: rooms in which something
    /// is going on are fetched then, for what they hold has waited since times of that clock.
    public func setLogClock(of partition: Int, ahead: Duration) {
        guard let state = partitions[partition], state.phase != .closing else { return }
        partitions[partition]?.logClockAhead = ahead
        for hosted in rooms.values where hosted.partition == partition { hosted.room?.setLogClock(ahead: ahead) }
        if state.logClockAhead == nil { fetchBusy(partition, at: state.openedAt) }
    }

    func logClockAhead(of partition: Int) -> Duration { partitions[partition]?.logClockAhead ?? .zero }

    /// Every record of the partition at or before the result is in an acknowledged checkpoint, if this host has seen
    /// all of its records through `sequence`.
    public func covered(of partition: Int, through sequence: UInt64) -> UInt64 {
        rooms.values.lazy.filter { $0.partition == partition }.compactMap(\.coveredThrough).reduce(sequence, min)
    }

    /// - Parameter isLimited: whether a message counts against its author's rate.
    func fold(_ record: JournalRecord, into hosted: HostedRoom, isLimited: Bool = true, at now: Instant) {
        // A record before this one has it fetched.
        guard hosted.room != nil else { return wait(record, for: hosted) }
        if case .control(.restore(let restoration)) = record.content, record.restores(after: hosted.restorations) {
            return restore(hosted, by: restoration, in: record, at: now)
        }
        guard record.sequence > hosted.sequence else { return }
        apply(record, to: hosted, isLimited: isLimited, at: now)
        // The host before has published all of it.
        if record.sequence <= hosted.toldThrough { effects.removeAll() }
        hosted.sequence = record.sequence
        hosted.loggedAt = record.origin == nil ? record.loggedAt : nil
        guard configuration.checkpoints != nil else { return }
        // Whoever reads only the last of its records would take what was closed, or refused while its author was muted.
        if !hosted.hasState, record.endsQuietly, hosted.tracker.firstUncovered != nil { hosted.isRecorded = true }
        if hosted.hasState || hosted.isRecorded {
            hosted.tracker.note(record.sequence, at: now)
        } else {
            hosted.tracker = CheckpointTracker(at: now)
        }
    }

    /// The log has lost what the room was made from: it is fetched as the decision says, and goes on behind the decision. What
    /// was published of it and what waits to be is about the incarnation that has ended.
    private func restore(
        _ hosted: HostedRoom, by restoration: RoomRestoration, in record: JournalRecord, at now: Instant
    ) {
        hosted.cursorsToRestore = hosted.cursors
        hosted.lifeToRestore = restoration.life(from: record, in: partitions[hosted.partition]?.prefix ?? "")
        effects.removeAll()
        dropUnsent(of: hosted)
        forgetUnconfirmed(of: hosted)
        evictionOrder.remove(hosted)
        wakes.set(hosted, to: nil, among: rooms)
        hosted.room = nil
        partitions[hosted.partition]?.waking += 1
        hosted.sequence = record.sequence
        hosted.loggedAt = record.loggedAt
        hosted.toldThrough = 0
        hosted.restorations = restoration.number
        hosted.isRecorded = true
        hosted.hasState = true
        hosted.tracker = CheckpointTracker(at: now)
        hosted.tracker.note(record.sequence, at: now)
        hosted.isFetching = true
        hosted.restoringDecision = record.sequence
        var stored = hosted.note
        stored.incarnation = hosted.lifeToRestore
        output.fetch(hosted.id, stored, restoration)
    }

    func apply(_ record: JournalRecord, to hosted: HostedRoom, isLimited: Bool = true, at now: Instant) {
        var prefix: String { partitions[hosted.partition]?.prefix ?? "" }
        switch record.content {
        case .control(let control):
            // All followers get a mark of the end.
            if control == .close || control == .erase {
                resume(hosted, at: now)
                // The journal has not refused it in time.
                if hosted.isOverLimit { hosted.room?.tellApplied(into: &effects) }
            }
            if case .full(let through) = control {
                let end = LogPlace(log: record.place(in: prefix).log, sequence: through)
                guard LogPlace(hosted.incarnation)?.isNoLater(than: end) == true else { return }
            }
            hosted.room?.receive(control, loggedAt: record.loggedAt, at: now, into: &effects)
            // The restoration that counts has had the room fetched.
            if case .restore(let restoration) = control,
                hosted.lifeToRestore == restoration.life(from: record, in: prefix)
            {
                hosted.room?.renew(incarnation: hosted.lifeToRestore, at: now, into: &effects)
            }
            if control.endsLife {
                // They are about the life that has ended.
                hosted.cursorsToRestore = [:]
                // The host before may have stored how this life began: an end that is stored takes its place.
                if let opened = partitions[hosted.partition]?.openedAt, now - opened < Self.overlap {
                    hosted.isRecorded = true
                }
                // An erasure waits until the end is stored: from then on nothing older takes its place.
                if control == .erase { hosted.isRecorded = true }
                keepAnswers(of: hosted)
                hosted.tracker.beginLife()
            }
        case .message(let author, let session, let bytes):
            hosted.room?.receive(
                IncomingMessage(
                    author: author, session: session, bytes: bytes, loggedAt: record.loggedAt, isLimited: isLimited),
                incarnation: { record.place(in: prefix).description }, at: now, into: &effects)
        }
        noteExistence(of: hosted)
    }

    /// How long after a partition was opened the host before may still store rooms of it.
    private static var overlap: Duration { .seconds(60) }

    /// Counts a room when it has its first operation, and no longer when its life has ended. Where there are as many as
    /// may be stored, nothing is said of what it applies: the journal is asked to end its life.
    func noteExistence(of hosted: HostedRoom) {
        // Optional chaining reads in place; a room in a constant would be a copy, which costs more than all of this.
        guard let isBlank = hosted.room?.isBlank, let index = hosted.room?.headIndex else { return }
        hosted.hasState = !isBlank
        let isWritten = index > 0
        if isWritten, !hosted.isCounted, !hosted.isOverLimit {
            hosted.isCounted = hasMemory && output.countNew(hosted.partition)
        } else if !isWritten, hosted.isCounted {
            hosted.isCounted = false
            output.countStored(-1, of: hosted.partition)
        }
        hosted.isOverLimit = isWritten && !hosted.isCounted
        if !hosted.isOverLimit { hosted.refusalAskedAt = nil }
    }

    /// Whether the states of one more room can be kept where there are no checkpoints.
    private var hasMemory: Bool {
        configuration.checkpoints != nil || stored.stateBytes < configuration.sleepingBytes / 8 * 7
    }

    func wait(_ record: JournalRecord, for hosted: HostedRoom) {
        if hosted.waiting.isEmpty { waitingBytes += Self.waitingRoomBytes }
        hosted.waiting.append(record)
        waitingBytes += record.cost
        hosted.waitingBytes += record.cost
        let isLarge = hosted.waitingBytes >= Self.largeWait
        if isLarge, hosted.waitingBytes - record.cost < Self.largeWait, isQueued(hosted) { queue.prepend(hosted) }
    }

    /// Bytes of records from which on a room overtakes the others that wait for a place: its records would soon hold up
    /// the journal, and so all rooms.
    private static var largeWait: Int { 256 * 1024 }

    /// Bytes of a room that waits with its records, about.
    private static var waitingRoomBytes: Int { 512 }

    /// The records that waited for a room are no longer waiting.
    func takeWaiting(of hosted: HostedRoom) -> [JournalRecord] {
        let waiting = hosted.waiting
        guard !waiting.isEmpty else { return [] }
        hosted.waiting = []
        hosted.waitingBytes = 0
        waitingBytes -= Self.waitingRoomBytes
        waitingBytes -= waiting.reduce(0) { $0 + $1.cost }
        if waitingBytes <= configuration.waitingBytes {
            let passing = barriers
            barriers = []
            for pass in passing { pass() }
        }
        return waiting
    }
}

extension ControlRecord {
    fileprivate var endsLife: Bool {
        switch self {
        case .close, .full, .erase: true
        case .gaveUp, .epoch, .provisionalEpoch, .provisionalEpochOver, .mute, .unmute, .restore: false
        }
    }
}

extension RoomRestoration {
    /// Names the life that begins with the decision. The log may have had another record at that place, with which an earlier
    /// life began, and even another decision of this number, which a second power cut took: the number and the time tell them
    /// apart. Of two names the later one has the greater number behind the point.
    fileprivate func life(from record: JournalRecord, in prefix: String) -> String {
        let place = record.place(in: prefix)
        let milliseconds = UInt64(clamping: record.loggedAt.nanoseconds / 1_000_000) % 10_000_000_000_000
        let digits = String(10_000_000_000_000 + milliseconds).dropFirst()
        return LogPlace(log: "\(place.log).\(number)\(digits)", sequence: place.sequence).description
    }
}

extension JournalRecord {
    /// Whether it may end a life of which nothing is stored.
    fileprivate var endsQuietly: Bool {
        switch content {
        case .control(.close), .control(.unmute): true
        default: false
        }
    }

    /// Whether it restores a room that was restored so often.
    fileprivate func restores(after restorations: UInt32) -> Bool {
        if case .control(.restore(let restoration)) = content { restoration.number > restorations } else { false }
    }
}
