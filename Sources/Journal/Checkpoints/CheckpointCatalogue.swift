public import StrokeWire

/// What the checkpoints of a partition say.
public struct CheckpointCatalogue: Sendable, Equatable {
    /// The newest usable manifest of each room.
    public var rooms: [RoomID: CheckpointManifest] = [:]
    /// Rooms whose newest manifest is damaged, so that an older one counts: whatever `covered` says, their records are
    /// wanted from its `sequence` on.
    public var outdated: [RoomID] = []
    /// Rooms that have manifests of which none can be used.
    public var damaged: [RoomID] = []
    /// Up to here all records of the partition's log are in checkpoints; 0 when nothing is known.
    public var covered: UInt64 = 0

    public init() {}

    mutating func add(_ manifest: CheckpointManifest) {
        rooms[manifest.room] = manifest
        covered = max(covered, manifest.covered)
    }
}
