public import StrokeWire
public import Whiteboard

/// The part of a saved room that changes every second: the cohorts' cursors, and the last record whose feedback was published.
///
/// A note is a fact about an incarnation of the room: what it says was published and told. So of several notes each may be behind
/// others, and none is ever wrong; together they say what the farthest of them say.
public struct CursorNote: Sendable, Equatable {
    /// The room.
    public var room: RoomID
    /// The incarnation that it is about.
    public var incarnation: String
    /// How often the room was restored after the log had lost its end: `handled` counts from there.
    public var restorations: UInt32
    /// The feedback to authors was published for all records of the room up to this one.
    public var handled: UInt64
    /// When the record `handled` was logged; nil where it is not known.
    public var handledAt: Instant?
    /// The position of each cohort.
    public var cursors: [CohortName: CohortCursor]
    /// Whether nothing happens in the room without an input.
    public var isQuiet: Bool

    public init(
        room: RoomID, incarnation: String, restorations: UInt32 = 0, handled: UInt64, handledAt: Instant? = nil,
        cursors: [CohortName: CohortCursor], isQuiet: Bool
    ) {
        self.room = room
        self.incarnation = incarnation
        self.restorations = restorations
        self.handled = handled
        self.handledAt = handledAt
        self.cursors = cursors
        self.isQuiet = isQuiet
    }

    /// What a save says beside the state.
    public init(_ request: SaveRequest) {
        let stored = request.stored
        self.init(
            room: request.room, incarnation: stored.incarnation, restorations: stored.restorations,
            handled: stored.handled, handledAt: stored.handledAt, cursors: stored.cursors, isQuiet: stored.isQuiet)
    }

    /// What a manifest says beside its states.
    public init(_ manifest: CheckpointManifest) {
        self.init(
            room: manifest.room, incarnation: manifest.incarnation, restorations: manifest.restorations,
            handled: manifest.handled, handledAt: manifest.handledAt, cursors: manifest.cursors,
            isQuiet: manifest.isQuiet)
    }

    /// Merges another note of the room. A note of a later incarnation, which has more records, replaces this one.
    public mutating func join(_ other: CursorNote) {
        guard (restorations, incarnation) == (other.restorations, other.incarnation) else {
            if (restorations, handled) < (other.restorations, other.handled) { self = other }
            return
        }
        let mine = self
        for (name, cursor) in other.cursors {
            cursors[name] =
                mine.cursors[name]?.joined(
                    with: cursor, isLater: other.handled > handled, isEarlier: other.handled < handled) ?? cursor
        }
        if other.handled > handled {
            (handled, handledAt) = (other.handled, other.handledAt)
        } else if other.handled == handled {
            handledAt = handledAt ?? other.handledAt
        }
        // In doubt something happens in it: then it is looked at.
        switch (isAt(mine), isAt(other)) {
        case (true, false): break
        case (false, true): isQuiet = other.isQuiet
        default: isQuiet = mine.isQuiet && other.isQuiet
        }
    }

    private func isAt(_ other: CursorNote) -> Bool { handled == other.handled && cursors == other.cursors }

    /// At least as many bytes as it takes in a record.
    var bytes: Int {
        cursors.keys.reduce(200 + room.text.utf8.count + incarnation.utf8.count) { $0 + 4 * $1.text.utf8.count + 180 }
    }
}

extension CohortCursor {
    /// The cursor that is farther.
    /// - Parameters:
    ///   - isLater: whether the other is known to be the later one where both have released as much.
    ///   - isEarlier: whether it is known to be the earlier one.
    fileprivate func joined(with other: CohortCursor, isLater: Bool, isEarlier: Bool) -> CohortCursor {
        let isBehind = released == other.released ? isLater || waitedLess(than: other) : released < other.released
        var farther = isBehind ? other : self
        if hasVideo == true || other.hasVideo == true { farther.hasVideo = true }
        // A clock that has gone back is not to be taken for one that has begun anew.
        if !isLater, !isEarlier, released == other.released, !waitedLess(than: other), !other.waitedLess(than: self),
            let clock, let theirs = other.clock
        {
            farther.clock = theirs.media < clock.media ? theirs : clock
        }
        return farther
    }

