import StrokeWire
public import Whiteboard

/// The journal's records.
extension RoomHost {
    /// The next record of a partition, in the order of its journal. One that a room's state holds already is passed
    /// over, and so are those of partitions that this host does not work on.
    public func take(_ record: JournalRecord, at now: Instant) {
        guard let partition = partitions[record.partition], partition.phase != .closing else { return }
        if let stored = stored[record.room], record.sequence <= stored.sequence { return }
        guard let hosted = rooms[record.room] ?? summon(record.room, isWritten: true, at: now) else {
            output.refuse(record)
            return
        }
        hosted.lastUse = now
        guard rouse(hosted, at: now) else { return wait(record, for: hosted) }
        fold(record, into: hosted, at: now)
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

    func fold(_ record: JournalRecord, into hosted: HostedRoom, at now: Instant) {
        guard record.sequence > hosted.sequence else { return }
        apply(record, to: hosted, at: now)
        // Whoever had the room before has said it all.
        if record.sequence <= hosted.toldThrough { effects.removeAll() }
        hosted.sequence = record.sequence
        if configuration.checkpoints != nil { hosted.savings.note(record.sequence, at: now) }
    }

    func apply(_ record: JournalRecord, to hosted: HostedRoom, at now: Instant) {
        switch record.content {
        case .control(let control):
            // All who follow are told of an end.
            if control == .close { resume(hosted, at: now) }
            hosted.room?.receive(control, loggedAt: record.loggedAt, at: now, into: &effects)
            hosted.hasState = control != .close
            guard control == .close else { return }
            // They are about the life that has ended.
            hosted.unsent = []
            hosted.savings.beginLife()
        case .message(let author, let session, let bytes):
            let prefix = partitions[hosted.partition]?.prefix ?? ""
            hosted.room?.receive(
                IncomingMessage(author: author, session: session, bytes: bytes, loggedAt: record.loggedAt),
                incarnation: { "\(prefix)-\(record.sequence)" }, at: now, into: &effects)
            hosted.hasState = true
        }
    }

    private func wait(_ record: JournalRecord, for hosted: HostedRoom) {
        hosted.waiting.append(record)
        waitingBytes += record.cost
    }

    /// The records that waited for a room are no longer waiting.
    func takeWaiting(of hosted: HostedRoom) -> [JournalRecord] {
        let waiting = hosted.waiting
        hosted.waiting = []
        waitingBytes -= waiting.reduce(0) { $0 + $1.cost }
        if waitingBytes <= configuration.waitingBytes {
            let passing = barriers
            barriers = []
            for pass in passing { pass() }
        }
        return waiting
    }
}
