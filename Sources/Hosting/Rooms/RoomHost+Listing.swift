public import StrokeWire
import Whiteboard

/// What is there, for whoever wants to see it.
extension RoomHost {
    /// The names of all rooms, in memory or stored, in no order. Costs some nanoseconds a room.
    public var roomNames: [RoomID] {
        rooms.values.filter { $0.room?.isBlank != true }.map(\.id) + stored.names
    }

    /// What is known of a room without fetching it.
    public enum Known {
        case here(HostedRoom)
        case stored(StoredRoom)
    }

    /// - Returns: nil for a room that is being fetched, and for one of which there is nothing to tell.
    public func known(_ room: RoomID) -> Known? {
        if let hosted = rooms[room] { return hosted.room == nil ? nil : .here(hosted) }
        guard let state = stored[room], state.hasState else { return nil }
        return .stored(state)
    }
}
