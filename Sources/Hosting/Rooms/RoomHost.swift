import DequeModule
public import StrokeWire
public import Whiteboard

/// The rooms of one worker: loads them, folds the journal's records into them, advances them, saves and evicts them.
///
/// A state machine without clocks or I/O: time is a parameter, the world is its output. The same machine runs in the
/// daemon and in simulations. Used by one thread at a time.
///
/// From the bytes of a message to its effects it allocates at most 5 blocks of memory for a stroke in one message,
/// whatever its number of points, and at most 4 for an undo, a redo or a clock sample; on average, with what grows now
/// and then.
public final class RoomHost<Output: HostOutput> {
    public let configuration: HostConfiguration
    let output: Output
    var rooms: [RoomID: HostedRoom] = [:]
    /// Rooms of this worker that are not in memory. Bounded by the age to which checkpoints are kept.
    var stored = StoredRooms()
    var partitions: [Int: PartitionState] = [:]
    /// When the closing of partitions is given up, for those that are being closed.
    var closingEnds: [Int: Instant] = [:]
    var wakes = TimerQueue()
    var effects = RoomEffects()
    /// Rooms that wait for a place in memory, the first come first.
    var queue = Deque<HostedRoom>()
    /// Rooms that have a place and could leave it.
    var evictionOrder: EvictionOrder
    /// Places taken, and of those the ones that are being given up.
    var occupied = 0
    var leaving = 0
    /// Small rooms that have given up their places and are being saved.
    var departing = 0
    var isFilling = false
    /// When a sample was last passed over of a room that is not stored, for want of a place, or such a room that had heard one
    /// has left memory.
    var missedSampleAt = Instant.distantPast
    /// When a room may leave for one that waits.
    var fillDue: Instant?
    var unsentBytes = 0
    /// Bytes of strokes that grow, of all rooms.
    var wetBytes = 0
    /// Bytes of messages that timers have released since `advance(to:)` began.
    private var releasedBytes = 0
    var waitingBytes = 0
    var barriers: [@Sendable () -> Void] = []
    var isOutputOpen: Bool
    /// Rooms that have published something that was not confirmed, in the order in which they did, each once; some have
    /// nothing of it left.
    var unconfirmedRooms: [HostedRoom] = []
    var confirmation = Confirmation()

    public init(configuration: HostConfiguration, output: Output, isOutputOpen: Bool) {
        self.configuration = configuration
        self.output = output
        evictionOrder = EvictionOrder(places: configuration.rooms)
        self.isOutputOpen = isOutputOpen
    }

    /// When `advance(to:)` has something to do; possibly too early, never too late.
    public var nextWake: Instant? {
        var earliest = wakes.earliest ?? .distantFuture
        func consider(_ instant: Instant?) {
            if let instant { earliest = min(earliest, instant) }
        }
        consider(stored.nextEnd)
        consider(confirmation.due)
        consider(fillDue)
        if wakesStored { consider(stored.nextWake) }
        if isOutputOpen { consider(closingEnds.values.min()) }
        return earliest == .distantFuture ? nil : earliest
    }

    /// Advances the rooms whose timers are due.
    public func advance(to now: Instant) {
        while let gone = stored.takeGone(at: now) { drop(gone) }
        wakeDue(at: now)
        if let fillDue, fillDue <= now { fillPlaces(at: now) }
        releasedBytes = 0
        while releasedBytes < Self.turnBytes, let hosted = wakes.popDue(at: now, among: rooms) {
            settle(hosted, at: now, isTurn: true)
        }
        confirm(at: now)
        if !closingEnds.isEmpty { giveUpClosing(at: now) }
    }

    /// Bytes of messages that are released by timers before other work has its turn.
    private static var turnBytes: Int { 256 * 1024 }

    /// Whether rooms come into memory when something is due in them; without a connection nothing could be done.
    private var wakesStored: Bool { isOutputOpen && hasShortQueue }

