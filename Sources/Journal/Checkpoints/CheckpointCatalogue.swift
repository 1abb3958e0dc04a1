public import StrokeWire

/// What the checkpoints of a partition say.
public struct CheckpointCatalogue: Sendable, Equatable {
    /// The best usable manifest of each room.
    public var rooms: [RoomID: CheckpointManifest] = [:]
    /// Rooms of which a manifest is damaged that may have been a better one: whatever `covered` says, their records are
    /// wanted from its `sequence` on.
    public var outdated: [RoomID] = []
    /// Rooms that have manifests of which none can be used.
    public var damaged: [RoomID] = []
    /// Up to here all records of the partition's log are in checkpoints; 0 when nothing is known.
    public var covered: UInt64 = 0
    /// How many rooms have checkpoints of another log alone.
    public var foreign = 0

    public init() {}
}
