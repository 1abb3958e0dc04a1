public import StrokeWire
public import Whiteboard

/// The extent of the checkpoints that are written when a partition is closed.
public enum ClosingSave: Sendable {
    /// What no checkpoint holds.
    case unsaved
    /// All that is in memory: checkpoints may have lost what they held.
    case everything
    /// For a journal that was replaced: what was made of it is void.
    case nothing
}

/// Tracks which records of a room its checkpoint holds, and when the next one is due. A class: a structure in a class is
/// copied for each method that does not change it, see ``HostedRoom/withRoom(_:)``.
final class CheckpointTracker {
    /// The first record that the saved state does not hold.
    private(set) var firstUncovered: UInt64?
    /// When that record was folded in.
    private(set) var uncoveredSince: Instant
    /// When the state is to be saved though it is not due yet.
    private var hastenedTo: Instant?
    /// The room's index when its state was last saved.
    private(set) var savedIndex: UInt64 = 0
    /// Sequence that the saved state is of.
    private(set) var savedSequence: UInt64 = 0
    /// The room as its last checkpoint or cursor note has it.
    private(set) var noted: StoredRoom?
    /// Whether the room's cursors are known not to be those that were noted.
    private var haveCursorsMoved = false
    /// The room's ``Room/cursorChanges`` when its cursors were last compared with those, or noted; nil for never.
    private var comparedChanges: UInt64?
    private(set) var notedAt: Instant
    /// When the cursors are to be noted; nil where they were not seen to have moved.
    var noteDue: Instant?
    /// Failed attempts since the last success.
    private var failures = 0
    private var pending: Pending?
    /// The numbers of authors that the saved state holds, as they were told.
    private var covered: [Room.SettledNumber] = []

    private struct Pending {
        let stored: StoredRoom
        let cursorChanges: UInt64
        let index: UInt64
        let holdsState: Bool
        /// The numbers of authors that the state holds.
        let settled: [Room.SettledNumber]
        /// The first record folded in since.
        var firstAfter: UInt64?
        var firstAfterAt: Instant
    }

    init(at now: Instant) {
        uncoveredSince = now
        notedAt = now
    }

    /// The room has come from a saved state.
    convenience init(restored stored: StoredRoom, index: UInt64, at now: Instant) {
        self.init(at: now)
        savedIndex = index
        savedSequence = stored.sequence
        noted = stored
    }

    var isSaving: Bool { pending != nil }

    /// Whether nothing of the room will be uncovered once the save under way is acknowledged.
    var savesAll: Bool {
        guard let pending else { return false }
        return (pending.holdsState || firstUncovered == nil) && pending.firstAfter == nil
    }

    /// Whether a checkpoint or cursor note of the room is stored.
    var isNoted: Bool { noted != nil }

    /// Whether the last attempt has failed.
    var hasFailed: Bool { failures > 0 }

    /// The longest pause between two attempts.
    static let longestPause = Duration.seconds(60)

    /// How long after one attempt the next may be made: twice as long with each that fails, and no longer than `usual`
    /// while the room has to leave memory.
    func pause(_ usual: Duration, isHurried: Bool) -> Duration {
        guard failures > 1, !isHurried else { return usual }
        return min(max(usual, Self.longestPause), usual * (1 << min(failures - 1, 16)))
    }

    /// The connection is back: the next attempt is made soon.
    func hurry() {
        failures = min(failures, 1)
    }

    /// A record was folded in.
    func note(_ sequence: UInt64, at now: Instant) {
        if firstUncovered == nil {
            firstUncovered = sequence
            uncoveredSince = now
        }
        if pending != nil, pending?.firstAfter == nil {
            pending?.firstAfter = sequence
            pending?.firstAfterAt = now
        }
    }

    /// What was saved may be lost: all of the room is to be saved again.
    func doubtSaved(at now: Instant) {
        guard firstUncovered == nil else { return }
        // A room that was never saved, or none of whose checkpoints can be read, has no record that counts as saved.
        firstUncovered = max(1, savedSequence)
        uncoveredSince = now
    }

    /// The state is saved at an instant, if it is not due before.
    func hasten(to instant: Instant) { hastenedTo = min(instant, hastenedTo ?? instant) }

    /// When the state is due by its age.
    func due(after interval: Duration) -> Instant { min(uncoveredSince + interval, hastenedTo ?? .distantFuture) }

    /// The room's index begins at 0 again.
    func beginLife() {
        savedIndex = 0
    }

