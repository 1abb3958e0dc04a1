import StrokeWire
import Whiteboard

/// Requests about rooms that are being fetched, or whose partition is being recovered. Bounded in number; beyond, the
/// newcomer is refused. One that has waited longer than any client does is let go of.
struct WaitingRequests {
    /// A request that has not been answered yet.
    struct Entry {
        let request: RoomRequest
        /// When it came. It may be taken and have to wait again, several times.
        let since: Instant
    }

    private let limit: Int
    private var entries: [RoomID: [Entry]] = [:]
    private var count = 0

    private static let patience = Duration.seconds(5)

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether there was place for it.
    mutating func add(_ entry: Entry) -> Bool {
        guard count < limit else { return false }
        count += 1
        entries[entry.request.address.room, default: []].append(entry)
        return true
    }

    /// Takes out what waits for a room.
    mutating func take(_ room: RoomID, at now: Instant) -> [Entry] {
        guard let waiting = entries.removeValue(forKey: room) else { return [] }
        count -= waiting.count
        return waiting.filter { now - $0.since < Self.patience }
    }

    var rooms: [RoomID] { Array(entries.keys) }

    func rooms(of partition: Int) -> [RoomID] {
        entries.compactMap { $1.first?.request.address.partition == partition ? $0 : nil }
    }
}
