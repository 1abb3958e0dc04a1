import DequeModule
public import StrokeWire
public import Whiteboard

/// Which rooms are in memory: loading and evicting them.
///
/// There are `configuration.rooms` places. A room that comes when all are taken waits, its records with it, and the next
/// room by ``EvictionOrder`` is saved and leaves, whatever is held or pending in it: what is stored of it says when it
/// has to be back. A small room gives back its place before it is saved, so that many rooms with a message each do not
/// wait for each other. All of it takes the same time however many rooms there are.
extension RoomHost {
    /// Rooms that wait for places; beyond, none comes for being looked at, nor by a timer or a clock.
    private static var queueBound: Int { 256 }

    /// Rooms that wait for places; from here on those in which nothing is left to be done leave at once.
    private static var longQueue: Int { 32 }

    /// Bytes of a room that gives back its place before it is saved.
    private static var smallRoom: Int { 64 * 1024 }

    /// A room that has come stays for so long at least: what it came for is done then.
    private static var leastStay: Duration { .milliseconds(5) }

    var hasShortQueue: Bool { queue.count < Self.queueBound }
    var hasFreePlace: Bool { queue.isEmpty && occupied < configuration.rooms }

    /// A room that is not in memory: fetched where it is stored, made where it is new; at once where there is a place.
    /// - Parameters:
    ///   - record: the first that waits for it.
    ///   - update: of a stroke being drawn, for which it comes.
    ///   - hasClock: whether it comes for a clock.
    @discardableResult
    func load(
        _ id: RoomID, for record: JournalRecord? = nil, drawing update: IncomingWetUpdate? = nil,
        hasClock: Bool = false, at now: Instant
    ) -> HostedRoom {
        let hosted = HostedRoom(address(of: id), at: now)
        hosted.hasClock = hasClock
        if let origin = stored.take(id) {
            hosted.sequence = origin.stored.sequence
            hosted.restorations = origin.stored.restorations
            hosted.toldThrough = origin.stored.handled
            hosted.cursorsToRestore = origin.stored.cursors
            hosted.lifeToRestore = origin.stored.incarnation
            hosted.hasState = origin.stored.hasState
            hosted.isCounted = origin.isCounted
            hosted.waitsFrom = origin.waitsFrom
            hosted.isRecorded = true
            hosted.tracker = CheckpointTracker(restored: origin.stored, index: 0, at: now)
            hosted.origin = origin
        }
        register(hosted)
        queue.append(hosted)
        if let record { wait(record, for: hosted) }
        if let update { keep(update, for: hosted) }
        fillPlaces(at: now)
        return hosted
    }

    func register(_ hosted: HostedRoom) {
        rooms[hosted.id] = hosted
        hosted.isRegistered = true
        partitions[hosted.partition]?.rooms += 1
        partitions[hosted.partition]?.waking += hosted.isWaking ? 1 : 0
        partitions[hosted.partition]?.busy.remove(hosted.id)
    }

    func address(of room: RoomID) -> RoomAddress {
        RoomAddress(root: configuration.root, room: room, partitions: configuration.partitions)
    }

    /// Gives free places to those that wait, and has as many rooms leave as still wait then.
    func fillPlaces(at now: Instant) {
        guard !isFilling else { return }
        isFilling = true
        defer { isFilling = false }
        fillDue = nil
        while true {
            if let next = queue.first, !isQueued(next) {
                queue.removeFirst()
            } else if occupied < configuration.rooms, let next = queue.popFirst() {
                takePlace(next)
                begin(next, at: now)
            } else if leaving < queue.count + max(0, occupied - configuration.rooms) {
                guard let next = evictionOrder.next(at: now) else {
                    fillDue = evictionOrder.nextIdleResident
                    return
                }
                guard next.staysUntil <= now || isDone(next) else {
                    fillDue = next.staysUntil
                    return
                }
                evict(next, at: now)
            } else {
                return
            }
        }
    }

    /// Whether a room waits for a place. One that has overtaken others is still in the queue a second time when it has
    /// its place.
    func isQueued(_ hosted: HostedRoom) -> Bool {
        hosted.isRegistered && hosted.room == nil && !hosted.hasPlace
    }

    /// Whether a room may leave at once: nobody has written to it, or nothing is left to be done in it and many wait.
    private func isDone(_ hosted: HostedRoom) -> Bool {
        guard let isBlank = hosted.room?.isBlank, let isQuiet = hosted.room?.isQuiet else { return false }
        return isBlank || isQuiet && queue.count >= Self.longQueue
    }

