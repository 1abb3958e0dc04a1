public import StrokeWire
public import Whiteboard

/// The effects of a host: publishing, the journal, storage. Called on the host's thread; must not call back into it.
public protocol HostOutput: AnyObject {
    /// Publishes an effect of a room.
    /// - Returns: false where it could not be published for want of a connection.
    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool
    /// Asks the server to confirm everything published so far; answered by `confirmed`.
    func confirm()
    /// Appends a decision to the journal. A decision that stands there twice takes effect once.
    /// - Returns: the record, where the journal has it at once; nil where it will come like every other record.
    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord?
    /// Counts a new room of a partition.
    /// - Returns: false if the partition stores as many rooms as it may; then it is not counted.
    func countNew(_ partition: Int) -> Bool
    /// Changes the number of a partition's stored rooms, whatever the limit.
    func countStored(_ change: Int, of partition: Int)
    /// Fetches the state of a stored room; answered by `restored`.
    /// - Parameter restoration: by which decision, where `stored` is none that was saved: the state is the one that this names,
    ///   with the room's records before the decision, unless a state that is newer than the decision is stored.
    func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?)
    /// Saves a room once the server has received everything published before this call; answered by `saved` or
    /// `superseded`.
    func save(_ request: SaveRequest)
    /// Reports what a room has counted since the last call.
    func settled(_ room: HostedRoom, _ counts: RoomCounts)
    /// Counts an update of a stroke being drawn that came to no room.
    func count(_ outcome: WetOutcome)
    /// A room was loaded; requests about it can be answered.
    func opened(_ room: HostedRoom)
    /// A room is no longer in memory. What it has asked for is not awaited any more: an answer must not come, for the room may
    /// be back and have asked for something else.
    func left(_ room: HostedRoom)
    /// The checkpoint of a room has expired.
    func forgotten(_ room: RoomID)
    /// Everything of a partition's journal has been folded in, and every room that holds something is in memory.
    func ready(_ partition: Int)
    /// The rooms of a partition have left memory.
    /// - Parameter isWhole: whether every record that the host was given is saved.
    func closed(_ partition: Int, isWhole: Bool)
}

/// A stored room: the data beside its checkpoint that are known without reading the checkpoint.
public struct StoredRoom: Sendable, Equatable {
    /// The state that is stored holds all of the room's records at or before it.
    public var sequence: UInt64
    /// Its authors were told about all records at or before it.
    public var handled: UInt64
    /// Where each cohort stands.
    public var cursors: [CohortName: CohortCursor]
    /// Whether nothing happens in it without an input.
    public var isQuiet: Bool
    /// Whether there is a state; a room that was closed has none.
    public var hasState: Bool
    /// Names its life, empty after it was closed.
    public var incarnation: String
    /// How often it was restored after its log had lost its end. Sequences of rooms that were restored more often are of a
    /// newer log.
    public var restorations: UInt32
    /// When the record `handled` was logged, by the log's clock; nil where that is not known.
    public var handledAt: Instant?

    public init(
        sequence: UInt64, handled: UInt64, cursors: [CohortName: CohortCursor], isQuiet: Bool, hasState: Bool,
        incarnation: String, restorations: UInt32 = 0, handledAt: Instant? = nil
    ) {
        self.sequence = sequence
        self.handled = handled
        self.cursors = cursors
        self.isQuiet = isQuiet
        self.hasState = hasState
        self.incarnation = incarnation
        self.restorations = restorations
        self.handledAt = handledAt
    }

    /// Whether these cursors say the same as those of the room.
    func hasCursors(_ others: [CohortName: CohortCursor]) -> Bool {
        cursors.count == others.count && cursors.allSatisfy { others[$0.key]?.isSame(as: $0.value) ?? false }
    }
}

/// A checkpoint or cursor note to be stored.
public struct SaveRequest: Sendable {
    /// The state of the room that is stored with its cursors.
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
    /// The room as a successor has to know it.
    public let stored: StoredRoom
}
