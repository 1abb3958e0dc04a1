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
            guard summon(room, isWritten: true, at: now) != nil else { return .absent }
        }
        guard let hosted = rooms[room] else { return .absent }
        hosted.lastUse = now
        return rouse(hosted, at: now) ? .here(hosted) : .waking
    }

    /// A room that is not in memory: begins to fetch it where it is stored, makes it where it is new.
    /// - Returns: nil where there is no place for another.
    func summon(_ id: RoomID, isWritten: Bool, at now: Instant) -> HostedRoom? {
        let hasPlace = output.takePlace() || makePlace(isWritten: isWritten, at: now)
        // What is in a journal that lasts has to be folded in: a room too many for a while is better than one lost.
        guard hasPlace || isWritten && configuration.checkpoints != nil else { return nil }
        let address = RoomAddress(root: configuration.root, room: id, partitions: configuration.partitions)
        let hosted = HostedRoom(address, hasPlace: hasPlace, at: now)
        rooms[id] = hosted
        if let state = stored.take(id) {
            hosted.sequence = state.sequence
            hosted.toldThrough = state.handled
            hosted.cursorsToRestore = state.cursors
            hosted.savings = Savings(restored: state, index: 0, at: now)
            if state.hasState {
                hosted.hasState = true
                output.fetch(id, state)
                return hosted
            }
        }
        adopt(hosted, Room(configuration: configuration.room, at: now), at: now)
        return hosted
    }

    /// - Returns: whether the room is awake now.
    func rouse(_ hosted: HostedRoom, at now: Instant) -> Bool {
        if let bytes = hosted.asleep {
            hosted.asleep = nil
            // What this process has written it can read.
            let room = try? Room(
                restoring: bytes, configuration: configuration.room, at: now,
                logClockAhead: logClockAhead(of: hosted.partition))
            adopt(hosted, room ?? Room(configuration: configuration.room, at: now), at: now)
        }
        return hosted.room != nil
    }

    /// A room has been fetched.
    /// - Parameters:
    ///   - room: nil where nothing of it could be read.
    ///   - sequence: it holds its records through this one.
    ///   - tail: records after that which this host has not been given, for the state is older than what was asked
    ///     for.
    public func restored(_ id: RoomID, _ room: Room?, sequence: UInt64, tail: [JournalRecord], at now: Instant) {
        guard let hosted = rooms[id], hosted.isWaking, let partition = partitions[hosted.partition] else { return }
        if partition.phase == .closing { return letGo(hosted) }
        let isCurrent = room != nil && sequence == hosted.sequence
        hosted.sequence = room == nil ? 0 : sequence
        let index = room?.head.index ?? 0
        if isCurrent {
            hosted.savings = Savings(restored: hosted.savings.noted ?? hosted.note, index: index, at: now)
        } else {
            hosted.savings = Savings(at: now)
            // It has to be stored anew.
            if hosted.sequence > 0 { hosted.savings.note(hosted.sequence, at: now) }
            hosted.hasState = room != nil
        }
        adopt(hosted, room ?? Room(configuration: configuration.room, at: now), at: now)
        for record in tail + takeWaiting(of: hosted) {
            fold(record, into: hosted, at: now)
            perform(in: hosted, at: now)
        }
        if partition.phase == .live { resume(hosted, at: now) }
        output.opened(hosted)
        settle(hosted, at: now)
        sayReady(hosted.partition)
    }

    /// All records have been folded in: the cohorts go on from where they were.
    func resume(_ hosted: HostedRoom, at now: Instant) {
        guard !hosted.cursorsToRestore.isEmpty else { return }
        hosted.room?.restoreCursors(hosted.cursorsToRestore, at: now)
        hosted.cursorsToRestore = [:]
    }
}
