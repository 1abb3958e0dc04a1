import StrokeWire
import Whiteboard

/// A room in the hands of its worker.
final class RoomSlot {
    let address: RoomAddress
    var room: Room
    /// Releases that could not be published; they go out first when the connection is back.
    var unsent: [RoomEffect] = []
    /// Held operations a cohort, as last told to the metrics.
    var reportedDepth: [CohortName: Int] = [:]
    /// Strokes under assembly, as last told to the metrics.
    var reportedAssembling = 0
    /// When something last happened in it.
    var lastUse: Instant

    init(address: RoomAddress, room: Room, at now: Instant) {
        self.address = address
        self.room = room
        lastUse = now
    }
}
