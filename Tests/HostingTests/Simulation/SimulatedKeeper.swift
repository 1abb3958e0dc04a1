import Hosting
import StrokeWire
import Whiteboard

/// Writes and reads the checkpoints of a process, beside its thread, in the steps in which `CheckpointKeeper` of the daemon does
/// it: the state, then the manifest that names it, then the states that no manifest names any more are deleted. The process may
/// end between any two.
final class SimulatedKeeper {
    private unowned let process: DaemonProcess
    /// The newest manifest of each room, as far as the process has written or read it.
    private var manifests: [RoomID: CheckpointManifest] = [:]
    /// Rooms whose best readable manifest may lack records that the coverage of their partition includes.
    private var outdated: Set<RoomID> = []
    /// The states that rooms were rebuilt from, until a newer one is saved: here what is saved can be read.
    private var fallbacks: [RoomID: CheckpointManifest.Fallback] = [:]
    /// Up to where checkpoints are known to hold all records of a partition.
    private var covered: [Int: UInt64] = [:]
    /// The last record in the restored state of each room.
    private(set) var restoredThrough: [RoomID: UInt64] = [:]
    /// How often each room has left memory.
    private var stays: [RoomID: Int] = [:]
    var logClockAhead: [Int: Duration] = [:]
    private var records: [Int: SimulatedRecords] = [:]

    init(_ process: DaemonProcess) {
        self.process = process
    }

    private var world: World { process.world }
    private func log(of room: RoomID) -> SimulatedLog { process.cluster.log(of: room) }
    private func checkpoints(of room: RoomID) -> SimulatedCheckpoints {
        process.cluster.checkpoints[process.cluster.partition(of: room)]
    }

    func open(_ partition: Int, _ catalogue: SimulatedCheckpoints.Catalogue) {
        manifests = manifests.filter { process.cluster.partition(of: $0.key) != partition }
        outdated = outdated.filter { process.cluster.partition(of: $0) != partition }.union(catalogue.outdated)
        covered[partition] = catalogue.covered
        records[partition] = SimulatedRecords(process, of: partition, catalogue.notes)
    }

    /// A room has left memory: its manifest is read again when it is loaded, and what it has asked for is not awaited any more.
    func evict(_ room: RoomID) {
        (manifests[room], fallbacks[room]) = (nil, nil)
        stays[room, default: 0] += 1
    }

    /// Stores that checkpoints hold all records of a partition up to there.
    func note(covered sequence: UInt64, of partition: Int) {
        guard sequence > covered[partition] ?? 0 else { return }
        process.later(1...40) { [self] in
            guard process.canStore else { return }
            process.cluster.checkpoints[partition].put(covered: sequence)
            covered[partition] = max(covered[partition] ?? 0, sequence)
        }
    }

    /// Writes notes to manifests that have been in records for so long.
    func foldNotes(of partition: Int, after age: Duration) {
        guard let records = records[partition] else { return }
        for note in records.takeOld(age) {
            let room = note.room
            process.later(1...60) { [self] in
                guard process.canStore, fallbacks[room] == nil, !outdated.contains(room),
                    var manifest = checkpoints(of: room).lastWritten(of: room)
                else { return }
                guard manifest.learn(note) else { return records.stored(manifest) }
                let last = checkpoints(of: room).lastSequence(of: room)
                world.after(0...10) { [self] in
                    guard checkpoints(of: room).put(manifest, after: last) else { return }
                    process.later(0...20) { [self] in
                        if manifests[room] != nil { manifests[room] = manifest }
                        records.stored(manifest)
                    }
                }
            }
        }
    }
}

extension DaemonProcess {
    /// Whether a request to the streams is answered.
    var canStore: Bool { isReached && !world.chance(30) }

    /// Runs a body on the process's thread later.
    func later(_ milliseconds: ClosedRange<Int>, _ body: @escaping () -> Void) {
        world.after(milliseconds) { self.post(body) }
    }
}

// MARK: - Saving

extension SimulatedKeeper {
    /// A request, the stay of its room in memory in which it was made, and when.
    private struct Save {
        let request: SaveRequest
        let stay: Int?
        let at: Moment
    }