    func takePlace(_ hosted: HostedRoom) {
        occupied += 1
        hosted.hasPlace = true
    }

    /// A room has a place: fetches it, or makes it.
    private func begin(_ hosted: HostedRoom, at now: Instant) {
        guard let origin = hosted.origin, origin.stored.hasState else {
            adopt(hosted, Room(configuration: configuration.room, at: now), at: now)
            return arrive(hosted, at: now)
        }
        hosted.origin = nil
        guard origin.state.isEmpty else {
            // What this process has written it can read.
            let room = try? Room(
                restoring: origin.state, configuration: configuration.room, at: now,
                logClockAhead: logClockAhead(of: hosted.partition))
            adopt(hosted, room ?? Room(configuration: configuration.room, at: now), at: now)
            return arrive(hosted, at: now)
        }
        hosted.isFetching = true
        output.fetch(hosted.id, origin.stored, nil)
    }

    /// A room was loaded: folds in the records that have waited for it.
    private func arrive(_ hosted: HostedRoom, tail: [JournalRecord] = [], at now: Instant) {
        let decision = hosted.restoringDecision ?? 0
        hosted.restoringDecision = nil
        // Both at once: a decision in the tail may have the room fetched again, and what follows it waits in the log's order.
        for record in tail + takeWaiting(of: hosted) {
            let isRestoring = record.sequence <= decision
            // What the log had again of it may have been written all at once.
            fold(record, into: hosted, isLimited: !isRestoring, at: now)
            // The incarnation ends with it: the next one's board has it all.
            if isRestoring { effects.list.removeAll { if case .head = $0 { true } else { false } } }
            perform(in: hosted, at: now)
        }
        guard hosted.room != nil else { return }
        hosted.staysUntil = max(hosted.staysUntil, now + Self.leastStay)
        // Another host may have stored a life that this one has not seen begin.
        if hosted.incarnation != hosted.lifeToRestore { hosted.cursorsToRestore = [:] }
        if partitions[hosted.partition]?.phase == .live { resume(hosted, at: now) }
        takeSamples(of: hosted, at: now)
        takeWetUpdates(of: hosted, at: now)
        output.opened(hosted)
        settle(hosted, at: now)
        sayReady(hosted.partition)
    }

    /// A room has been fetched.
    /// - Parameters:
    ///   - room: nil where nothing of it could be read.
    ///   - sequence: it holds its records through this one.
    ///   - restorations: how often it had been restored.
    ///   - tail: records after that which this host has not been given, for the state is older than what was asked
    ///     for, or than what the partition's coverage says. All of the room is saved then before its cursors are: their
    ///     manifests would displace the unreadable ones that tell another host of these records.
    public func restored(
        _ id: RoomID, _ room: Room?, sequence: UInt64, restorations: UInt32, tail: [JournalRecord], at now: Instant
    ) {
        guard let hosted = rooms[id], hosted.isWaking, hosted.isFetching, let partition = partitions[hosted.partition]
        else { return }
        hosted.isFetching = false
        if partition.phase == .closing { return close(hosted, at: now) }
        let isCurrent =
            room != nil && sequence == hosted.sequence && restorations == hosted.restorations && tail.isEmpty
        hosted.sequence = room == nil ? 0 : sequence
        hosted.restorations = restorations
        if !isCurrent { hosted.loggedAt = nil }
        let index = room?.headIndex ?? 0
        if isCurrent {
            hosted.tracker = CheckpointTracker(restored: hosted.tracker.noted ?? hosted.note, index: index, at: now)
        } else {
            hosted.tracker = CheckpointTracker(at: now)
            // It has to be stored anew.
            if hosted.sequence > 0 { hosted.tracker.note(hosted.sequence, at: now) }
            hosted.hasState = room?.isBlank == false
            countFetched(hosted, room)
        }
        adopt(hosted, room ?? Room(configuration: configuration.room, at: now), at: now)
        arrive(hosted, tail: tail, at: now)
        fillPlaces(at: now)
    }

    /// What another host has stored of a room stays, however many there are.
    private func countFetched(_ hosted: HostedRoom, _ room: Room?) {
        guard let room, room.headIndex > 0, !hosted.isCounted else { return }
        hosted.isCounted = true
        output.countStored(1, of: hosted.partition)
    }

