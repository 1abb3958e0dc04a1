import Hosting
import Journal
import Locking
import StrokeWire

/// What a daemon knows of its rooms' checkpoints. Safe from any thread.
///
/// It also knows which records the log must keep though checkpoints hold them: those after each room's older state, for where
/// the newer one is damaged, and those of rooms that are being rebuilt.
final class KnownCheckpoints: Sendable {
    private struct Rooms {
        /// The newest manifest of each room that is in memory and has a state.
        var manifests: [RoomID: CheckpointManifest] = [:]
        /// Rooms whose newest manifest cannot be used: older ones lack the records since then.
        var outdated: Set<RoomID> = []
        /// Last record in the older generation of each room that has two, in memory or not.
        var older: [RoomID: UInt64] = [:]
        /// Rooms that are rebuilt from the log, each with the last record that it has from a checkpoint, until they are saved.
        var rebuilding: [RoomID: UInt64] = [:]
        /// The states that rooms in memory were rebuilt from, until a newer one was read back.
        var fallbacks: [RoomID: CheckpointManifest.Fallback] = [:]
    }

    private let partitions: Int
    private let rooms = Locked(Rooms())

    /// - Parameter partitions: number of partitions.
    init(partitions: Int) {
        self.partitions = partitions
    }

    private func isOf(_ partition: Int) -> (RoomID) -> Bool {
        { [partitions] in RoomAddress.partition(of: $0, among: partitions) == partition }
    }

    /// A partition is opened.
    func add(_ catalogue: CheckpointCatalogue) {
        rooms.withLock { rooms in
            rooms.older.merge(catalogue.rooms.compactMapValues(\.previous?.sequence)) { _, new in new }
            rooms.outdated.formUnion(catalogue.outdated)
            for room in catalogue.damaged { rooms.rebuilding[room] = 0 }
            for room in catalogue.outdated { rooms.rebuilding[room] = catalogue.rooms[room]?.sequence ?? 0 }
        }
    }

    /// Another daemon serves a partition from now on.
    func forget(partition: Int) {
        let isMeant = isOf(partition)
        rooms.withLock { rooms in
            rooms.manifests = rooms.manifests.filter { !isMeant($0.key) }
            rooms.outdated = rooms.outdated.filter { !isMeant($0) }
            rooms.older = rooms.older.filter { !isMeant($0.key) }
            rooms.rebuilding = rooms.rebuilding.filter { !isMeant($0.key) }
            rooms.fallbacks = rooms.fallbacks.filter { !isMeant($0.key) }
        }
    }

    /// A room has left memory; its manifest is read again when it is loaded.
    func evict(_ room: RoomID) {
        rooms.withLock { $0.manifests[room] = nil }
        endRebuilding(room)
    }

    /// The checkpoint of a room has expired.
    func forget(_ room: RoomID) {
        releaseOlder(of: room)
        setUsable(room)
    }

    /// The newest manifest of a room in memory; nil where it has no state.
    func manifest(of room: RoomID) -> CheckpointManifest? { rooms.withLock { $0.manifests[room] } }

    func set(_ manifest: CheckpointManifest?, of room: RoomID) { rooms.withLock { $0.manifests[room] = manifest } }

    func isOutdated(_ room: RoomID) -> Bool { rooms.withLock { $0.outdated.contains(room) } }

    /// A room has the records that its newest manifest lacked.
    func setUsable(_ room: RoomID) { rooms.withLock { _ = $0.outdated.remove(room) } }

    /// The older state of a room is not needed any more.
    func releaseOlder(of room: RoomID) { rooms.withLock { $0.older[room] = nil } }

    /// A manifest of a room in memory was stored.
    func note(_ manifest: CheckpointManifest) {
        rooms.withLock { rooms in
            rooms.manifests[manifest.room] = manifest.state == nil ? nil : manifest
            rooms.older[manifest.room] = manifest.previous?.sequence
        }
    }

    /// A room is rebuilt.
    /// - Parameter sequence: the last record that it has from a checkpoint.
    func rebuild(_ room: RoomID, after sequence: UInt64) { rooms.withLock { $0.rebuilding[room] = sequence } }

    /// All of a room is saved, in a state that can be read.
    func endRebuilding(_ room: RoomID) {
        rooms.withLock { rooms in
            rooms.rebuilding[room] = nil
            rooms.fallbacks[room] = nil
        }
    }

    func isRebuilding(_ room: RoomID) -> Bool { rooms.withLock { $0.rebuilding.keys.contains(room) } }

    /// - Parameter fallback: nil where the room was restored from its newest state.
    func setFallback(_ fallback: CheckpointManifest.Fallback?, of room: RoomID) {
        rooms.withLock { $0.fallbacks[room] = fallback }
    }

    /// What a room was rebuilt from; nil where that is its newest state, or a newer one was read back.
    func fallback(of room: RoomID) -> CheckpointManifest.Fallback? { rooms.withLock { $0.fallbacks[room] } }

    /// The record after which some room of a partition needs the log.
    func oldest(of partition: Int) -> UInt64 {
        let isMeant = isOf(partition)
        let first = rooms.withLock { rooms in
            [rooms.older, rooms.rebuilding].compactMap { $0.lazy.filter { isMeant($0.key) }.map(\.value).min() }.min()
        }
        // LogTrimmer adds 1.
        return first ?? .max - 1
    }

    /// Rooms of a partition whose older states end before a record.
    func rooms(of partition: Int, below sequence: UInt64, atMost count: Int) -> [RoomID] {
        let isMeant = isOf(partition)
        return rooms.withLock { rooms in
            Array(rooms.older.filter { $0.value < sequence && isMeant($0.key) }.keys.prefix(count))
        }
    }
}
