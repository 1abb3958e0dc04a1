import StrokeWire

/// The workers of a server, each with its share of the rooms.
struct RoomWorkers: Sendable {
    let all: [RoomWorker]

    init(count: Int, capacity: Int) {
        all = (0..<count).map { _ in RoomWorker(capacity: capacity) }
    }

    /// Rooms are pinned to workers by a hash of their name; another one than that of partitions, lest the rooms of one
    /// partition meet on one worker.
    subscript(room: RoomID) -> RoomWorker { all[position(of: room)] }

    func position(of room: RoomID) -> Int { Int(FNV1a64.mixed(room.text.utf8) % UInt64(all.count)) }

    func postToAll(_ item: InboundItem) {
        for worker in all { worker.post(item) }
    }
}