    /// A room that is one too many is not stored, and does not keep others from coming: it lasts until the journal's
    /// answer is there.
    func giveBackPlace(of hosted: HostedRoom, at now: Instant) {
        guard hosted.hasPlace else { return }
        evictionOrder.remove(hosted)
        endLeaving(hosted)
        hosted.hasPlace = false
        occupied -= 1
        fillPlaces(at: now)
    }

    /// A room that did not exist has had its first acceptable message, and there is no place for it: it waits for one,
    /// and the message is folded in again then.
    func queueUp(_ hosted: HostedRoom, for record: JournalRecord, after sequence: UInt64, at now: Instant) {
        effects.removeAll()
        if hosted.isCounted { output.countStored(-1, of: hosted.partition) }
        (hosted.isCounted, hosted.isOverLimit, hosted.hasState) = (false, false, false)
        (hosted.room, hosted.sequence) = (nil, sequence)
        // What is stored of an earlier life still has to be replaced: its end is not covered before.
        if !hosted.isRecorded { hosted.tracker = CheckpointTracker(at: now) }
        partitions[hosted.partition]?.waking += 1
        queue.append(hosted)
        wait(record, for: hosted)
        fillPlaces(at: now)
    }

    /// Something came in for a room that is there. One that leaves memory does so nevertheless, for otherwise no other
    /// would come in while all are used.
    func touch(_ hosted: HostedRoom, at now: Instant) {
        hosted.lastUse = now
        if hosted.hasPlace, hosted.room != nil, !hosted.isLeaving { evictionOrder.use(hosted, at: now) }
    }

    /// A room that was to leave memory could not be saved: it stays, and another leaves instead, where there is one. It
    /// may have to fold in more before it can be saved.
    func stay(_ hosted: HostedRoom, at now: Instant) {
        guard hosted.isLeaving, !isClosing(hosted) else { return }
        endLeaving(hosted)
        // There may be one more than there are places until another has left.
        if !hosted.hasPlace { takePlace(hosted) }
        evictionOrder.use(hosted, at: now)
        for record in takeWaiting(of: hosted) {
            fold(record, into: hosted, at: now)
            perform(in: hosted, at: now)
        }
    }

    /// Evicts a room as soon as all of it is saved.
    private func evict(_ hosted: HostedRoom, at now: Instant) {
        evictionOrder.remove(hosted)
        hosted.isLeaving = true
        if departing < configuration.departing, let bytes = hosted.room?.byteEstimate, bytes <= Self.smallRoom {
            departing += 1
            hosted.hasPlace = false
            occupied -= 1
        } else {
            leaving += 1
        }
        if !hosted.unconfirmed.isEmpty, !confirmation.isAsked { confirmation.due = now }
        settle(hosted, at: now)
    }

    private func endLeaving(_ hosted: HostedRoom) {
        guard hosted.isLeaving else { return }
        hosted.isLeaving = false
        if hosted.hasPlace { leaving -= 1 } else { departing -= 1 }
    }

    /// Lets a room go that is empty, that has long been idle, that gives its place to another, or whose partition is
    /// being closed.
    /// - Returns: whether it is gone.
    func rest(_ hosted: HostedRoom, at now: Instant) -> Bool {
        if isClosing(hosted) {
            // An answer that comes later would be taken for that to another question.
            guard !hosted.isFetching, !hosted.tracker.isSaving else { return false }
            guard hosted.isDiscarded || hosted.unsent.isEmpty && nextSave(of: hosted) == nil else { return false }
            close(hosted, at: now)
            return true
        }
        guard canLeave(hosted) else { return false }
        let isIdle = nextRest(of: hosted).map { $0 <= now } ?? false
        let isEmpty = hosted.room?.isBlank ?? false
        let isForClock = hosted.hasClock && hosted.hasPlace
        let isForPen = hosted.hasPlace && hosted.withRoom { $0.isDrawing } ?? false
        guard hosted.isLeaving || isIdle || isEmpty && !isForClock && !isForPen else { return false }
        retire(hosted, at: now)
        return true
    }

    /// Whether a room can be loaded again as it is, or need not be.
    private func canLeave(_ hosted: HostedRoom) -> Bool {
        hosted.unconfirmed.isEmpty && canLeaveWhenConfirmed(hosted)
    }