    /// Pauses of the operation after R grow with time.
    private func waitedLess(than other: CohortCursor) -> Bool {
        let since = (pausedSince?.nanoseconds ?? .min, other.pausedSince?.nanoseconds ?? .min)
        let epochs = (clock?.epoch ?? .min, other.clock?.epoch ?? .min)
        return (pausedTime, since.0, epochs.0) < (other.pausedTime, since.1, epochs.1)
    }
}

extension CheckpointManifest {
    /// Takes what a note of the room has beyond it. A note counts for rooms that were restored as often: of others the state is
    /// another one.
    /// - Returns: whether it has taken something.
    @discardableResult
    public mutating func learn(_ note: CursorNote) -> Bool {
        guard note.room == room, note.restorations == restorations else { return false }
        var known = CursorNote(self)
        let before = known
        known.join(note)
        guard known != before else { return false }
        (incarnation, handled, handledAt) = (known.incarnation, known.handled, known.handledAt)
        (cursors, isQuiet) = (known.cursors, known.isQuiet)
        return true
    }

    /// Whether a note says nothing that it does not say.
    public func knows(_ note: CursorNote) -> Bool {
        var copy = self
        return note.restorations <= restorations && !copy.learn(note)
    }
}

/// The notes of a partition that no manifest has yet, in the records in which they are written: all that have changed in a
/// second with one request.
///
/// A record takes the place of the one before it on its subject. So each record has all notes of its ``slot``, the changed and the
/// others. A note leaves it when a stored manifest of its room says as much, and not before: at every moment what was
/// acknowledged last of a room is in its manifest or in the newest record of a slot. Whoever opens the partition reads those
/// records, and goes on with their notes. Those that stay long come into manifests, so that a record holds rooms in use alone.
///
/// Has as many bytes of notes in records as these have space for, and as many again that other daemons have noted and records
/// have no space for. A note beyond that is left in the record that has it: from then on this value writes no record of the
/// partition, which would push that one out of the stream, and its own notes go to manifests.
public struct CursorNotes: Sendable {
    private struct Entry {
        var note: CursorNote
        let slot: Int
        let bytes: Int
        /// Since when it has been here.
        var since: Instant
    }

    private struct Slot {
        var bytes = 0
        var rooms: Set<RoomID> = []
        /// Whether its last record lacks something.
        var isChanged = false
    }

    /// A note of another daemon that records have no space for.
    private struct Refused {
        var note: CursorNote
        /// When it was last named by ``takeOld(_:atMost:at:)``.
        var namedAt = Instant.distantPast
    }

    /// The most records of a partition.
    public static let mostSlots = 16
    /// How soon a note that no record has is named again.
    public static let refusedPause = Duration.seconds(5)
    private let slotBytes: Int
    private var entries: [RoomID: Entry] = [:]
    private var slots: [Slot] = []
    private var refused: [RoomID: Refused] = [:]
    private var refusedBytes = 0
    /// Whether records may be written: false once a note of another daemon was left where it is.
    public private(set) var mayWrite = true

    /// - Parameter slotBytes: bytes of a record, at most.
    public init(slotBytes: Int) {
        self.slotBytes = slotBytes
    }

    /// Takes a note, joined with what is there of the room.
    /// - Returns: false where there is no space, or no record may be written, and nothing was taken: it has to be written to the
    ///   room's manifest.
    public mutating func put(_ note: CursorNote, at now: Instant) -> Bool {
        guard mayWrite else { return false }
        var note = note
        let known = entries[note.room]
        if let known {
            var joined = known.note
            joined.join(note)
            guard joined != known.note else { return true }
            note = joined
        }
        let bytes = note.bytes
        // It stays in its slot: the record of another might be written later than one without it.
        if let known {
            guard slots[known.slot].bytes - known.bytes + bytes <= slotBytes else { return false }
            entries[note.room] = Entry(note: note, slot: known.slot, bytes: bytes, since: known.since)
            slots[known.slot].bytes += bytes - known.bytes
            slots[known.slot].isChanged = true
            return true
        }
        guard let slot = slots.firstIndex(where: { $0.bytes + bytes <= slotBytes }) ?? newSlot(for: bytes) else {
            return false
        }
        insert(Entry(note: note, slot: slot, bytes: bytes, since: now))
        return true
    }

