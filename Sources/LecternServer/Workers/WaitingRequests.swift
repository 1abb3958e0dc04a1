import StrokeWire
import Whiteboard

/// Requests about rooms that are being fetched. Bounded in number; beyond, the newcomer is refused. One that has
/// waited longer than any client does is let go of.
struct WaitingRequests {
    private struct Entry {
        let request: RoomRequest
        let since: Instant
    }

    private let limit: Int
    private var entries: [RoomID: [Entry]] = [:]
    private var count = 0

    private static let patience = Duration.seconds(5)

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: the request, where there is no place for it.
    mutating func add(_ request: RoomRequest, at now: Instant) -> RoomRequest? {
        guard count < limit else { return request }
        count += 1
        entries[request.address.room, default: []].append(Entry(request: request, since: now))
        return nil
    }

    mutating func take(_ room: RoomID, at now: Instant) -> [RoomRequest] {
        guard let waiting = entries.removeValue(forKey: room) else { return [] }
        count -= waiting.count
        return waiting.filter { now - $0.since < Self.patience }.map(\.request)
    }

    var rooms: [RoomID] { Array(entries.keys) }

    func rooms(of partition: Int) -> [RoomID] {
        entries.compactMap { $1.first?.request.address.partition == partition ? $0 : nil }
    }
}
