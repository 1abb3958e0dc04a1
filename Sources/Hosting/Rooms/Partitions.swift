public import StrokeWire
public import Whiteboard

/// A partition that this host works on.
struct PartitionState {
    enum Phase {
        /// Its journal is being read up to its end; nothing is released yet.
        case recovering
        case live
        /// Its rooms are being saved and evicted. Nothing is released any more.
        case closing
    }

    var phase = Phase.recovering
    let openedAt: Instant
    /// Until then its journal counts as read to the end; nil where its reader has not said so yet, or cannot fall behind. See
    /// ``RoomHost/setLevel(of:until:at:)``.
    var levelUntil: Instant?
    /// When its releases began, or went on on a new connection; nil while it is being recovered.
    var releasesFrom: Instant?
    /// Prefix of its rooms' incarnations.
    let prefix: String
    /// How long what is saved of a room is there; nil for ever.
    let kept: Duration?
    /// How far the log's clock is ahead of the host's. Nil while unknown; it counts as zero then.
    var logClockAhead: Duration?
    /// Its rooms in the host's hands, and those of them that are not there yet.
    var rooms = 0
    var waking = 0
    /// Rooms in which something is going on, and that are not being fetched yet.
    var busy: Set<RoomID> = []
    /// Whether `ready` has been said.
    var isReady = false
    /// Once it is being closed: how its rooms are saved, and whether all records that the host was given will be.
    var saving = ClosingSave.unsaved
    var isWhole = false
}

/// Opening, recovering and closing partitions.
extension RoomHost {
    /// Begins to work on a partition: its journal's records follow, from the first that not all of `stored` holds.
    /// - Parameters:
    ///   - prefix: begins the names of its rooms' incarnations.
    ///   - stored: those of its rooms that are this host's and have been saved.
    ///   - kept: how long what is saved of a room is there; nil for ever.
    public func open(
        _ partition: Int, prefix: String, stored: [RoomID: StoredRoom], kept: Duration? = nil, at now: Instant
    ) {
        guard partitions[partition] == nil else { return }
        partitions[partition] = PartitionState(openedAt: now, prefix: prefix, kept: kept)
        let end = kept.map { now + $0 }
        for (room, state) in stored { self.stored.put(state, of: room, isCounted: state.hasState, until: end) }
        output.countStored(stored.values.count { $0.hasState }, of: partition)
    }

    /// Fetches rooms that hold something: it has to be released though nothing more comes in.
    func fetchBusy(_ partition: Int, at now: Instant) {
        let busy = stored.names { !$0.isQuiet && $0.hasState && self.partition(of: $0.room) == partition }
        partitions[partition]?.busy = Set(busy)
        for room in busy { stored.setWake(now, of: room) }
        wakeDue(at: now)
    }

    /// The journal has been read to where its end was: what is due is released from now on.
    public func caughtUp(_ partition: Int, at now: Instant) {
        guard partitions[partition]?.phase == .recovering else { return }
        fetchBusy(partition, at: now)
        partitions[partition]?.phase = .live
        partitions[partition]?.releasesFrom = now
        // A closed room has no state. Its entry only served to skip older records, which have been read by now.
        for room in stored.names(where: { !$0.hasState && self.partition(of: $0.room) == partition }) {
            _ = stored.take(room)
        }
        for hosted in rooms(where: { $0.partition == partition && $0.room != nil }) {
            resume(hosted, at: now)
            settle(hosted, at: now)
        }
        sayReady(partition)
    }

    /// The journal has been read to its end as of now; after `until` that does not count any more. A time that has passed:
    /// it has records that were not read yet. Nothing is decided about what is missing then, for it may be among these.
    public func setLevel(of partition: Int, until: Instant, at now: Instant) {
        guard partitions[partition] != nil else { return }
        let wasLevel = isLevel(partition, at: now)
        partitions[partition]?.levelUntil = until
        guard !wasLevel, isLevel(partition, at: now), partitions[partition]?.phase == .live else { return }
        func isDue(_ hosted: HostedRoom) -> Bool {
            (hosted.withRoom { $0.nextDue(after: now) } ?? nil).map { $0 <= now } ?? false
        }
        for hosted in rooms(where: { $0.partition == partition && isDue($0) }) { settle(hosted, at: now) }
    }

    /// Whether it is known that all records of a room are folded in.
    func decidesGaps(of hosted: HostedRoom, at now: Instant) -> Bool {
        hosted.waiting.isEmpty && isLevel(hosted.partition, at: now)
    }

    /// Whether the journal says that it has no record of a room beyond those that are folded in. A client that has a later
    /// operation has one that the journal has lost.
    public func isCurrent(_ hosted: HostedRoom, at now: Instant) -> Bool {
        partitions[hosted.partition]?.levelUntil != nil && decidesGaps(of: hosted, at: now)
    }

