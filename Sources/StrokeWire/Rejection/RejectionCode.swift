/// Why a message was not accepted. The raw value is what goes over the wire.
public enum RejectionCode: String, Sendable, CaseIterable {
    case notJSON = "not-json"
    case missingField = "missing-field"
    case wrongType = "wrong-type"
    case outOfRange = "out-of-range"
    case unknownElement = "unknown-element"
    case unknownAction = "unknown-action"
    case tooLarge = "too-large"
    case tooManyPoints = "too-many-points"
    case tooManyShards = "too-many-shards"
    case tooManyPending = "too-many-pending"
    case shardConflict = "shard-conflict"
    case tooLate = "too-late"
    case nothingToUndo = "nothing-to-undo"
    case nothingToRedo = "nothing-to-redo"
    case roomFull = "room-full"
    case rateLimited = "rate-limited"
}
