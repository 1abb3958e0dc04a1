public import StrokeWire
public import Whiteboard

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