    private func canLeaveWhenConfirmed(_ hosted: HostedRoom) -> Bool {
        guard hosted.room != nil, hosted.unsent.isEmpty else { return false }
        // Nobody could be told now that the strokes that are being drawn are over.
        if !isOutputOpen, !hosted.isDiscarded, hosted.withRoom({ $0.isShowingInk }) ?? false { return false }
        guard configuration.checkpoints != nil else { return isLive(hosted) }
        if hosted.isDiscarded { return true }
        return !hosted.tracker.isSaving && hosted.tracker.firstUncovered == nil
            && (hosted.tracker.isNoted || !hosted.hasState) && nextSave(of: hosted) == nil
    }

    /// Evicts a room that can be loaded again, or need not be.
    private func retire(_ hosted: HostedRoom, at now: Instant) {
        let waiting = takeWaiting(of: hosted)
        if isLive(hosted), !hosted.isDiscarded {
            hosted.room?.endDrawing(into: &effects)
            hosted.room?.sendLastMarks(at: now, into: &effects)
            perform(in: hosted, at: now)
        }
        store(hosted, at: now)
        forget(hosted, at: now)
        for record in waiting { take(record, arrivedAt: now, at: now) }
    }

    private func store(_ hosted: HostedRoom, at now: Instant) {
        // What another host has stored of a room is there though it is blank for this one.
        guard let room = hosted.room, hosted.hasState || hosted.isDiscarded else {
            if hosted.hasClock { missedSampleAt = now }
            return
        }
        let isVolatile = configuration.checkpoints == nil
        guard let note = isVolatile || hosted.isDiscarded ? hosted.note : hosted.tracker.noted else { return }
        // A partition that is being recovered has its busy rooms fetched when its journal has been read.
        let due = room.nextDue(after: now)
        let end = partitions[hosted.partition]?.kept.map { now + $0 }
        let isPaused = note.cursors.values.contains { $0.pausedSince != nil }
        stored.put(
            note, state: isVolatile ? room.checkpoint().encoded() : [], of: hosted.id, isCounted: hosted.isCounted,
            waitsFrom: isPaused ? hosted.hasClock ? now : hosted.waitsFrom ?? now : nil,
            wake: isLive(hosted) ? due.map { max($0, now + Self.leastStay) } : nil, until: end)
        hosted.isCounted = false
        while stored.stateBytes > configuration.sleepingBytes, let gone = stored.takeOldest() { drop(gone) }
    }

    func drop(_ gone: StoredRooms.Entry) {
        let partition = partition(of: gone.room)
        if gone.isCounted { output.countStored(-1, of: partition) }
        output.forgotten(gone.room)
        if partitions[partition]?.busy.remove(gone.room) != nil { sayReady(partition) }
    }

    /// When a room has been idle for long enough, nil while something is going on in it.
    func nextRest(of hosted: HostedRoom) -> Instant? {
        guard let isQuiet = hosted.room?.isQuiet, let isBlank = hosted.room?.isBlank, isQuiet || isBlank,
            isBlank ? canLeave(hosted) : canLeaveWhenConfirmed(hosted), isLive(hosted)
        else { return nil }
        return hosted.lastUse + configuration.idle
    }

    /// A room of a partition that is being closed.
    func close(_ hosted: HostedRoom, at now: Instant) {
        postponeGivingUp(hosted.partition, at: now)
        forget(hosted, at: now)
        sayClosed(hosted.partition)
    }

    private func forget(_ hosted: HostedRoom, at now: Instant) {
        evictionOrder.remove(hosted)
        endLeaving(hosted)
        if hosted.isCounted { output.countStored(-1, of: hosted.partition) }
        hosted.isCounted = false
        wakes.set(hosted, to: nil, among: rooms)
        if hosted.isRegistered {
            hosted.isRegistered = false
            rooms[hosted.id] = nil
            partitions[hosted.partition]?.rooms -= 1
            partitions[hosted.partition]?.waking -= hosted.isWaking ? 1 : 0
        }
        if hosted.hasPlace { occupied -= 1 }
        hosted.hasPlace = false
        _ = takeWaiting(of: hosted)
        dropUnsent(of: hosted)
        forgetUnconfirmed(of: hosted)
        wetBytes -= hosted.wetBytes
        hosted.wetBytes = 0
        output.left(hosted)
        fillPlaces(at: now)
    }
}
