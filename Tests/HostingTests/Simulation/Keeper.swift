import Hosting
import StrokeWire
import Whiteboard

/// Saves and fetches the rooms of a process, beside its thread: first the state, then the manifest that names it. A
/// process may end between the two.
final class Keeper {
    private unowned let process: DaemonProcess
    private var manifests: [RoomID: SimulatedShelf.Manifest] = [:]
    var covered: [Int: UInt64] = [:]
    /// The last record of each room that came back with its state.
    private(set) var restoredThrough: [RoomID: UInt64] = [:]
    var logClockAhead: [Int: Duration] = [:]

    init(_ process: DaemonProcess) {
        self.process = process
    }

    private var world: World { process.world }
    private func shelf(of room: RoomID) -> SimulatedShelf { process.site.shelves[process.site.partition(of: room)] }

    func open(_ partition: Int, _ catalogue: SimulatedShelf.Catalogue) {
        manifests = manifests.filter { process.site.partition(of: $0.key) != partition }
        manifests.merge(catalogue.rooms) { _, new in new }
        covered[partition] = catalogue.covered
    }

    // MARK: Saving

    func save(_ request: SaveRequest) {
        // Only what the server has confirmed counts as released.
        guard process.site.fault != .savesUnconfirmed else { return write(request) }
        process.confirm { [self] isConfirmed in
            if isConfirmed { write(request) } else { fail(request) }
        }
    }

    private func write(_ request: SaveRequest) {
        later(1...40) { [self] in
            guard isReachable else { return fail(request) }
            switch request.state {
            case .none: write(request, state: nil)
            case .unchanged: write(request, state: manifests[request.room]?.state)
            case .changed(let checkpoint):
                guard shelf(of: request.room).admits(request.stored.sequence, of: request.room) else {
                    return supersede(request)
                }
                let state = shelf(of: request.room).put(checkpoint.encoded(), of: request.room)
                later(1...40) { [self] in
                    if isReachable { write(request, state: state) } else { fail(request) }
                }
            }
        }
    }

    private func write(_ request: SaveRequest, state: Int?) {
        var stored = request.stored
        if process.site.fault == .overstatesCursors {
            stored.cursors = stored.cursors.mapValues { CohortCursor($0.released + 3) }
        }
        let manifest = SimulatedShelf.Manifest(
            stored: stored, covered: covered[request.partition] ?? 0, state: state)
        let shelf = shelf(of: request.room)
        world.after(0...10) { [self] in
            guard shelf.put(manifest, of: request.room) else {
                world.note("\(process.name) saves \(request.room) too late, through \(request.stored.sequence)")
                return supersede(request)
            }
            world.note(
                """
                \(process.name) saves \(request.room) through \(request.stored.sequence), cursors \
                \(request.stored.cursors), covered \(manifest.covered)
                """)
            process.site.ledger.save(stored, of: request.room)
            guard !world.chance(20) else { return fail(request) }
            later(0...20) { [self] in
                manifests[request.room] = manifest
                process.host.saved(request.room, isSaved: true, at: process.now)
            }
        }
    }

    private func supersede(_ request: SaveRequest) {
        later(0...20) { [self] in process.host.superseded(request.room, at: process.now) }
    }

    private func fail(_ request: SaveRequest) {
        later(200...2000) { [self] in process.host.saved(request.room, isSaved: false, at: process.now) }
    }

    private var isReachable: Bool { process.isReached && !world.chance(30) }

    /// After so many milliseconds, if the process still lives and is not stopped.
    private func later(_ milliseconds: ClosedRange<Int>, _ body: @escaping () -> Void) {
        world.after(milliseconds) { [process] in process.post(body) }
    }

    // MARK: Fetching

    /// - Parameter asked: the records after that one come to the host by themselves.
    func fetch(_ room: RoomID, _ asked: UInt64) {
        later(1...60) { [self] in
            guard isReachable else { return fetch(room, asked) }
            let (restored, sequence, tail) = restoration(of: room, asked)
            later(0...20) { [self] in
                world.note("\(process.name) has \(room) back as of \(sequence), and \(tail.count) records")
                restoredThrough[room] = max(sequence, tail.last?.sequence ?? 0)
                process.host.restored(room, restored, sequence: sequence, tail: tail, at: process.now)
            }
        }
    }

    /// The newest state that can be read, and the records since then if it is older than the one that was asked for.
    private func restoration(of id: RoomID, _ asked: UInt64) -> (Room?, UInt64, [JournalRecord]) {
        let newest = shelf(of: id).newest(of: id)
        manifests[id] = newest
        let log = process.site.logs[process.site.partition(of: id)]
        var manifest = newest
        while let candidate = manifest {
            if let bytes = shelf(of: id).state(candidate), let room = room(bytes, id) {
                let isCurrent = candidate == newest && candidate.stored.sequence >= asked
                let tail = isCurrent ? [] : log.records(of: id, after: candidate.stored.sequence)
                return (room, candidate.stored.sequence, tail)
            }
            manifest = shelf(of: id).manifest(before: candidate, of: id)
        }
        return (nil, 0, log.records(of: id, after: 0))
    }

    private func room(_ bytes: [UInt8], _ id: RoomID) -> Room? {
        let ahead = logClockAhead[process.site.partition(of: id)] ?? .zero
        do {
            return try Room(
                restoring: bytes, configuration: process.site.configuration.room, at: process.now, logClockAhead: ahead)
        } catch {
            process.report("cannot read what was saved of \(id): \(error)")
            return nil
        }
    }
}