    /// Whether the room's cursors are not those that a successor would know. They are compared only when they may have
    /// changed, and no more once they have: the cost of an input is not to grow with the number of cohorts.
    /// - Parameter changes: the room's ``Room/cursorChanges``.
    func cursorsHaveMoved(changes: UInt64, _ cursors: () -> [CohortName: CohortCursor]) -> Bool {
        guard !haveCursorsMoved, changes != comparedChanges, isNoted else { return haveCursorsMoved }
        comparedChanges = changes
        haveCursorsMoved = noted?.hasCursors(cursors()) != true
        return haveCursorsMoved
    }

    /// - Parameter cursorChanges: the room's ``Room/cursorChanges`` when its cursors were noted in `stored`.
    func begin(
        _ stored: StoredRoom, cursorChanges: UInt64, index: UInt64, holdsState: Bool,
        settled: [Room.SettledNumber], at now: Instant
    ) {
        pending = Pending(
            stored: stored, cursorChanges: cursorChanges, index: index, holdsState: holdsState, settled: settled,
            firstAfter: nil, firstAfterAt: now)
        (notedAt, noteDue) = (now, nil)
        if holdsState { hastenedTo = nil }
    }

    /// The save under way was acknowledged, or has failed and is to be repeated.
    /// - Returns: the numbers of authors that are covered by it and were not before.
    @discardableResult
    func end(isSaved: Bool) -> [Room.SettledNumber] {
        guard let done = pending else { return [] }
        pending = nil
        failures = isSaved ? 0 : failures + 1
        guard isSaved else { return [] }
        noted = done.stored
        haveCursorsMoved = false
        comparedChanges = done.cursorChanges
        guard done.holdsState else { return [] }
        savedIndex = done.index
        savedSequence = done.stored.sequence
        firstUncovered = done.firstAfter
        uncoveredSince = done.firstAfterAt
        defer { covered = done.settled }
        return done.settled.filter { !covered.contains($0) }
    }
}

/// When and what is saved of a room: the whole state now and then, the cursors every second, see ``CursorNotes``.
extension RoomHost {
    /// The answer to ``HostOutput/save(_:)``: acknowledged, or failed and tried again.
    ///
    /// The store must let nothing take the place of what holds more of the room's records (`sequence`), and say
    /// ``superseded(_:at:)`` instead: two hosts may work on one partition for a while, one of them behind the other.
    public func saved(_ room: RoomID, isSaved: Bool, at now: Instant) {
        guard let hosted = rooms[room], hosted.tracker.isSaving else { return }
        let covered = hosted.tracker.end(isSaved: isSaved)
        if isSaved { postponeGivingUp(hosted.partition, at: now) }
        if isSaved, let noted = hosted.tracker.noted, noted.incarnation == hosted.incarnation {
            hosted.room?.noteSaved(noted.cursors)
            hosted.room?.tell(covered, into: &effects)
            perform(in: hosted, at: now)
        }
        if !isSaved { stay(hosted, at: now) }
        settle(hosted, at: now)
        fillPlaces(at: now)
    }

    /// What was to be saved of a room is behind what another host has stored of it. Where it is to leave memory it does so:
    /// what the other has stored comes back. Not where the room holds more than was to be saved: all of it is saved then,
    /// or the other would have to hold that, too.
    public func superseded(_ room: RoomID, at now: Instant) {
        guard let hosted = rooms[room], hosted.tracker.isSaving else { return }
        if hosted.tracker.savesAll, isClosing(hosted) || hosted.isLeaving { hosted.isDiscarded = true }
        hosted.tracker.end(isSaved: false)
        settle(hosted, at: now)
        fillPlaces(at: now)
    }

    /// Saves the rooms of a partition before it is due, those that have something to save: somebody waits until checkpoints
    /// hold all records up to now. Spread over an eighth of the interval, so that it is eight times as much as usual at most.
    public func saveSoon(_ partition: Int, at now: Instant) {
        guard let schedule = configuration.checkpoints else { return }
        for hosted in rooms.values where hosted.partition == partition && hosted.coveredThrough != nil {
            let share = Int(FNV1a64.mixed(hosted.id.text.utf8) % 64)
            hosted.tracker.hasten(to: now + schedule.interval / 8 / 64 * share)
            wakes.set(hosted, to: nextWake(of: hosted, after: now), among: rooms)
        }
    }

    /// Since when a room has a record that its checkpoint does not hold; nil where it holds all, or where another host saves
    /// the room.
    public func unsavedSince(_ hosted: HostedRoom) -> Instant? {
        guard configuration.checkpoints != nil, isLive(hosted), !hosted.isDiscarded, !hosted.isOverLimit,
            hosted.hasState || hosted.isRecorded, hosted.tracker.firstUncovered != nil
        else { return nil }
        return hosted.tracker.uncoveredSince
    }

