import StrokeWire

/// The workers of a server, each with its share of the rooms.
struct RoomWorkers: Sendable {
    let all: [RoomWorker]

    init(count: Int, capacity: Int) {
        all = (0..<count).map { _ in RoomWorker(capacity: capacity) }
    }

    /// Rooms are pinned to workers by the hash of their name.
    subscript(room: RoomID) -> RoomWorker { all[position(of: room)] }

    func position(of room: RoomID) -> Int { RoomAddress.partition(of: room, among: all.count) }

    func postToAll(_ item: InboundItem) {
        for worker in all { worker.post(item) }
    }
}
