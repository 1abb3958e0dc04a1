import Hosting
import StrokeWire
import TestSupport
import Whiteboard

/// The stream of a partition's checkpoints, as `CheckpointStore` uses it: of each subject it keeps the newest three messages.
/// A manifest has a subject for each room, a state one for each slot of a room. Some are damaged.
final class SimulatedCheckpoints {
    struct Catalogue {
        /// The best usable manifest of each room.
        var rooms: [RoomID: CheckpointManifest] = [:]
        /// Rooms without a readable manifest.
        var damaged: [RoomID] = []
        var covered: UInt64 = 0
        /// Rooms with an unreadable manifest that may have been a better one: their records are needed from the best one
        /// on, whatever `covered` says.
        var outdated: [RoomID] = []
        /// What no manifest says yet.
        var notes: [CursorNote] = []

        mutating func learn(_ notes: [CursorNote]) {
            for note in notes where rooms[note.room]?.learn(note) == true { self.notes.append(note) }
        }
    }

    /// The notes of many rooms.
    private struct Record {
        let notes: [CursorNote]
        let sequence: UInt64
        var isDamaged = false
    }

    private struct Message {
        let manifest: CheckpointManifest
        let sequence: UInt64
        var isDamaged = false
    }

    private struct Slot: Hashable {
        let room: RoomID
        let number: Int
    }

    private static let kept = 3
    private var manifests: [RoomID: [Message]] = [:]
    private var states: [UInt64: [UInt8]] = [:]
    private var slots: [Slot: [UInt64]] = [:]
    private var coverages: [UInt64] = []
    private var records: [Int: [Record]] = [:]
    private var last: UInt64 = 0

    // MARK: Writing

    /// Stores a state in a slot that no generation of `before` uses.
    /// - Parameter fallback: what the room was restored from, where its newest state cannot be read.
    func put(
        _ state: [UInt8], of room: RoomID, beside before: CheckpointManifest?, _ fallback: CheckpointManifest.Fallback?
    ) -> CheckpointManifest.State {
        last += 1
        states[last] = state
        let slot = Slot(room: room, number: before?.freeSlot(beside: fallback) ?? 0)
        slots[slot, default: []].append(last)
        if let old = slots[slot], old.count > Self.kept { states[slots[slot]?.removeFirst() ?? 0] = nil }
        return CheckpointManifest.State(parts: [last], bytes: state.count, hash: FNV1a64.hash(state), slot: slot.number)
    }

    /// - Parameter expected: the sequence of the room's manifest that was written last.
    /// - Returns: false where it is another, and nothing is stored.
    func put(_ manifest: CheckpointManifest, after expected: UInt64) -> Bool {
        guard lastSequence(of: manifest.room) == expected else { return false }
        last += 1
        manifests[manifest.room, default: []].append(Message(manifest: manifest, sequence: last))
        if let count = manifests[manifest.room]?.count, count > Self.kept { manifests[manifest.room]?.removeFirst() }
        return true
    }

    func put(covered: UInt64) { coverages = (coverages + [covered]).suffix(Self.kept) }

    /// Stores the record of a slot.
    /// - Returns: its sequence.
    func put(_ notes: [CursorNote], in slot: Int) -> UInt64 {
        last += 1
        records[slot, default: []].append(Record(notes: notes, sequence: last))
        if let count = records[slot]?.count, count > Self.kept { records[slot]?.removeFirst() }
        return last
    }

    /// What records of a slot say that were written between two.
    func notes(in slot: Int, between first: UInt64, _ last: UInt64) -> [CursorNote] {
        let between = (records[slot] ?? []).filter { $0.sequence > first && $0.sequence < last && !$0.isDamaged }
        return between.flatMap(\.notes)
    }

    func discard(_ states: [CheckpointManifest.State]) {
        for part in states.flatMap(\.parts) { self.states[part] = nil }
    }

    /// The manifest that was written last; nil where there is none, or where it is damaged.
    func lastWritten(of room: RoomID) -> CheckpointManifest? {
        manifests[room]?.last.flatMap { $0.isDamaged ? nil : $0.manifest }
    }

    /// Its sequence; 0 for none.
    func lastSequence(of room: RoomID) -> UInt64 { manifests[room]?.last?.sequence ?? 0 }

    // MARK: Reading

    func newest(of room: RoomID) -> CheckpointManifest? { usable(room).last }

    func state(_ state: CheckpointManifest.State) -> [UInt8]? { state.parts.first.flatMap { states[$0] } }

    /// The usable manifest before that one.
    func manifest(before better: CheckpointManifest) -> CheckpointManifest? {
        usable(better.room).prefix { $0 != better }.last
    }

    func catalogue() -> Catalogue {
        var catalogue = Catalogue()
        catalogue.covered = coverages.max() ?? 0
        for (room, all) in manifests {
            guard let best = usable(room).last else {
                catalogue.damaged.append(room)
                continue
            }
            catalogue.rooms[room] = best
            catalogue.learn(usable(room).dropLast().map(CursorNote.init))
            if all.contains(where: \.isDamaged) { catalogue.outdated.append(room) }
        }
        for slot in records.keys.sorted() { catalogue.learn(notes(in: slot, between: 0, .max)) }
        return catalogue
    }

    /// The best last.
    private func usable(_ room: RoomID) -> [CheckpointManifest] {
        CheckpointManifest.ranked((manifests[room] ?? []).filter { !$0.isDamaged }.map(\.manifest))
    }

    var rooms: [RoomID] { manifests.keys.sorted() }

    // MARK: Faults

    /// Damages the manifest of a room that was written last, or the newest state.
    func damage(_ room: RoomID, isManifest: Bool) {
        if isManifest {
            if let last = manifests[room]?.indices.last { manifests[room]?[last].isDamaged = true }
        } else if let state = newest(of: room)?.state {
            // Its checksum is wrong, so it counts as missing.
            discard([state])
        }
    }

    /// Damages the record of a slot that was written last.
    /// - Returns: the rooms that it is about.
    func damageRecord() -> [RoomID] {
        guard let slot = records.keys.min(), let position = records[slot]?.indices.last else { return [] }
        records[slot]?[position].isDamaged = true
        return records[slot]?[position].notes.map(\.room) ?? []
    }

    func delete(_ room: RoomID, before sequence: UInt64) {
        let old = (manifests[room] ?? []).filter { $0.manifest.sequence < sequence }
        discard(old.flatMap { $0.manifest.generations.map(\.state) })
        manifests[room]?.removeAll { $0.manifest.sequence < sequence }
    }
}
