import Hosting
import StrokeWire
import Whiteboard

/// Moves all rooms to another number of partitions while no daemon runs, as `lectern repartition` does it.
struct Repartition {
    /// The new streams.
    let logs: [SimulatedLog]
    let checkpoints: [SimulatedCheckpoints]
    /// All records of a partition through this one are in checkpoints; nil where all of them are.
    private var covered: [Int: UInt64] = [:]
    /// Partitions with rooms that have to be made from all of the log.
    private var damaged: Set<Int> = []

    init(to partitions: Int, world: World) {
        logs = (0..<partitions).map { SimulatedLog(partition: $0, prefix: "moved\($0)", world: world) }
        checkpoints = (0..<partitions).map { _ in SimulatedCheckpoints() }
    }

    private func partition(of room: RoomID) -> Int { RoomAddress.partition(of: room, among: logs.count) }

    mutating func move(_ log: SimulatedLog, _ stored: SimulatedCheckpoints) {
        let catalogue = stored.catalogue()
        for target in logs { target.holdUp(as: log) }
        for room in catalogue.damaged + catalogue.outdated { damaged.insert(partition(of: room)) }
        var places: [RoomID: [(old: UInt64, new: UInt64)]] = [:]
        for entry in log.entries {
            let (old, room) = (entry.record.sequence, entry.record.room)
            let target = partition(of: room)
            let new = logs[target].adopt(entry, from: log)
            places[room, default: []].append((old, new))
            if old > catalogue.covered, covered[target] == nil { covered[target] = new - 1 }
        }
        for (room, manifest) in catalogue.rooms.sorted(by: { $0.key < $1.key }) {
            let target = partition(of: room)
            func place(_ sequence: UInt64) -> UInt64 { places[room]?.last { $0.old <= sequence }?.new ?? 0 }
            var moved = manifest
            moved.log = logs[target].prefix
            (moved.sequence, moved.handled) = (place(manifest.sequence), place(manifest.handled))
            (moved.previous, moved.handledAt) = (nil, nil)
            let readable = manifest.generations.first { stored.state($0.state) != nil }
            if let readable, let bytes = stored.state(readable.state) {
                moved.state = checkpoints[target].put(bytes, of: room, beside: nil, nil)
                moved.sequence = place(readable.sequence)
            }
            if manifest.state != readable?.state {
                damaged.insert(target)
                moved.loggedAt = nil
                if readable == nil { continue }
            }
            _ = checkpoints[target].put(moved, after: 0)
        }
    }

    func end() {
        for (partition, log) in logs.enumerated() where !damaged.contains(partition) {
            checkpoints[partition].put(covered: covered[partition] ?? log.last)
        }
    }
}
