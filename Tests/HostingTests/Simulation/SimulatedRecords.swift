import Hosting
import StrokeWire
import Whiteboard

/// Writes the notes of a partition's rooms together, as `CursorKeeper` of the daemon does it. The process may end between any two
/// steps, and another may write beside it.
final class SimulatedRecords {
    /// Nil for what has no space.
    typealias Answer = (_ isSaved: Bool?) -> Void
    private typealias Save = (note: CursorNote, then: Answer)

    private unowned let process: DaemonProcess
    private let partition: Int
    private(set) var notes: CursorNotes
    /// The sequence of the last record of each slot.
    private var places: [Int: UInt64] = [:]
    private var waiting: [Save] = []
    private var isWriting = false

    /// - Parameter inherited: what the last owner has noted and no manifest has.
    init(_ process: DaemonProcess, of partition: Int, _ inherited: [CursorNote]) {
        (self.process, self.partition) = (process, partition)
        notes = CursorNotes(slotBytes: process.cluster.plan.recordBytes)
        for note in inherited { notes.inherit(note, at: process.now) }
    }

    private var world: World { process.world }
    private var checkpoints: SimulatedCheckpoints { process.cluster.checkpoints[partition] }

    func stored(_ manifest: CheckpointManifest) { notes.stored(manifest) }

    func takeOld(_ age: Duration) -> [CursorNote] { notes.takeOld(age, atMost: .max, at: process.now) }

    func save(_ note: CursorNote, then: @escaping Answer) {
        waiting.append((note, then))
        guard !isWriting else { return }
        isWriting = true
        gather()
    }

    private func gather() {
        process.later(60...100) { [self] in
            let saves = waiting
            waiting = []
            guard !saves.isEmpty else {
                isWriting = false
                return
            }
            // Only releases that the server has confirmed count.
            guard process.cluster.fault != .savesUnconfirmed else { return take(saves) }
            process.confirm { [self] isConfirmed in
                if isConfirmed { take(saves) } else { end(saves, isSaved: false) }
            }
        }
    }

    private func take(_ saves: [Save]) {
        if process.cluster.fault == .forgetsNotes { notes = CursorNotes(slotBytes: process.cluster.plan.recordBytes) }
        var taken: [Save] = []
        for save in saves {
            var note = save.note
            if process.cluster.fault == .overstatesCursors {
                note.cursors = note.cursors.mapValues { CohortCursor($0.released + 3) }
            }
            if notes.put(note, at: process.now) { taken.append(save) } else { save.then(nil) }
        }
        write(notes.takeChanged()[...], for: taken)
    }

    private func write(_ slots: ArraySlice<Int>, for saves: [Save]) {
        guard let slot = slots.first else {
            let changed = notes.takeChanged()
            return changed.isEmpty ? end(saves, isSaved: true) : write(changed[...], for: saves)
        }
        func fail() {
            for slot in slots { notes.setChanged(slot) }
            end(saves, isSaved: false)
        }
        process.later(1...40) { [self] in
            guard process.canStore, notes.mayWrite else { return fail() }
            let record = notes.notes(in: slot)
            let place = places[slot] ?? 0
            world.after(0...10) { [self] in
                let sequence = checkpoints.put(record, in: slot)
                world.note("\(process.name) notes in \(slot) of \(partition): \(record.map(\.room))")
                for note in record {
                    process.cluster.ledger.save(
                        StoredRoom(
                            sequence: 0, handled: note.handled, cursors: note.cursors, isQuiet: note.isQuiet,
                            hasState: true, incarnation: note.incarnation), of: note.room)
                }
                process.later(0...20) { [self] in
                    guard !world.chance(20) else { return fail() }
                    for note in checkpoints.notes(in: slot, between: place, sequence) {
                        notes.inherit(note, at: process.now)
                    }
                    places[slot] = sequence
                    write(slots.dropFirst(), for: saves)
                }
            }
        }
    }

    private func end(_ saves: [Save], isSaved: Bool) {
        for save in saves { save.then(isSaved) }
        gather()
    }
}