    /// Loads rooms in which something is due.
    func wakeDue(at now: Instant) {
        while wakesStored, let room = stored.popDue(at: now) { load(room, at: now) }
    }

    /// A sample of a cohort's video clock. Where there is a place, a room that nobody has written to yet is kept in
    /// memory for it; nothing is written down of that. While a partition is being recovered it is passed over,
    /// for the next one comes soon.
    public func sample(_ sample: IncomingSample, at now: Instant) {
        guard partitions[sample.partition]?.phase == .live else { return }
        guard let hosted = rooms[sample.room] ?? load(for: sample, at: now) else {
            if stored[sample.room] == nil { missedSampleAt = now }
            return
        }
        touch(hosted, at: now)
        hosted.hasClock = true
        guard hosted.room != nil else { return keep(sample, for: hosted) }
        receive(sample, of: hosted, at: now)
        settle(hosted, at: now)
    }

    private func receive(_ sample: IncomingSample, of hosted: HostedRoom, at now: Instant) {
        hosted.room?.receive(
            clockSample: sample.bytes, cohort: sample.cohort, at: min(sample.arrivedAt, now), into: &effects)
    }

    /// Samples, and bytes of each, that are remembered for a room that is not there yet.
    private static var samplesKept: (count: Int, bytes: Int) { (8, 256) }

    /// A room that comes for a sample may leave again before the next: what it tells of a pause counts.
    private func keep(_ sample: IncomingSample, for hosted: HostedRoom) {
        guard sample.bytes.count <= Self.samplesKept.bytes else { return }
        if hosted.samples.count == Self.samplesKept.count { hosted.samples.removeFirst() }
        hosted.samples.append(sample)
    }

    /// A room is there: takes the samples that have come before it.
    func takeSamples(of hosted: HostedRoom, at now: Instant) {
        let samples = hosted.samples
        hosted.samples = []
        for sample in samples {
            receive(sample, of: hosted, at: now)
            perform(in: hosted, at: now)
        }
    }

    /// A room that is not in memory, for a sample: where something is held in it, the sample may begin a cohort, or there
    /// is a place; a room that nobody has written to may take that of another such.
    private func load(for sample: IncomingSample, at now: Instant) -> HostedRoom? {
        if let stored = stored[sample.room] {
            let isAwaited = !stored.isQuiet || mayBegin(sample.cohort, in: stored)
            guard hasFreePlace || isAwaited && hasShortQueue else { return nil }
        } else {
            guard hasFreePlace || queue.isEmpty && evictionOrder.next(at: now)?.room?.isBlank ?? false else {
                return nil
            }
        }
        return load(sample.room, hasClock: true, at: now)
    }

    /// Whether the sample is the first of its cohort: it makes the cohort, or closes its gate.
    private func mayBegin(_ cohort: CohortName, in stored: StoredRoom) -> Bool {
        if let cursor = stored.cursors[cohort] { return stored.hasState && cursor.hasVideo == false }
        let cohorts = configuration.room.cohorts
        return cohorts.open && stored.hasState && stored.cursors.count < cohorts.maximum
    }

    /// Since when the clocks of a room are heard; nil while its partition is being recovered.
    func hearsSince(_ hosted: HostedRoom) -> Instant? {
        guard let start = partitions[hosted.partition]?.releasesFrom else { return nil }
        return hosted.isRecorded ? start : max(start, missedSampleAt)
    }

