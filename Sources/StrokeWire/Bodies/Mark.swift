/// Where a cohort stands, said again and again, so that the loss of the last operation shows.
public struct Mark: Sendable, Hashable {
    /// Incarnation of the room.
    public var room: String
    /// Index of the last operation released to the cohort.
    public var index: UInt64
    /// Digest of the board at `index`.
    public var digest: BoardDigest
    /// The cohort's video time, nil while unknown.
    public var video: MediaTime?

    public init(room: String, index: UInt64, digest: BoardDigest, video: MediaTime?) {
        self.room = room
        self.index = index
        self.digest = digest
        self.video = video
    }
}
