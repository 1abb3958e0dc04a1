import HeapModule
import StrokeWire
import Whiteboard

/// The timers of rooms, at most one each: ``HostedRoom/wakesAt``.
///
/// An entry that is no longer valid stays in the heap until it comes up or the heap is cleaned: its time differs from
/// the room's. The heap holds at most twice as many entries as there are rooms.
struct TimerQueue {
    private struct Entry: Comparable {
        let at: Instant
        let room: RoomID
        static func < (left: Entry, right: Entry) -> Bool {
            left.at == right.at ? left.room < right.room : left.at < right.at
        }
    }

    private var heap = Heap<Entry>()
    /// Number of rooms with a timer.
    private var count = 0

    private static let slack = 64

    /// The time to wake up at; possibly too early, never too late.
    var earliest: Instant? { heap.min?.at }

    /// Sets the time of a room; nil for never.
    /// - Parameter rooms: all rooms.
    mutating func set(
        _ room: HostedRoom, to instant: Instant?, among rooms: [RoomID: HostedRoom]
    ) {
        guard room.wakesAt != instant else { return }
        count += (instant == nil ? 0 : 1) - (room.wakesAt == nil ? 0 : 1)
        room.wakesAt = instant
        guard let instant else { return removeInvalid(rooms) }
        heap.insert(Entry(at: instant, room: room.id))
        if heap.count > 2 * count + Self.slack {
            heap = Heap(rooms.values.compactMap { room in room.wakesAt.map { Entry(at: $0, room: room.id) } })
        }
    }

    /// Nobody is to wake up for a room that has no timer any more.
    private mutating func removeInvalid(_ rooms: [RoomID: HostedRoom]) {
        while let entry = heap.min, rooms[entry.room]?.wakesAt != entry.at { heap.removeMin() }
    }

    /// Takes out a room whose time has come.
    mutating func popDue(at now: Instant, among rooms: [RoomID: HostedRoom]) -> HostedRoom? {
        while let entry = heap.min, entry.at <= now {
            heap.removeMin()
            guard let room = rooms[entry.room], room.wakesAt == entry.at else { continue }
            room.wakesAt = nil
            count -= 1
            return room
        }
        return nil
    }
}
