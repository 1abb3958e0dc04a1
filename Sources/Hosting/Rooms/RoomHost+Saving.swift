public import StrokeWire
public import Whiteboard

/// Rooms are saved: the whole state now and then, where the cohorts stand every second.
extension RoomHost {
    /// What was to be saved of a room has been acknowledged, or could not be saved and is tried again.
    ///
    /// Whoever stores it must let nothing take the place of what holds more of the room's records (`sequence`), and say
    /// ``superseded(_:at:)`` instead: two hosts may work on one partition for a while, one of them behind the other.
    public func saved(_ room: RoomID, isSaved: Bool, at now: Instant) {
        guard let hosted = rooms[room], hosted.savings.isSaving else { return }
        hosted.savings.end(isSaved: isSaved)
        settle(hosted, at: now)
    }

    /// What was to be saved of a room is behind what another host has stored of it. While its partition is being closed
    /// nothing more comes to catch up with: the room is let go of.
    public func superseded(_ room: RoomID, at now: Instant) {
        guard let hosted = rooms[room], hosted.savings.isSaving else { return }
        if isClosing(hosted) { hosted.isVoid = true }
        hosted.savings.end(isSaved: false)
        settle(hosted, at: now)
    }

    /// Saves what is due to be saved.
    func save(_ hosted: HostedRoom, at now: Instant) {
        guard let due = nextSave(of: hosted), due <= now, let room = hosted.room else { return }
        let holdsState = isStateDue(hosted, at: now)
        var stored = hosted.note
        if !holdsState { stored.sequence = hosted.savings.savedSequence }
        let state: SaveRequest.State
        if !stored.hasState {
            state = .none
        } else {
            state = holdsState ? .changed(room.checkpoint()) : .unchanged
        }
        hosted.savings.begin(stored, index: room.head.index, holdsState: holdsState || !stored.hasState, at: now)
        output.save(SaveRequest(room: hosted.id, partition: hosted.partition, state: state, stored: stored))
    }

    /// When something of the room has to be saved, nil where there is nothing.
    func nextSave(of hosted: HostedRoom) -> Instant? {
        guard let schedule = configuration.checkpoints, let room = hosted.room, !hosted.savings.isSaving,
            isLive(hosted) || isClosing(hosted), !hosted.isVoid, hosted.sequence > 0,
            // What has not been sent has not been released.
            hosted.unsent.isEmpty
        else { return nil }
        let savings = hosted.savings
        let retry = savings.notedAt + schedule.cursors
        if savings.hasFailed { return savings.firstUncovered != nil || hasMoved(hosted) ? retry : nil }
        guard savings.firstUncovered == nil else {
            if isClosing(hosted) { return savings.notedAt }
            guard savings.noted != nil, hosted.hasState,
                room.head.index < savings.savedIndex + UInt64(schedule.operations)
            else { return retry }
            let whole = max(retry, savings.uncoveredSince + schedule.interval)
            return hasMoved(hosted) ? min(whole, retry) : whole
        }
        guard hasMoved(hosted) else { return nil }
        return isClosing(hosted) || isFarAhead(hosted, schedule) ? savings.notedAt : retry
    }

    /// Whether the saved cursors are behind, or authors have been told of more.
    private func hasMoved(_ hosted: HostedRoom) -> Bool {
        guard let noted = hosted.savings.noted else { return false }
        return noted.handled != hosted.sequence || noted.cursors != hosted.room?.cursors
    }

    private func isFarAhead(_ hosted: HostedRoom, _ schedule: CheckpointSchedule) -> Bool {
        guard let noted = hosted.savings.noted, let cursors = hosted.room?.cursors else { return false }
        return cursors.contains { cohort, released in
            released >= (noted.cursors[cohort] ?? 0) + schedule.releases
        }
    }

    /// After a failure all of it: another host may have stored more meanwhile than this one's last state holds, which
    /// nobody would read any more.
    private func isStateDue(_ hosted: HostedRoom, at now: Instant) -> Bool {
        guard let schedule = configuration.checkpoints, let room = hosted.room else { return false }
        let savings = hosted.savings
        guard savings.firstUncovered != nil else { return false }
        return isClosing(hosted) || savings.noted == nil || savings.hasFailed || !hosted.hasState
            || room.head.index >= savings.savedIndex + UInt64(schedule.operations)
            || now >= savings.uncoveredSince + schedule.interval
    }
}

extension HostedRoom {
    /// What a successor has to know of the room as it is now.
    var note: StoredRoom {
        StoredRoom(
            sequence: sequence, handled: sequence, cursors: room?.cursors ?? [:], isQuiet: room?.isQuiet ?? true,
            hasState: hasState, incarnation: incarnation)
    }
}
