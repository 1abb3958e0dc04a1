import StrokeWire
import Whiteboard

/// The rooms of a host that are not in memory, each until its checkpoint has gone by its age.
struct StoredRooms {
    private var states: [RoomID: StoredRoom] = [:]
    private var ends = WakeQueue()

    subscript(room: RoomID) -> StoredRoom? { states[room] }

    var names: Dictionary<RoomID, StoredRoom>.Keys { states.keys }

    /// - Parameter end: nothing is stored of the room any more from then on; nil for never.
    mutating func put(_ state: StoredRoom, of room: RoomID, until end: Instant?) {
        states[room] = state
        ends.set(room, to: end)
    }

    mutating func take(_ room: RoomID) -> StoredRoom? {
        ends.set(room, to: nil)
        return states.removeValue(forKey: room)
    }

    func names(where isWanted: (RoomID, StoredRoom) -> Bool) -> [RoomID] {
        states.filter { isWanted($0.key, $0.value) }.keys.sorted()
    }

    /// When `takeGone` has something to take; possibly too early, never too late.
    var nextEnd: Instant? { ends.earliest }

    /// Takes out a room of which nothing is stored any more.
    mutating func takeGone(at now: Instant) -> RoomID? {
        guard let room = ends.popDue(at: now) else { return nil }
        states[room] = nil
        return room
    }
}
