import StrokeWire
import Whiteboard

/// What of a room has been saved, and what has not.
struct Savings {
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
    private(set) var notedAt: Instant
    /// Whether the last attempt has failed.
    private(set) var hasFailed = false
    private var pending: Pending?

    private struct Pending {
        let stored: StoredRoom
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

    mutating func begin(_ stored: StoredRoom, index: UInt64, holdsState: Bool, at now: Instant) {
        pending = Pending(stored: stored, index: index, holdsState: holdsState, firstAfter: nil, firstAfterAt: now)
        notedAt = now
    }

    /// What was begun has been acknowledged, or has failed and has to be done again.
    mutating func end(isSaved: Bool) {
        guard let done = pending else { return }
        pending = nil
        hasFailed = !isSaved
        guard isSaved else { return }
        noted = done.stored
        guard done.holdsState else { return }
        savedIndex = done.index
        savedSequence = done.stored.sequence
        firstUncovered = done.firstAfter
        uncoveredSince = done.firstAfterAt
    }
}
