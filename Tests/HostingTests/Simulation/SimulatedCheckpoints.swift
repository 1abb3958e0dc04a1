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

    private enum Body {
        case manifest(CheckpointManifest)
        case state([UInt8])
        case coverage(UInt64)
        /// The notes of many rooms.
        case notes([CursorNote])
    }

    private var stream = ModelStream<Body>(kept: 3)
    /// Messages that are damaged.
    private var damaged: Set<UInt64> = []

    private static let (coverage, notes) = (".coverage", ".notes.")

    private func subject(of room: RoomID, slot: Int) -> String { "\(room.text).\(slot)" }
    private func subject(ofNotes slot: Int) -> String { "\(Self.notes)\(slot)" }

    private func store(_ body: Body, on subject: String) -> UInt64 {
        _ = stream.append(body, to: subject)
        return stream.last
    }

    // MARK: Writing

    /// Stores a state in a slot that no generation of `before` uses.
    /// - Parameter fallback: what the room was restored from, where its newest state cannot be read.
    func put(
        _ state: [UInt8], of room: RoomID, beside before: CheckpointManifest?, _ fallback: CheckpointManifest.Fallback?
    ) -> CheckpointManifest.State {
        let slot = before?.freeSlot(beside: fallback) ?? 0
        let part = store(.state(state), on: subject(of: room, slot: slot))
        return CheckpointManifest.State(parts: [part], bytes: state.count, hash: FNV1a64.hash(state), slot: slot)
    }

    /// - Parameter expected: the sequence of the room's manifest that was written last.
    /// - Returns: false where it is another, and nothing is stored.
    func put(_ manifest: CheckpointManifest, after expected: UInt64) -> Bool {
        stream.append(.manifest(manifest), to: manifest.room.text, after: expected) != .outOfDate
    }

    func put(covered: UInt64) { _ = store(.coverage(covered), on: Self.coverage) }

    /// Stores the record of a slot.
    /// - Returns: its sequence.
    func put(_ notes: [CursorNote], in slot: Int) -> UInt64 { store(.notes(notes), on: subject(ofNotes: slot)) }

    /// What records of a slot say that were written between two.
    func notes(in slot: Int, between first: UInt64, _ last: UInt64) -> [CursorNote] {
        let between = stream.messages(of: subject(ofNotes: slot), from: first + 1).filter { $0.sequence < last }
        return between.flatMap { message -> [CursorNote] in
            guard case .notes(let notes) = message.body, !damaged.contains(message.sequence) else { return [] }
            return notes
        }
    }

    func discard(_ states: [CheckpointManifest.State]) {
        for part in states.flatMap(\.parts) { stream.delete(part) }
    }

    /// The manifest that was written last; nil where there is none, or where it is damaged.
    func lastWritten(of room: RoomID) -> CheckpointManifest? {
        stream.newest(of: room.text).flatMap { damaged.contains($0.sequence) ? nil : manifest($0) }
    }

    /// Its sequence; 0 for none.
    func lastSequence(of room: RoomID) -> UInt64 { stream.newest(of: room.text)?.sequence ?? 0 }

    private func manifest(_ message: ModelStream<Body>.Message) -> CheckpointManifest? {
        if case .manifest(let manifest) = message.body { manifest } else { nil }
    }

    // MARK: Reading

    func newest(of room: RoomID) -> CheckpointManifest? { usable(room).last }

    func state(_ state: CheckpointManifest.State) -> [UInt8]? {
        guard let part = state.parts.first, case .state(let bytes)? = stream.message(part)?.body else { return nil }
        return bytes
    }

    /// The usable manifest before that one.
    func manifest(before better: CheckpointManifest) -> CheckpointManifest? {
        usable(better.room).prefix { $0 != better }.last
    }

    func catalogue() -> Catalogue {
        var catalogue = Catalogue()
        catalogue.covered = stream.messages(of: Self.coverage).reduce(0) { covered, message in
            if case .coverage(let sequence) = message.body { max(covered, sequence) } else { covered }
        }
        for room in rooms {
            guard let best = usable(room).last else {
                catalogue.damaged.append(room)
                continue
            }
            catalogue.rooms[room] = best
            catalogue.learn(usable(room).dropLast().map(CursorNote.init))
            let isOutdated = stream.messages(of: room.text).contains { damaged.contains($0.sequence) }
            if isOutdated { catalogue.outdated.append(room) }
        }
        for slot in slots { catalogue.learn(notes(in: slot, between: 0, .max)) }
        return catalogue
    }

    /// The best last.
    private func usable(_ room: RoomID) -> [CheckpointManifest] {
        let readable = stream.messages(of: room.text).filter { !damaged.contains($0.sequence) }
        return CheckpointManifest.ranked(readable.compactMap(manifest))
    }

    var rooms: [RoomID] { stream.subjects.compactMap { RoomID($0) } }
    /// Of records of notes.
    private var slots: [Int] {
        stream.subjects.compactMap { $0.hasPrefix(Self.notes) ? Int($0.dropFirst(Self.notes.count)) : nil }.sorted()
    }

    // MARK: Faults

    /// Damages the manifest of a room that was written last, or the newest state.
    func damage(_ room: RoomID, isManifest: Bool) {
        if isManifest {
            if let last = stream.newest(of: room.text) { damaged.insert(last.sequence) }
        } else if let state = newest(of: room)?.state {
            // Its checksum is wrong, so it counts as missing.
            discard([state])
        }
    }

    /// Damages the record of a slot that was written last.
    /// - Returns: the rooms that it is about.
    func damageRecord() -> [RoomID] {
        guard let slot = slots.first, let last = stream.newest(of: subject(ofNotes: slot)),
            case .notes(let notes) = last.body
        else { return [] }
        damaged.insert(last.sequence)
        return notes.map(\.room)
    }

    func delete(_ room: RoomID, before sequence: UInt64) {
        for message in stream.messages(of: room.text) {
            guard let old = manifest(message), old.sequence < sequence else { continue }
            discard(old.generations.map(\.state))
            stream.delete(message.sequence)
        }
    }
}
