import HeapModule
import StrokeWire
import Whiteboard

/// When which room wants to be woken; one time a room.
///
/// A room's earlier wishes stay in the heap until they come up or the heap is cleaned; they are told by the time in
/// `wanted`. At most twice as many wishes as rooms lie in the heap.
struct WakeQueue {
    private struct Wish: Comparable {
        let at: Instant
        let room: RoomID
        static func < (left: Wish, right: Wish) -> Bool {
            left.at == right.at ? left.room < right.room : left.at < right.at
        }
    }

    private var heap = Heap<Wish>()
    private var wanted: [RoomID: Instant] = [:]

    private static let slack = 64

    /// The time to wake up at; possibly too early, never too late.
    var earliest: Instant? { heap.min?.at }

    /// Sets the time of a room; nil for never.
    mutating func set(_ room: RoomID, to instant: Instant?) {
        guard wanted[room] != instant else { return }
        wanted[room] = instant
        guard let instant else { return }
        heap.insert(Wish(at: instant, room: room))
        if heap.count > 2 * wanted.count + Self.slack {
            heap = Heap(wanted.map { Wish(at: $0.value, room: $0.key) })
        }
    }

    /// Takes out a room whose time has come.
    mutating func popDue(at now: Instant) -> RoomID? {
        while let wish = heap.min, wish.at <= now {
            heap.removeMin()
            if wanted[wish.room] == wish.at {
                wanted[wish.room] = nil
                return wish.room
            }
        }
        return nil
    }
}
