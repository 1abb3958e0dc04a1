/// A partition's log as it stands.
public struct PartitionLog: Sendable, Equatable {
    /// Begins the names of the lives of its rooms: the stream's time of creation, nanoseconds since 1970 in base 36
    /// (subjects.md, "Incarnation").
    public let incarnationPrefix: String
    /// The oldest record; `lastSequence + 1`, or 0 in a new stream, when there is none.
    public let firstSequence: UInt64
    /// The newest record; 0 before the first.
    public let lastSequence: UInt64
    /// How long the stream of checkpoints keeps one, as it was made; nil for ever.
    public let checkpointLifetime: Duration?
}
