public import StrokeWire

/// What is known of a room at a point of its log, and where its state is.
///
/// Its sequences are those of the partition's log.
public struct CheckpointManifest: Sendable, Equatable {
    /// The room's state as stored in parts.
    public struct State: Sendable, Equatable {
        /// Places of the parts in the checkpoint stream, in order.
        public var parts: [UInt64]
        /// Bytes of all parts together.
        public var bytes: Int
        /// FNV-1a (64 bit) of all bytes.
        public var hash: UInt64

        public init(parts: [UInt64], bytes: Int, hash: UInt64) {
            self.parts = parts
            self.bytes = bytes
            self.hash = hash
        }
    }

    public var room: RoomID
    /// The log that its sequences count, as `PartitionLog.incarnationPrefix` names it.
    public var log: String
    /// The life of the room.
    public var incarnation: String
    /// The state holds all records of the room up to here.
    public var sequence: UInt64
    /// Authors were told about all records of the room up to here.
    public var handled: UInt64
    /// The last index released to each cohort.
    public var cursors: [CohortName: UInt64]
    /// Only an input can make something happen in the room: it need not be brought back before one comes.
    public var isQuiet: Bool
    /// Nil when the room was closed: there is nothing to restore.
    public var state: State?

    public init(
        room: RoomID, log: String, incarnation: String, sequence: UInt64, handled: UInt64,
        cursors: [CohortName: UInt64], isQuiet: Bool, state: State?
    ) {
        self.room = room
        self.log = log
        self.incarnation = incarnation
        self.sequence = sequence
        self.handled = handled
        self.cursors = cursors
        self.isQuiet = isQuiet
        self.state = state
    }
}
