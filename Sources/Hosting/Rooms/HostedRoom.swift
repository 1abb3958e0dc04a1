public import StrokeWire
public import Whiteboard

/// A room in the hands of its host. Confined to the host's thread.
public final class HostedRoom {
    public let address: RoomAddress
    /// The room, nil while it is fetched or asleep.
    public internal(set) var room: Room?
    /// Its state while it sleeps in memory, where there is no other place for it.
    var asleep: [UInt8]?
    /// Whether its part of the journal has left anything that a successor must know: false before the first record of
    /// its life, and after it was closed. A room that nobody has written to may have epochs.
    var hasState = false
    /// Whether it is let go of without being saved.
    var isVoid = false
    /// Records that wait until the room has been fetched.
    var waiting: [JournalRecord] = []
    /// Sequence of the last record folded in.
    var sequence: UInt64 = 0
    /// Authors were told about records through this one by whoever had the room before.
    var toldThrough: UInt64 = 0
    /// Where the cohorts stood when the room was last saved; they go on from there when all records are folded in.
    var cursorsToRestore: [CohortName: UInt64] = [:]
    var savings: Savings
    /// What could not be published and would not be said again; it goes out first when the connection is back.
    var unsent: [RoomEffect] = []
    /// Whether it counts among the rooms there may be in memory.
    let hasPlace: Bool
    /// When something last came in for it.
    var lastUse: Instant

    init(_ address: RoomAddress, hasPlace: Bool, at now: Instant) {
        self.hasPlace = hasPlace
        self.address = address
        lastUse = now
        savings = Savings(at: now)
    }

    public var id: RoomID { address.room }
    /// The partition whose journal it is made from.
    public var partition: Int { address.partition }

    /// Names the room's life, empty before its first message.
    public var incarnation: String { room?.incarnation ?? "" }

    var isWaking: Bool { room == nil && asleep == nil }

    /// Every record of the room at or before it is in an acknowledged checkpoint, nil where all are.
    var coveredThrough: UInt64? {
        let first = savings.firstUncovered ?? waiting.first?.sequence
        return first.map { $0 - 1 }
    }
}