    private func isLevel(_ partition: Int, at now: Instant) -> Bool {
        partitions[partition].map { now <= $0.levelUntil ?? .distantFuture } ?? false
    }

    /// Ends the work on a partition: saves its rooms, then forgets each of them once its requests are answered. Its
    /// journal must not be read any more. Rooms that cannot be saved are forgotten after ``closingTimeout(_:)`` in
    /// which no room of the partition was saved: whoever opens it next finds their records in the journal.
    public func close(_ partition: Int, saving: ClosingSave = .unsaved, at now: Instant) {
        guard let phase = partitions[partition]?.phase else { return output.closed(partition, isWhole: false) }
        guard phase != .closing else { return }
        let isWhole = saving != .nothing && holdsAll(of: partition)
        partitions[partition]?.isWhole = isWhole
        partitions[partition]?.saving = saving
        partitions[partition]?.phase = .closing
        postponeGivingUp(partition, at: now)
        for hosted in rooms(where: { $0.partition == partition }) {
            // Before it was live nothing has happened that another would not find in the journal.
            hosted.isDiscarded =
                saving == .nothing || phase == .recovering || hosted.room == nil || hosted.isOverLimit
            if saving == .everything { hosted.tracker.doubtSaved(at: now) }
            settle(hosted, at: now)
        }
        sayClosed(partition)
    }

    /// Whether every record of a partition that was given to this host has been folded in.
    private func holdsAll(of partition: Int) -> Bool {
        partitions[partition]?.phase == .live
            && !rooms.values.contains {
                // Of a room that is refused nothing is saved, and its author may not have been told yet.
                $0.partition == partition && ($0.isWaking || !$0.waiting.isEmpty || $0.isOverLimit)
            }
    }

    func sayReady(_ partition: Int) {
        guard let state = partitions[partition], state.phase == .live, !state.isReady, state.waking == 0,
            state.busy.isEmpty
        else { return }
        partitions[partition]?.isReady = true
        output.ready(partition)
    }

    /// Reports that a partition is closed once all of its rooms have left memory.
    func sayClosed(_ partition: Int) {
        guard let state = partitions[partition], state.phase == .closing, state.rooms == 0 else { return }
        partitions[partition] = nil
        closingEnds[partition] = nil
        for room in stored.names(where: { self.partition(of: $0.room) == partition }) {
            if stored.take(room)?.isCounted == true { output.countStored(-1, of: partition) }
        }
        output.closed(partition, isWhole: state.isWhole)
    }

    /// How long a partition is closed without progress, while there is a connection, until its closing is given up. What only
    /// memory has, because the journal has lost it, is waited for longer: it is gone then.
    static func closingTimeout(_ saving: ClosingSave) -> Duration {
        saving == .everything ? .seconds(300) : .seconds(30)
    }

    /// A partition is being closed, or a room of it was saved or has left.
    func postponeGivingUp(_ partition: Int, at now: Instant) {
        guard let state = partitions[partition], state.phase == .closing else { return }
        closingEnds[partition] = now + Self.closingTimeout(state.saving)
    }

    /// Forgets the rooms of partitions that cannot be closed, saved or not.
    func giveUpClosing(at now: Instant) {
        guard isOutputOpen else { return }
        for partition in closingEnds.filter({ $0.value <= now }).keys.sorted() {
            partitions[partition]?.isWhole = false
            // One that leaves may bring another, which leaves at once.
            for hosted in rooms(where: { $0.partition == partition }) where hosted.isRegistered {
                close(hosted, at: now)
            }
        }
    }

    /// In the order of their names, so that the same inputs have the same outputs.
    func rooms(where isWanted: (HostedRoom) -> Bool) -> [HostedRoom] {
        rooms.values.filter(isWanted).sorted { $0.id < $1.id }
    }

    func partition(of room: RoomID) -> Int { RoomAddress.partition(of: room, among: configuration.partitions) }
    func isLive(_ hosted: HostedRoom) -> Bool { partitions[hosted.partition]?.phase == .live }
    func isClosing(_ hosted: HostedRoom) -> Bool { partitions[hosted.partition]?.phase == .closing }

    /// All records have been folded in: the cohorts go on from where they were.
    ///
    /// The wait of what they hold counts from when the partition's releases began, however often the room has left
    /// memory since. A clock that was in a pause when the room left may be in it still: then from when it was heard last,
    /// about.
    func resume(_ hosted: HostedRoom, at now: Instant) {
        let isPaused = hosted.cursorsToRestore.values.contains { $0.pausedSince != nil }
        var start = hearsSince(hosted) ?? now
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
