public import StrokeWire
public import Whiteboard

/// A room of a host, with everything the host keeps beside its state. Used as its host: by one thread at a time.
public final class HostedRoom {
    public let address: RoomAddress
    /// What the output keeps with the room, as long as the room is in memory. The host does not look at it.
    public var outputState: AnyObject?
    /// The room; nil until it has a place in memory and was loaded.
    public internal(set) var room: Room?
    /// Whether it is among the host's rooms.
    var isRegistered = false
    /// Its stored form, until it is loaded.
    var origin: StoredRooms.Entry?
    /// Whether a fetch is under way.
    var isFetching = false
    /// Whether its part of the journal has left anything that a successor must know.
    var hasState = false
    /// Whether something may be stored of it.
    var isRecorded = false
    /// Whether it counts among the rooms that may be stored.
    var isCounted = false
    /// Whether it is beyond the limit of stored rooms. Nothing is said of what it applies until the journal says that it is
    /// closed.
    var isOverLimit = false
    /// When the journal was last asked to say so.
    var refusalAskedAt: Instant?
    /// Whether it leaves memory without being saved.
    var isDiscarded = false
    var waiting: [JournalRecord] = []
    var waitingBytes = 0
    /// Sequence of the last record folded in.
    var sequence: UInt64 = 0
    /// When that record was logged, by the log's clock; nil where this host has not seen it.
    var loggedAt: Instant?
    /// How often the room was restored after its log had lost its end.
    var restorations: UInt32 = 0
    /// Authors were told about records through this one by whoever had the room before.
    var toldThrough: UInt64 = 0
    /// Where the cohorts stood when the room was last saved; they go on from there when all records are folded in.
    var cursorsToRestore: [CohortName: CohortCursor] = [:]
    /// Names the life in which they stood there.
    var lifeToRestore = ""
    /// The sequence of the decision by which it is being fetched, because the log has lost its end.
    var restoringDecision: UInt64?
    var tracker: CheckpointTracker
    /// What could not be published and would not be said again; it goes out first when the connection is back.
    var unsent: [RoomEffect] = []
    /// What was published and may still be lost with the connection.
    var unconfirmed = UnconfirmedEffects()
    /// Whether it has one of the places that there are in memory.
    var hasPlace = false
    /// Whether it is being saved to give its place to another. What comes for it meanwhile waits until it is back.
    var isLeaving = false
    /// Whether a clock was heard of it.
    var hasClock = false
    /// The last samples of clocks that were heard while it was not there.
    var samples: [IncomingSample] = []
    /// Where a cohort has paused: since when the wait of what is held counts at the earliest while no clock is heard.
    var waitsFrom: Instant?
    /// When something last came in for it.
    var lastUse: Instant
    /// When its timer is due, which the ``TimerQueue`` sets.
    var wakesAt: Instant?
    /// Whether it is among the host's unconfirmed rooms.
    var isUnconfirmed = false
    /// It leaves no earlier to make place for another.
    var staysUntil = Instant.distantPast
    var eviction = EvictionOrder.Entry()
    /// Updates of strokes being drawn that came while it was not there.
    var wetUpdates: [IncomingWetUpdate] = []
    /// Bytes of strokes that grow, as they were last counted, or of these updates.
    var wetBytes = 0

    init(_ address: RoomAddress, at now: Instant) {
        self.address = address
        lastUse = now
        tracker = CheckpointTracker(at: now)
    }

    public var id: RoomID { address.room }
    /// The partition whose journal it is made from.
    public var partition: Int { address.partition }

    /// Names the room's life, empty before its first message.
    public var incarnation: String { room?.incarnation ?? "" }

    /// Lends the room, if it is there. To be read where that takes a method of its own: a property of a class is copied
    /// for a method that does not change it, and the copy of a room costs more than what most of them do.
    public func withRoom<Result>(_ body: (inout Room) -> Result) -> Result? {
        if room != nil { body(&room!) } else { nil }
    }

    /// R of each cohort: where it stands, or stood when the room was saved.
    var cursors: [CohortName: CohortCursor] {
        let cursors = withRoom { $0.cursors } ?? [:]
        guard !cursorsToRestore.isEmpty else { return cursors }
        return cursors.merging(cursorsToRestore) { $0.released > $1.released ? $0 : $1 }
    }

    /// Authors have been told about all records through this one.
    var handled: UInt64 { max(sequence, toldThrough) }

    var isWaking: Bool { room == nil }

    /// Every record of the room at or before it is in an acknowledged checkpoint, nil where all are.
    var coveredThrough: UInt64? {
        let first = tracker.firstUncovered ?? waiting.first?.sequence
        return first.map { $0 - 1 }
    }
}

/// A sample of a cohort's video clock, not yet judged.
public struct IncomingSample: Sendable {
    public let room: RoomID
    public let partition: Int
    public let cohort: CohortName
    public let bytes: [UInt8]
    /// When it came to this process: the video has gone on from then.
    public let arrivedAt: Instant

    public init(room: RoomID, partition: Int, cohort: CohortName, bytes: [UInt8], arrivedAt: Instant) {
        self.room = room
        self.partition = partition
        self.cohort = cohort
        self.bytes = bytes
        self.arrivedAt = arrivedAt
    }
}
