public import StrokeWire
public import Whiteboard

/// Rooms are saved: the whole state now and then, where the cohorts stand every second.
extension RoomHost {
    /// What was to be saved of a room has been acknowledged, or could not be saved and is tried again.
    ///
    /// Whoever stores it must let nothing take the place of what holds more of the room's records (`sequence`), and say
    /// ``superseded(_:at:)`` instead: two hosts may work on one partition for a while, one of them behind the other.
    public func saved(_ room: RoomID, isSaved: Bool, at now: Instant) {
        guard let hosted = rooms[room], hosted.tracker.isSaving else { return }
        hosted.tracker.end(isSaved: isSaved)
        if isSaved, let noted = hosted.tracker.noted, noted.incarnation == hosted.incarnation {
            hosted.room?.noteSaved(noted.cursors)
        }
        if !isSaved { stay(hosted, at: now) }
        settle(hosted, at: now)
        fillPlaces(at: now)
    }

    /// What was to be saved of a room is behind what another host has stored of it. Where it is to leave memory it does so:
    /// what the other has stored comes back.
    public func superseded(_ room: RoomID, at now: Instant) {
        guard let hosted = rooms[room], hosted.tracker.isSaving else { return }
        if isClosing(hosted) || hosted.isLeaving { hosted.isDiscarded = true }
        hosted.tracker.end(isSaved: false)
        settle(hosted, at: now)
        fillPlaces(at: now)
    }

    /// Saves what is due to be saved.
    func save(_ hosted: HostedRoom, at now: Instant) {
        guard let due = nextSave(of: hosted), due <= now, let room = hosted.room else { return }
        let holdsState = isStateDue(hosted, at: now)
        var stored = hosted.note
        if !holdsState { stored.sequence = hosted.tracker.savedSequence }
        let state: SaveRequest.State
        if !stored.hasState {
            state = .none
        } else {
            state = holdsState ? .changed(room.checkpoint()) : .unchanged
        }
        hosted.isRecorded = true
        hosted.tracker.begin(
            stored, cursorChanges: room.cursorChanges, index: room.head.index,
            holdsState: holdsState || !stored.hasState, at: now)
        output.save(SaveRequest(room: hosted.id, partition: hosted.partition, state: state, stored: stored))
    }

    /// When something of the room has to be saved, nil where there is nothing.
    func nextSave(of hosted: HostedRoom) -> Instant? {
        guard let schedule = configuration.checkpoints, let room = hosted.room, !hosted.tracker.isSaving,
            isLive(hosted) || isClosing(hosted) || hosted.isLeaving, !hosted.isDiscarded, hosted.sequence > 0,
            hosted.hasState || hosted.isRecorded, !hosted.isOverLimit,
            // What has not been sent has not been released.
            hosted.unsent.isEmpty
        else { return nil }
        let tracker = hosted.tracker
        let retry = tracker.notedAt + tracker.pause(schedule.cursors, isHurried: isClosing(hosted) || hosted.isLeaving)
        if tracker.hasFailed { return tracker.firstUncovered != nil || hasMoved(hosted) ? retry : nil }
        guard tracker.firstUncovered == nil else {
            if isClosing(hosted) || hosted.isLeaving { return tracker.notedAt }
            // A room is stored from its first operation on, or when something has been pending in it for long.
            guard room.head.index > 0 || hosted.isRecorded else { return tracker.uncoveredSince + schedule.interval }
            guard tracker.noted != nil, hosted.hasState,
                room.head.index < tracker.savedIndex + UInt64(schedule.operations)
            else { return retry }
            let whole = max(retry, tracker.uncoveredSince + schedule.interval)
            return hasMoved(hosted) ? min(whole, retry) : whole
        }
        guard hasMoved(hosted) else { return nil }
        return isClosing(hosted) || hosted.isLeaving || isFarAhead(hosted, schedule) ? tracker.notedAt : retry
    }

    /// Whether the saved cursors are behind, or authors have been told of more.
    private func hasMoved(_ hosted: HostedRoom) -> Bool {
        guard let noted = hosted.tracker.noted else { return false }
        if noted.handled != hosted.handled { return true }
        guard let changes = hosted.room?.cursorChanges else { return false }
        return hosted.tracker.cursorsHaveMoved(changes: changes) { hosted.cursors }
    }

    private func isFarAhead(_ hosted: HostedRoom, _ schedule: CheckpointSchedule) -> Bool {
        hosted.room.map { $0.mostUnsavedReleases >= schedule.releases } ?? false
    }

    /// After a failure all of it: another host may have stored more meanwhile than this one's last state holds, which
    /// nobody would read any more.
    private func isStateDue(_ hosted: HostedRoom, at now: Instant) -> Bool {
        guard let schedule = configuration.checkpoints, let room = hosted.room else { return false }
        let tracker = hosted.tracker
        guard tracker.firstUncovered != nil else { return false }
        return isClosing(hosted) || hosted.isLeaving || tracker.noted == nil || tracker.hasFailed || !hosted.hasState
            || room.head.index >= tracker.savedIndex + UInt64(schedule.operations)
            || now >= tracker.uncoveredSince + schedule.interval
    }
}

extension HostedRoom {
    /// What a successor has to know of the room as it is now.
    var note: StoredRoom {
        StoredRoom(
            sequence: sequence, handled: handled, cursors: cursors, isQuiet: room?.isQuiet ?? true,
            hasState: hasState, incarnation: incarnation)
    }
}
