public import StrokeWire
public import Whiteboard

/// Rooms come into memory.
extension RoomHost {
    /// What a request about a room finds.
    public enum Presence {
        /// The room is there.
        case here(HostedRoom)
        /// It is being fetched: `opened` will be said.
        case waking
        /// Too many rooms wait to be fetched before it.
        case full
        /// Nobody has written to it in this life.
        case absent
        /// Its partition is being recovered: `ready` will be said.
        case recovering
        /// Its partition is not this host's.
        case elsewhere
    }

    /// The room, for a request about it: one that is not in memory is fetched.
    public func look(for room: RoomID, partition: Int, at now: Instant) -> Presence {
        guard let state = partitions[partition], state.phase != .closing else { return .elsewhere }
        guard state.phase == .live else { return .recovering }
        if rooms[room] == nil {
            guard let stored = stored[room], stored.hasState else { return .absent }
            guard hasShortQueue else { return .full }
            _ = load(room, at: now)
        }
        guard let hosted = rooms[room] else { return .waking }
        touch(hosted, at: now)
        guard let room = hosted.room else { return .waking }
        return room.isBlank || hosted.isOverLimit ? .absent : .here(hosted)
    }

    /// All records have been folded in: the cohorts go on from where they were.
    ///
    /// The wait of what they hold counts from when the partition's releases began, however often the room has left
    /// memory since. A clock that was in a pause when the room left may be in it still: then from when it was heard last,
    /// about.
    func resume(_ hosted: HostedRoom, at now: Instant) {
        let isPaused = hosted.cursorsToRestore.values.contains { $0.pausedSince != nil }
        var start = partitions[hosted.partition]?.releasesFrom ?? now
        if isPaused {
            start = max(start, hosted.waitsFrom ?? now)
            hosted.waitsFrom = start
        }
        if !hosted.cursorsToRestore.isEmpty {
            hosted.room?.restoreCursors(hosted.cursorsToRestore, at: now)
            hosted.cursorsToRestore = [:]
        }
        hosted.room?.beginReleases(at: start)
    }
}