    func save(_ request: SaveRequest) {
        let save = Save(request: request, stay: stays[request.room], at: world.now)
        if case .unchanged = request.state {
            guard let records = records[request.partition] else { return fail(save) }
            return records.save(CursorNote(request)) { [self] isSaved in
                switch isSaved {
                case true?: acknowledge(save)
                case false?: fail(save)
                case nil: write(save)
                }
            }
        }
        // Only releases that the server has confirmed count.
        guard process.cluster.fault != .savesUnconfirmed else { return write(save) }
        process.confirm { [self] isConfirmed in
            if isConfirmed { write(save) } else { fail(save) }
        }
    }

    private func isAwaited(_ save: Save) -> Bool { stays[save.request.room] == save.stay }

    private func write(_ save: Save) {
        let request = save.request
        process.later(1...40) { [self] in
            guard process.canStore else { return fail(save) }
            let checkpoints = checkpoints(of: request.room)
            let known = manifests[request.room]
            var manifest = CheckpointManifest(request, log: log(of: request.room).prefix, after: known)
            if let note = records[request.partition]?.notes[request.room] { manifest.learn(note) }
            if process.cluster.fault == .overstatesCursors {
                manifest.cursors = manifest.cursors.mapValues { CohortCursor($0.released + 3) }
            }
            switch request.state {
            case .none: write(manifest, save, before: known) { _ in manifest }
            case .unchanged:
                write(manifest, save, before: known) { newest in
                    var manifest = manifest
                    manifest.keepState(of: known, or: newest)
                    return manifest
                }
            case .changed(let checkpoint):
                guard !isSuperseded(manifest) else { return supersede(save) }
                let before = checkpoints.lastWritten(of: request.room) ?? known
                let fallback = fallbacks[request.room]
                let state = checkpoints.put(checkpoint.encoded(), of: request.room, beside: before, fallback)
                manifest.begin(state, after: before, beside: fallback)
                process.later(1...40) { [self] in
                    guard process.canStore else { return fail(save) }
                    write(manifest, save, before: before) { _ in manifest }
                }
            }
        }
    }

    /// Whether another manifest holds more: a process that stood still or hands over would otherwise hide what another has
    /// saved. Of one that cannot be read the coverage tells it.
    private func isSuperseded(_ manifest: CheckpointManifest) -> Bool {
        let (room, checkpoints) = (manifest.room, checkpoints(of: manifest.room))
        if let last = checkpoints.lastWritten(of: room) { return manifest.isBehind(last) }
        guard checkpoints.lastSequence(of: room) > 0,
            let next = log(of: room).records(of: room, after: manifest.sequence).first?.sequence
        else { return false }
        return next <= checkpoints.catalogue().covered
    }

    /// - Parameters:
    ///   - before: the manifest whose states are deleted, unless the new one names them.
    ///   - complete: gives the manifest, beside the one that was written last.
    private func write(
        _ manifest: CheckpointManifest, _ save: Save, before: CheckpointManifest?,
        _ complete: @escaping (CheckpointManifest?) -> CheckpointManifest
    ) {
        let room = manifest.room
        let checkpoints = checkpoints(of: room)
        guard !isSuperseded(manifest) else {
            checkpoints.discard(manifest.state.map { [$0] } ?? [])
            return supersede(save)
        }
        let last = checkpoints.lastSequence(of: room)
        let newest = checkpoints.lastWritten(of: room)
        let followsDamage = last > 0 && newest == nil
        let manifest = complete(newest)
        world.after(0...10) { [self] in
            guard checkpoints.put(manifest, after: last) else {
                // Another process has written one meanwhile.
                return process.later(1...20) { [self] in
                    if process.canStore { write(manifest, save, before: before, complete) } else { fail(save) }
                }
            }
            world.note(
                """
                \(process.name) saves \(room) through \(manifest.sequence), cursors \(manifest.cursors), state \
                \(manifest.state?.parts ?? [])
                """)
            process.cluster.ledger.save(StoredRoom(manifest), of: room)
            // One that cannot be read may have held more.
            guard !world.chance(20), !followsDamage else { return fail(save) }
            process.later(0...20) { [self] in
                manifests[room] = manifest.state == nil ? nil : manifest
                if case .unchanged = save.request.state {} else { fallbacks[room] = nil }
                records[save.request.partition]?.stored(manifest)
                acknowledge(save)
                process.later(0...40) { [self] in
                    if process.canStore { checkpoints.discard(manifest.obsoleteStates(of: before)) }
                }
            }
        }
    }