    /// Sets whether anything can be published: false when a connection is lost, true for a new one. What the lost one may
    /// not have delivered goes out again on the new one, before anything else. True while it is true already: what the
    /// connection had no room for is tried again.
    public func setOutput(isOpen: Bool, at now: Instant) {
        let isAgain = isOpen && isOutputOpen
        isOutputOpen = isOpen
        if !isAgain {
            takeBackUnconfirmed()
            if isOpen {
                for partition in partitions.keys { partitions[partition]?.releasesFrom = now }
                for partition in closingEnds.keys { postponeGivingUp(partition, at: now) }
            }
        }
        for hosted in rooms(where: { !isAgain || !$0.unsent.isEmpty }) {
            guard isOpen else {
                hosted.room?.setOutput(isOpen: false)
                settle(hosted, at: now)
                continue
            }
            hosted.tracker.hurry()
            if !isAgain {
                // What is heard from now on counts.
                hosted.samples = []
                hosted.room?.beginReleases(at: now)
            }
            sendUnsent(of: hosted, at: now)
        }
    }

    /// Lets the room do what is due, carries out what it asks for, and notes when to come back.
    /// - Parameter isTurn: whether the room's timer is due. What is large, or more than may be released at once, waits for
    ///   that: inputs of other rooms come first.
    func settle(_ hosted: HostedRoom, at now: Instant, isTurn: Bool = false) {
        // It may have left to make place for another.
        guard hosted.isRegistered else { return }
        if isLive(hosted) {
            if hosted.isOverLimit {
                hosted.room?.endDrawing(into: &effects)
                askForRefusal(of: hosted, at: now)
            } else if isTurn || hosted.room?.hasMoreToRelease != true {
                hosted.room?.advance(
                    to: now, isTurn: isTurn, decidesGaps: decidesGaps(of: hosted, at: now), into: &effects)
            }
        }
        perform(in: hosted, at: now)
        countWetBytes(of: hosted)
        if hosted.isOverLimit { giveBackPlace(of: hosted, at: now) }
        save(hosted, at: now)
        if rest(hosted, at: now) { return }
        wakes.set(hosted, to: nextWake(of: hosted, after: now), among: rooms)
    }

    /// A decision to refuse a room that is not in the journal is asked for again after this.
    static var refusalRetry: Duration { .seconds(1) }

    /// There are as many rooms as may be stored: the life of one more ends with what has come of it so far.
    private func askForRefusal(of hosted: HostedRoom, at now: Instant) {
        guard hosted.refusalAskedAt.map({ now - $0 >= Self.refusalRetry }) ?? true else { return }
        hosted.refusalAskedAt = now
        effects.list.append(.record(.full(through: hosted.sequence)))
    }

    /// A room that has asked for a decision does not leave to make place for so long: when it came back without having
    /// seen the decision it would ask again.
    private static var decisionStay: Duration { .milliseconds(50) }

    /// Carries out what the room has asked for.
    func perform(in hosted: HostedRoom, at now: Instant) {
        var next = 0
        while next < effects.list.count {
            perform(effects.list[next], in: hosted, at: now)
            next += 1
        }
        output.settled(hosted, effects.counts)
        effects.removeAll()
    }

    private func perform(_ effect: RoomEffect, in hosted: HostedRoom, at now: Instant) {
        if case .record(let control) = effect {
            hosted.staysUntil = max(hosted.staysUntil, now + Self.decisionStay)
            // Decisions take effect where they stand in the journal, which may be at once.
            guard let record = output.append(control, to: hosted, at: now) else { return }
            // It is in order here and now, whatever its number: messages with lower ones may be on their way.
            apply(record, to: hosted, at: now)
            if !hosted.isOverLimit { hosted.room?.advance(to: now, into: &effects) }
            return
        }
        if case .release(_, let operation, _, _) = effect { releasedBytes += operation.messageByteCount }
        guard !hosted.isOverLimit || effect.isForRefused else { return }
        publish(effect, of: hosted, at: now)
    }

    /// Keeps an effect that is not repeated by itself until the connection is back. Releases are bounded by the closed
    /// output, the rest in bytes.
    func keep(_ effect: RoomEffect, in hosted: HostedRoom) {
        let bytes = effect.keptBytes
        guard effect.isSaidOnce, bytes == 0 || unsentBytes + bytes <= configuration.unsentBytes else { return }
        putAside([effect], in: hosted)
    }

