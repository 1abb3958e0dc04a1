public import StrokeWire
public import Whiteboard

/// What a host needs of the world. Called on the host's thread; must not call back into the host.
public protocol HostOutput: AnyObject {
    /// Publishes what a room asks for.
    /// - Returns: false where it could not be published for want of a connection.
    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool
    /// Asks the server whether it has received everything that was published; the answer is a call of `confirmed`.
    func confirm()
    /// Writes a decision to the journal. One that stands there twice counts once.
    /// - Returns: the record, where the journal has it at once; nil where it will come like every other record.
    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord?
    /// A room of a partition is new: whether one more may be stored. One that may is counted.
    func countNew(_ partition: Int) -> Bool
    /// So many rooms of a partition are stored, whether they may or not; fewer where it is negative.
    func countStored(_ change: Int, of partition: Int)
    /// Fetches the state of a stored room; the answer is a call of `restored`.
    func fetch(_ room: RoomID, _ stored: StoredRoom)
    /// Saves a room, when the server has received everything that was published before this call; the answer is a call
    /// of `saved`.
    func save(_ request: SaveRequest)
    /// A room was looked at: what it counted, and where it stands now.
    func settled(_ room: HostedRoom, _ counts: RoomCounts)
    /// A room is there; what was asked about it can be answered.
    func opened(_ room: HostedRoom)
    /// A room is no longer in memory.
    func left(_ room: HostedRoom)
    /// What was stored of a room has gone by its age.
    func forgotten(_ room: RoomID)
    /// Everything of a partition's journal has been folded in, and every room that holds something is in memory.
    func ready(_ partition: Int)
    /// Everything of a partition was saved, and its rooms have left memory.
    func closed(_ partition: Int)
}

/// What is known of a room that is not in memory.
public struct StoredRoom: Sendable, Equatable {
    /// The state that is stored holds all of the room's records at or before it.
    public var sequence: UInt64
    /// Its authors were told about all records at or before it.
    public var handled: UInt64
    /// Where each cohort stands.
    public var cursors: [CohortName: CohortCursor]
    /// Whether only an input can make something happen in it.
    public var isQuiet: Bool
    /// Whether there is a state; a room that was closed has none.
    public var hasState: Bool
    /// Names its life, empty after it was closed.
    public var incarnation: String

    public init(
        sequence: UInt64, handled: UInt64, cursors: [CohortName: CohortCursor], isQuiet: Bool, hasState: Bool,
        incarnation: String
    ) {
        self.sequence = sequence
        self.handled = handled
        self.cursors = cursors
        self.isQuiet = isQuiet
        self.hasState = hasState
        self.incarnation = incarnation
    }
}

/// What is to be saved of a room.
public struct SaveRequest: Sendable {
    public enum State: Sendable {
        /// The state saved last still stands: only the cursors moved.
        case unchanged
        case changed(RoomCheckpoint)
        /// The room was closed.
        case none
    }

    public let room: RoomID
    public let partition: Int
    public let state: State
    /// What a successor has to know of the room.
    public let stored: StoredRoom
}