    private func acknowledge(_ save: Save) {
        guard isAwaited(save) else { return }
        if let work = process.works[save.request.partition] {
            process.cluster.ledger.acknowledge(
                CursorNote(save.request), of: save.request.partition, in: work.opening, askedAt: save.at)
        }
        process.host.saved(save.request.room, isSaved: true, at: process.now)
    }

    private func supersede(_ save: Save) {
        let request = save.request
        world.note("\(process.name) saves \(request.room) too late, through \(request.stored.sequence)")
        process.later(0...20) { [self] in
            if isAwaited(save) { process.host.superseded(request.room, at: process.now) }
        }
    }

    private func fail(_ save: Save) {
        process.later(200...2000) { [self] in
            if isAwaited(save) { process.host.saved(save.request.room, isSaved: false, at: process.now) }
        }
    }
}

// MARK: - Fetching

extension SimulatedKeeper {
    /// - Parameter stored: the host gets the records after its sequence from the reader.
    func fetch(_ room: RoomID, _ stored: StoredRoom) { fetch(room, stored, in: stays[room]) }

    /// - Parameter stay: of the room in memory, in which it was asked for.
    private func fetch(_ room: RoomID, _ stored: StoredRoom, in stay: Int?) {
        process.later(1...60) { [self] in
            guard stays[room] == stay else { return }
            guard process.canStore else { return fetch(room, stored, in: stay) }
            let fetched = fetched(room, stored) ?? rebuilt(room)
            process.later(0...20) { [self] in
                guard stays[room] == stay else { return }
                world.note(
                    "\(process.name) has \(room) back as of \(fetched.sequence), and \(fetched.tail.count) records")
                restoredThrough[room] = max(fetched.sequence, fetched.tail.last?.sequence ?? 0)
                process.host.restored(
                    room, fetched.room, sequence: fetched.sequence, restorations: fetched.restorations,
                    tail: fetched.tail, at: process.now)
            }
        }
    }

    private struct Fetched {
        let room: Room?
        var sequence: UInt64 = 0
        var restorations: UInt32 = 0
        var tail: [JournalRecord] = []
    }

    /// The room from its best manifest; nil where that cannot be used or lacks records.
    private func fetched(_ id: RoomID, _ stored: StoredRoom) -> Fetched? {
        guard !outdated.contains(id), let manifest = checkpoints(of: id).newest(of: id),
            (manifest.restorations, manifest.sequence) >= (stored.restorations, stored.sequence)
        else { return nil }
        guard let state = manifest.state else {
            // It was closed in the meantime.
            let blank = Room(configuration: process.cluster.configuration.room, at: process.now)
            return Fetched(room: blank, sequence: manifest.sequence, restorations: manifest.restorations)
        }
        guard let room = room(state, id) else { return nil }
        (manifests[id], fallbacks[id]) = (manifest, nil)
        return Fetched(room: room, sequence: manifest.sequence, restorations: manifest.restorations)
    }

    /// The room from the newest readable generation, with the records since then.
    private func rebuilt(_ id: RoomID) -> Fetched {
        var manifest = checkpoints(of: id).newest(of: id)
        manifests[id] = manifest
        while let candidate = manifest {
            for generation in candidate.generations {
                guard let room = room(generation.state, id) else { continue }
                outdated.remove(id)
                fallbacks[id] = CheckpointManifest.Fallback(generation, of: candidate)
                return Fetched(
                    room: room, sequence: generation.sequence, restorations: candidate.restorations,
                    tail: log(of: id).records(of: id, after: generation.sequence))
            }
            manifest = checkpoints(of: id).manifest(before: candidate)
        }
        world.note("\(process.name) finds no state of \(id)")
        return Fetched(room: nil, tail: log(of: id).records(of: id, after: 0))
    }

    /// - Returns: nil for a state that is missing.
    private func room(_ state: CheckpointManifest.State, _ id: RoomID) -> Room? {
        guard let bytes = checkpoints(of: id).state(state) else { return nil }
        let ahead = logClockAhead[process.cluster.partition(of: id)] ?? .zero
        do {
            return try Room(
                restoring: bytes, configuration: process.cluster.configuration.room, at: process.now,
                logClockAhead: ahead)
        } catch {
            process.report("cannot read what was saved of \(id): \(error)")
            return nil
        }
    }
}