    /// Keeps effects until the connection is back, whatever the bound.
    /// - Parameter isFirst: whether they go out before those that wait already.
    func putAside(_ effects: [RoomEffect], in hosted: HostedRoom, isFirst: Bool = false) {
        unsentBytes += effects.reduce(0) { $0 + $1.keptBytes }
        hosted.unsent.insert(contentsOf: effects, at: isFirst ? 0 : hosted.unsent.endIndex)
        hosted.room?.setOutput(isOpen: false)
    }

    func dropUnsent(of hosted: HostedRoom) {
        unsentBytes -= hosted.unsent.reduce(0) { $0 + $1.keptBytes }
        hosted.unsent = []
    }

    func nextWake(of hosted: HostedRoom, after now: Instant) -> Instant? {
        var earliest: Instant?
        func consider(_ instant: Instant?) {
            if let instant { earliest = min(earliest ?? instant, instant) }
        }
        if isLive(hosted) {
            consider(hosted.isOverLimit ? hosted.refusalAskedAt.map { $0 + Self.refusalRetry } : nil)
            let decides = decidesGaps(of: hosted, at: now)
            if !hosted.isOverLimit {
                consider(hosted.withRoom { $0.nextWake(after: now, decidesGaps: decides) } ?? nil)
            }
        }
        consider(nextSave(of: hosted))
        // What is not confirmed by then is waited for.
        if let rest = nextRest(of: hosted), rest > now || hosted.unconfirmed.isEmpty { consider(rest) }
        return earliest
    }

    /// Takes over a room's state, new or restored.
    func adopt(_ hosted: HostedRoom, _ room: consuming Room, at now: Instant) {
        var room = room
        room.setOutput(isOpen: isOutputOpen)
        room.setLogClock(ahead: logClockAhead(of: hosted.partition))
        hosted.room = room
        partitions[hosted.partition]?.waking -= 1
        noteExistence(of: hosted)
        if hosted.hasPlace { evictionOrder.use(hosted, at: now) }
    }
}

// MARK: - Requests

extension RoomHost {
    /// The availability of a room when a request for it arrives.
    public enum Presence {
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
            load(room, at: now)
        }
        guard let hosted = rooms[room] else { return .waking }
        touch(hosted, at: now)
        guard let room = hosted.room else { return .waking }
        return room.isBlank || hosted.isOverLimit ? .absent : .here(hosted)
    }

    /// The names of all rooms, in memory or stored, in no order. Costs some nanoseconds a room.
    public var roomNames: [RoomID] {
        rooms.values.filter { $0.room?.isBlank != true }.map(\.id) + stored.names
    }

    /// The rooms in memory, in any order.
    public var residentRooms: [RoomID] { rooms.values.filter { $0.room != nil }.map(\.id) }

    /// A room as far as it is known without loading it.
    public enum Known {
        case here(HostedRoom)
        case stored(StoredRoom)
    }

    /// - Returns: nil for a room that is being fetched, and for one of which there is nothing to tell.
    public func known(_ room: RoomID) -> Known? {
        if let hosted = rooms[room] { return hosted.room == nil ? nil : .here(hosted) }
        guard let state = stored[room], state.hasState else { return nil }
        return .stored(state)
    }
}

extension RoomEffect {
    /// Whether it is published of a room that is refused: it tells an author so, or ends what others have of a stroke.
    fileprivate var isForRefused: Bool {
        switch self {
        case .feedback(_, _, .rejected), .feedback(_, _, .gaveUp): true
        case .wet(_, let wet): wet.isEnd
        case .feedback, .head, .release, .mark, .record: false
        }
    }

    /// Bytes that it holds while it waits for the connection, about; a release shares them with the room's log.
    fileprivate var keptBytes: Int { if case .release = self { 0 } else { cost } }
}
