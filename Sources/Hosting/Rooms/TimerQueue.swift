import HeapModule
import StrokeWire
import Whiteboard

/// The timers of rooms, at most one each.
///
/// An entry that is no longer valid stays in the heap until it comes up or the heap is cleaned: its time differs from
/// that in `wanted`. The heap holds at most twice as many entries as there are rooms.
struct TimerQueue {
    private struct Entry: Comparable {
        let at: Instant
        let room: RoomID
        static func < (left: Entry, right: Entry) -> Bool {
            left.at == right.at ? left.room < right.room : left.at < right.at
        }
    }

    private var heap = Heap<Entry>()
    private var wanted: [RoomID: Instant] = [:]

    private static let slack = 64

    /// The time to wake up at; possibly too early, never too late.
    var earliest: Instant? { heap.min?.at }

    /// Sets the time of a room; nil for never.
    mutating func set(_ room: RoomID, to instant: Instant?) {
        guard wanted[room] != instant else { return }
        wanted[room] = instant
        guard let instant else { return }
        heap.insert(Entry(at: instant, room: room))
        if heap.count > 2 * wanted.count + Self.slack {
            heap = Heap(wanted.map { Entry(at: $0.value, room: $0.key) })
        }
    }

    /// Takes out a room whose time has come.
    mutating func popDue(at now: Instant) -> RoomID? {
        while let entry = heap.min, entry.at <= now {
            heap.removeMin()
            if wanted[entry.room] == entry.at {
                wanted[entry.room] = nil
                return entry.room
            }
        }
        return nil
    }
}
