import StrokeWire
import Whiteboard

/// What of a room has been saved, and what has not.
struct CheckpointTracker {
    /// The first record that the saved state does not hold.
    private(set) var firstUncovered: UInt64?
    /// When that record was folded in.
    private(set) var uncoveredSince: Instant
    /// The room's index when its state was last saved.
    private(set) var savedIndex: UInt64 = 0
    /// Sequence that the saved state is of.
    private(set) var savedSequence: UInt64 = 0
    /// What a successor would know now.
    private(set) var noted: StoredRoom?
    /// Whether the room's cursors are known not to be those that were noted.
    private var haveCursorsMoved = false
    /// The room's ``Room/cursorChanges`` when its cursors were last compared with those, or noted; nil for never.
    private var comparedChanges: UInt64?
    private(set) var notedAt: Instant
    /// How many attempts have failed since the last that did not.
    private var failures = 0
    private var pending: Pending?

    private struct Pending {
        let stored: StoredRoom
        let cursorChanges: UInt64
        let index: UInt64
        let holdsState: Bool
        /// The first record folded in since.
        var firstAfter: UInt64?
        var firstAfterAt: Instant
    }

    init(at now: Instant) {
        uncoveredSince = now
        notedAt = now
    }

    /// The room has come from a saved state.
    init(restored stored: StoredRoom, index: UInt64, at now: Instant) {
        self.init(at: now)
        savedIndex = index
        savedSequence = stored.sequence
        noted = stored
    }

    var isSaving: Bool { pending != nil }

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

    /// Whatever was in the way may be gone: the next attempt is made soon.
    mutating func hurry() {
        failures = min(failures, 1)
    }

    /// A record was folded in.
    mutating func note(_ sequence: UInt64, at now: Instant) {
        if firstUncovered == nil {
            firstUncovered = sequence
            uncoveredSince = now
        }
        if pending != nil, pending?.firstAfter == nil {
            pending?.firstAfter = sequence
            pending?.firstAfterAt = now
        }
    }

    /// The room's index begins at 0 again.
    mutating func beginLife() {
        savedIndex = 0
    }

    /// Whether the room's cursors are not those that a successor would know. They are compared only when they may have
    /// changed, and no more once they have: the cost of an input is not to grow with the number of cohorts.
    /// - Parameter changes: the room's ``Room/cursorChanges``.
    mutating func cursorsHaveMoved(changes: UInt64, _ cursors: () -> [CohortName: CohortCursor]) -> Bool {
        guard !haveCursorsMoved, changes != comparedChanges, let noted else { return haveCursorsMoved }
        comparedChanges = changes
        haveCursorsMoved = noted.cursors != cursors()
        return haveCursorsMoved
    }

    /// - Parameter cursorChanges: the room's ``Room/cursorChanges`` when its cursors were noted in `stored`.
    mutating func begin(
        _ stored: StoredRoom, cursorChanges: UInt64, index: UInt64, holdsState: Bool, at now: Instant
    ) {
        pending = Pending(
            stored: stored, cursorChanges: cursorChanges, index: index, holdsState: holdsState, firstAfter: nil,
            firstAfterAt: now)
        notedAt = now
    }

    /// What was begun has been acknowledged, or has failed and has to be done again.
    mutating func end(isSaved: Bool) {
        guard let done = pending else { return }
        pending = nil
        failures = isSaved ? 0 : failures + 1
        guard isSaved else { return }
        noted = done.stored
        haveCursorsMoved = false
        comparedChanges = done.cursorChanges
        guard done.holdsState else { return }
        savedIndex = done.index
        savedSequence = done.stored.sequence
        firstUncovered = done.firstAfter
        uncoveredSince = done.firstAfterAt
    }
}