    /// Saves what is due to be saved.
    func save(_ hosted: HostedRoom, at now: Instant) {
        if let schedule = configuration.checkpoints, hosted.tracker.noteDue == nil, !hosted.tracker.isSaving,
            hasMoved(hosted)
        {
            hosted.tracker.noteDue = schedule.nextNote(
                after: now, of: hosted.address, among: configuration.partitions)
        }
        guard let due = nextSave(of: hosted), due <= now, hosted.room != nil else { return }
        let holdsState = isStateDue(hosted, at: now)
        var stored = hosted.note
        if !holdsState { stored.sequence = hosted.tracker.savedSequence }
        hosted.isRecorded = true
        let state = hosted.withRoom { room in
            hosted.tracker.begin(
                stored, cursorChanges: room.cursorChanges, index: room.headIndex,
                holdsState: holdsState || !stored.hasState, settled: holdsState ? room.settledNumbers : [], at: now)
            return holdsState && stored.hasState ? SaveRequest.State.changed(room.checkpoint()) : .unchanged
        }
        output.save(
            SaveRequest(
                room: hosted.id, partition: hosted.partition, state: stored.hasState ? state ?? .unchanged : .none,
                stored: stored))
    }

    /// When something of the room has to be saved; nil for nothing.
    func nextSave(of hosted: HostedRoom) -> Instant? {
        guard let schedule = configuration.checkpoints, let index = hosted.room?.headIndex, !hosted.tracker.isSaving,
            isLive(hosted) || isClosing(hosted) || hosted.isLeaving, !hosted.isDiscarded, hosted.sequence > 0,
            hosted.hasState || hosted.isRecorded, !hosted.isOverLimit,
            // What has not been sent has not been released.
            hosted.unsent.isEmpty
        else { return nil }
        let retry =
            hosted.tracker.notedAt
            + hosted.tracker.pause(schedule.cursors, isHurried: isClosing(hosted) || hosted.isLeaving)
        if hosted.tracker.hasFailed { return hosted.tracker.firstUncovered != nil || hasMoved(hosted) ? retry : nil }
        guard hosted.tracker.firstUncovered == nil else {
            if isClosing(hosted) || hosted.isLeaving { return hosted.tracker.notedAt }
            // A room is stored from its first operation on, or when something has been pending in it for long.
            guard index > 0 || hosted.isRecorded else { return hosted.tracker.due(after: schedule.interval) }
            guard hosted.tracker.isNoted, hosted.hasState,
                index < hosted.tracker.savedIndex + UInt64(schedule.operations)
            else { return retry }
            let whole = max(retry, hosted.tracker.due(after: schedule.interval))
            return hasMoved(hosted) ? min(whole, hosted.tracker.noteDue ?? retry) : whole
        }
        guard hasMoved(hosted) else { return nil }
        let isFarAhead = hosted.withRoom { $0.mostUnsavedReleases >= schedule.releases } ?? false
        let isUrgent = isClosing(hosted) || hosted.isLeaving || isFarAhead
        return isUrgent ? hosted.tracker.notedAt : hosted.tracker.noteDue ?? retry
    }

    /// Whether the saved cursors are behind, or authors have been told of more.
    private func hasMoved(_ hosted: HostedRoom) -> Bool {
        guard let handled = hosted.tracker.noted?.handled else { return false }
        if handled != hosted.handled { return true }
        guard let changes = hosted.room?.cursorChanges else { return false }
        return hosted.tracker.cursorsHaveMoved(changes: changes) { hosted.cursors }
    }

    /// After a failure all of it: another host may have stored more meanwhile than this one's last state holds, which
    /// nobody would read any more.
    private func isStateDue(_ hosted: HostedRoom, at now: Instant) -> Bool {
        guard let schedule = configuration.checkpoints, let index = hosted.room?.headIndex else { return false }
        guard hosted.tracker.firstUncovered != nil else { return false }
        return isClosing(hosted) || hosted.isLeaving || !hosted.tracker.isNoted || hosted.tracker.hasFailed
            || !hosted.hasState
            || index >= hosted.tracker.savedIndex + UInt64(schedule.operations)
            || now >= hosted.tracker.due(after: schedule.interval)
    }
}

extension HostedRoom {
    /// The room as a successor has to know it.
    var note: StoredRoom {
        StoredRoom(
            sequence: sequence, handled: handled, cursors: cursors, isQuiet: room?.isQuiet ?? true,
            hasState: hasState, incarnation: incarnation, restorations: restorations,
            handledAt: handled == sequence ? loggedAt : nil)
    }
}