    /// Takes a note of another daemon. One that records have no space for is named with the old ones until a manifest says as
    /// much.
    /// - Returns: false where there is no space for it at all: it has to stay in the record that has it.
    @discardableResult
    public mutating func inherit(_ note: CursorNote, at now: Instant) -> Bool {
        if put(note, at: now) { return true }
        let before = refused[note.room]
        var after = before ?? Refused(note: note)
        after.note.join(note)
        let bytes = refusedBytes - (before?.note.bytes ?? 0) + after.note.bytes
        guard bytes <= Self.mostSlots * slotBytes else {
            mayWrite = false
            return false
        }
        (refused[note.room], refusedBytes) = (after, bytes)
        return true
    }

    private mutating func newSlot(for bytes: Int) -> Int? {
        guard slots.count < Self.mostSlots, bytes <= slotBytes else { return nil }
        slots.append(Slot())
        return slots.count - 1
    }

    private mutating func insert(_ entry: Entry) {
        entries[entry.note.room] = entry
        slots[entry.slot].bytes += entry.bytes
        slots[entry.slot].rooms.insert(entry.note.room)
        slots[entry.slot].isChanged = true
    }

    private mutating func remove(_ room: RoomID) {
        guard let entry = entries.removeValue(forKey: room) else { return }
        slots[entry.slot].bytes -= entry.bytes
        slots[entry.slot].rooms.remove(room)
    }

    /// A manifest is stored: the note of its room goes, if it says no more. The next record does without it.
    public mutating func stored(_ manifest: CheckpointManifest) {
        if let note = entries[manifest.room]?.note, manifest.knows(note) { remove(manifest.room) }
        if let note = refused[manifest.room]?.note, manifest.knows(note) {
            refused[manifest.room] = nil
            refusedBytes -= note.bytes
        }
    }

    /// The slots whose records lack something, in the order in which they are to be written: none where records are not
    /// written. They count as written.
    public mutating func takeChanged() -> [Int] {
        guard mayWrite else { return [] }
        let changed = slots.indices.filter { slots[$0].isChanged }
        for slot in changed { slots[slot].isChanged = false }
        return changed
    }

    /// A record was not written after all.
    public mutating func setChanged(_ slot: Int) { slots[slot].isChanged = true }

    /// What the record of a slot holds.
    public func notes(in slot: Int) -> [CursorNote] {
        slots[slot].rooms.sorted().compactMap { entries[$0]?.note }
    }

    /// The note of a room that its manifest may lack.
    public subscript(room: RoomID) -> CursorNote? {
        let refused = refused[room]?.note
        guard var note = entries[room]?.note ?? refused else { return nil }
        if let refused { note.join(refused) }
        return note
    }

    /// Notes that have been here for so long, to be written to the manifests of their rooms; each comes once in that time. Those
    /// that no record has come at once, and each ``refusedPause``.
    /// - Parameter count: of the rooms named. What is left comes with the next call.
    public mutating func takeOld(_ age: Duration, atMost count: Int, at now: Instant) -> [CursorNote] {
        let pause = min(age, Self.refusedPause)
        var rooms = Set(refused.lazy.filter { now - $0.value.namedAt >= pause }.map(\.key).prefix(count))
        rooms.formUnion(
            entries.lazy.filter { now - $0.value.since >= age }.map(\.key).prefix(count - rooms.count))
        for room in rooms {
            entries[room]?.since = now
            refused[room]?.namedAt = now
        }
        return rooms.sorted().compactMap { self[$0] }
    }
}
