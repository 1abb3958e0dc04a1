import Hosting
import StrokeWire

/// The stream of one partition's checkpoints: keeps the newest three manifests and states of each room, some of them
/// damaged.
final class SimulatedShelf {
    struct Manifest: Equatable {
        let stored: StoredRoom
        let covered: UInt64
        /// Names the state, nil where the room was closed.
        let state: Int?
        var isDamaged = false
    }

    struct Catalogue {
        var rooms: [RoomID: Manifest] = [:]
        /// Rooms of which nothing can be read.
        var damaged: [RoomID] = []
        var covered: UInt64 = 0
        /// Where reading has to begin for the sake of rooms of which only an older manifest can be read.
        var wanted: UInt64 = .max
    }

    private static let kept = 3
    private var manifests: [RoomID: [Manifest]] = [:]
    private var states: [Int: [UInt8]] = [:]
    private var ofRoom: [RoomID: [Int]] = [:]
    private var lastState = 0

    func put(_ state: [UInt8], of room: RoomID) -> Int {
        lastState += 1
        states[lastState] = state
        ofRoom[room, default: []].append(lastState)
        if let old = ofRoom[room], old.count > Self.kept {
            states[old[0]] = nil
            ofRoom[room]?.removeFirst()
        }
        return lastState
    }

    /// A manifest never takes the place of one that holds more: a process that has stood still, or is about to hand
    /// over, would else hide what another has saved and counts on.
    /// - Returns: whether it was taken.
    func put(_ manifest: Manifest, of room: RoomID) -> Bool {
        guard admits(manifest.stored.sequence, of: room) else { return false }
        manifests[room, default: []].append(manifest)
        if let count = manifests[room]?.count, count > Self.kept { manifests[room]?.removeFirst() }
        return true
    }

    func admits(_ sequence: UInt64, of room: RoomID) -> Bool {
        sequence >= usable(room).last?.stored.sequence ?? 0
    }

    func newest(of room: RoomID) -> Manifest? { usable(room).last }

    func state(_ manifest: Manifest) -> [UInt8]? { manifest.state.flatMap { states[$0] } }

    /// The usable manifest before that one.
    func manifest(before newer: Manifest, of room: RoomID) -> Manifest? {
        usable(room).prefix { $0 != newer }.last
    }

    func catalogue() -> Catalogue {
        var catalogue = Catalogue()
        for (room, all) in manifests {
            guard let best = usable(room).last else {
                catalogue.damaged.append(room)
                continue
            }
            catalogue.rooms[room] = best
            catalogue.covered = max(catalogue.covered, best.covered)
            if all.contains(where: \.isDamaged) { catalogue.wanted = min(catalogue.wanted, best.stored.sequence) }
        }
        return catalogue
    }

    /// Oldest first.
    private func usable(_ room: RoomID) -> [Manifest] { (manifests[room] ?? []).filter { !$0.isDamaged } }

    /// The newest manifest or state of a room goes bad.
    func damage(_ room: RoomID, isManifest: Bool) {
        if isManifest {
            if let last = manifests[room]?.indices.last { manifests[room]?[last].isDamaged = true }
        } else if let last = ofRoom[room]?.last {
            // Its sum shows that: it is as if it were not there.
            states[last] = nil
        }
    }

    var rooms: [RoomID] { manifests.keys.sorted() }
}
