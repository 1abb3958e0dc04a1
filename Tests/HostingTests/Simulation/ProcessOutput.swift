import Hosting
import StrokeWire
import Whiteboard

/// Carries out what the host of a process asks for.
final class ProcessOutput: HostOutput {
    enum Progress {
        case ready(Int)
        case closed(Int)
    }

    private unowned let process: DaemonProcess
    private var progress: [Progress] = []
    private var hasOpened = false
    private var stored: [Int: Int] = [:]
    /// After this a room asks again for a decision that has not come back from the log.
    private static let decisionRetry = Duration.seconds(1)

    init(_ process: DaemonProcess) {
        self.process = process
    }

    func takeProgress() -> Progress? { progress.isEmpty ? nil : progress.removeFirst() }

    /// Whether rooms have come into memory since the last call.
    func takeOpened() -> Bool {
        defer { hasOpened = false }
        return hasOpened
    }

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        let cluster = process.cluster
        guard process.canPublish else {
            for cohort in cluster.plan.cohorts { cluster.ledger.keep(room, cohort, by: process) }
            cluster.wet.interrupt(room)
            return false
        }
        let life = room.incarnation
        switch effect {
        case .release(_, let operation, _, _) where cluster.fault == .losesReleases && operation.index % 8 == 0: break
        case .feedback(_, _, .rejected) where cluster.fault == .losesAnswers: break
        case .feedback(let author, let session, let feedback):
            let message = FeedbackMessage(session: session, feedback: feedback)
            if cluster.fault == .givesUpEarly, case .missingRange(let from, let to) = feedback {
                let record = ControlRecord.gaveUp(author: author, from: from, to: to, incarnation: life)
                cluster.logs[room.partition].take(.control(record), of: room.id, id: nil)
            }
            process.buffer.send { [id = room.id] in
                cluster.ledger.tell(message, to: author, of: id)
                cluster.network.tell(message, to: author, of: id)
            }
        case .head(let operation):
            cluster.wet.release(operation, of: room, to: nil, by: process)
            process.buffer.send { cluster.ledger.head(operation, of: room, life) }
        case .release(let cohort, let operation, let isLate, _):
            cluster.ledger.say(operation, of: room, to: cohort, by: process)
            cluster.wet.release(operation, of: room, to: cohort, by: process)
            process.buffer.send { [process] in
                let late = isLate ? " late" : ""
                process.world.note("\(process.name) releases \(room.id) \(operation.index) to \(cohort)\(late)")
                cluster.ledger.release(operation, of: room, life, to: cohort, isLate: isLate, by: process)
                cluster.network.release(operation, of: life, to: room.id, cohort)
            }
        case .mark(nil, _): break
        case .mark(let cohort?, let mark):
            process.buffer.send { [id = room.id] in cluster.network.mark(mark, to: id, cohort) }
        case .wet(_, let wet) where cluster.fault == .forgetsStrokes && wet.isEnd: break
        case .wet(let cohort, let wet):
            for _ in 0..<(cluster.fault == .repeatsPoints ? 2 : 1) {
                cluster.wet.publish(wet, of: room, to: cohort, by: process)
            }
        case .record:
            process.report("a decision was to be published")
        }
        return true
    }

    func confirm() {
        // A host forgets what is confirmed.
        if process.cluster.fault == .forgetsUnconfirmed {
            return process.world.after(.zero) { [process] in
                process.post { process.host.confirmed(true, at: process.now) }
            }
        }
        let (ledger, wet) = (process.cluster.ledger, process.cluster.wet)
        let (said, ended) = (ledger.said(by: process), wet.ended(by: process))
        process.confirm { [process] isConfirmed in
            if isConfirmed {
                ledger.confirm(said)
                wet.confirm(ended, by: process)
            }
            process.host.confirmed(isConfirmed, at: process.now)
        }
    }

    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? {
        let log = process.cluster.logs[room.partition]
        let sentAt = process.world.now
        guard process.isReached, !process.world.chance(50) else {
            log.holdUp(from: sentAt, to: sentAt + Self.decisionRetry)
            return nil
        }
        let room = room.id
        let delay = process.cluster.fault == .decidesLate ? 5500...6000 : 0...15
        process.world.after(delay) { log.take(.control(record), of: room, id: nil, sentAt: sentAt) }
        return nil
    }

    func countNew(_ partition: Int) -> Bool {
        guard stored[partition, default: 0] < process.cluster.plan.storedRooms else { return false }
        countStored(1, of: partition)
        return true
    }

    func countStored(_ change: Int, of partition: Int) {
        stored[partition, default: 0] += change
        if stored[partition, default: 0] < 0 { process.report("counts fewer rooms than none") }
    }

    func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) {
        process.keeper.fetch(room, stored.sequence)
    }
    func save(_ request: SaveRequest) { process.keeper.save(request) }
    func settled(_ room: HostedRoom, _ counts: RoomCounts) {}
    func count(_ outcome: WetOutcome) {}

    func opened(_ room: HostedRoom) {
        hasOpened = true
        process.clocks.open(room)
    }

    func left(_ room: HostedRoom) {
        process.clocks.leave(room)
        process.cluster.wet.leave(room, by: process)
        process.world.note("\(process.name) lets go of \(room.id)")
    }

    func forgotten(_ room: RoomID) {}
    func ready(_ partition: Int) {
        process.world.note("\(process.name) is ready with partition \(partition)")
        hasOpened = true
        progress.append(.ready(partition))
    }

    func closed(_ partition: Int) { progress.append(.closed(partition)) }
}

/// Writes and reads the checkpoints of a process, beside its thread: first the state, then the manifest that refers to
/// it. The process may end between the two.
final class CheckpointKeeper {
    private unowned let process: DaemonProcess
    private var manifests: [RoomID: SimulatedCheckpoints.Manifest] = [:]
    /// Rooms whose best readable manifest may lack records that the coverage of their partition includes.
    private var outdated: Set<RoomID> = []
    var covered: [Int: UInt64] = [:]
    /// The last record in the restored state of each room.
    private(set) var restoredThrough: [RoomID: UInt64] = [:]
    var logClockAhead: [Int: Duration] = [:]

    init(_ process: DaemonProcess) {
        self.process = process
    }

    private var world: World { process.world }
    private func checkpoints(of room: RoomID) -> SimulatedCheckpoints {
        process.cluster.checkpoints[process.cluster.partition(of: room)]
    }

    func open(_ partition: Int, _ catalogue: SimulatedCheckpoints.Catalogue) {
        manifests = manifests.filter { process.cluster.partition(of: $0.key) != partition }
        manifests.merge(catalogue.rooms) { _, new in new }
        outdated = outdated.filter { process.cluster.partition(of: $0) != partition }.union(catalogue.outdated)
        covered[partition] = catalogue.covered
    }

    // MARK: Saving

    func save(_ request: SaveRequest) {
        // Only releases that the server has confirmed count.
        guard process.cluster.fault != .savesUnconfirmed else { return write(request) }
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
                guard checkpoints(of: request.room).admits(request.stored.sequence, of: request.room) else {
                    return supersede(request)
                }
                let state = checkpoints(of: request.room).put(checkpoint.encoded(), of: request.room)
                later(1...40) { [self] in
                    if isReachable { write(request, state: state) } else { fail(request) }
                }
            }
        }
    }

    private func write(_ request: SaveRequest, state: Int?) {
        var stored = request.stored
        if process.cluster.fault == .overstatesCursors {
            stored.cursors = stored.cursors.mapValues { CohortCursor($0.released + 3) }
        }
        let manifest = SimulatedCheckpoints.Manifest(
            stored: stored, covered: covered[request.partition] ?? 0, state: state)
        let checkpoints = checkpoints(of: request.room)
        world.after(0...10) { [self] in
            guard checkpoints.put(manifest, of: request.room) else {
                world.note("\(process.name) saves \(request.room) too late, through \(request.stored.sequence)")
                return supersede(request)
            }
            world.note(
                """
                \(process.name) saves \(request.room) through \(request.stored.sequence), cursors \
                \(request.stored.cursors), covered \(manifest.covered)
                """)
            process.cluster.ledger.save(stored, of: request.room)
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

    /// After a random number of milliseconds, if the process is still alive.
    private func later(_ milliseconds: ClosedRange<Int>, _ body: @escaping () -> Void) {
        world.after(milliseconds) { [process] in process.post(body) }
    }

    // MARK: Fetching

    /// - Parameter asked: the host gets the records after this one from the reader.
    func fetch(_ room: RoomID, _ asked: UInt64) {
        later(1...60) { [self] in
            guard isReachable else { return fetch(room, asked) }
            let (restored, sequence, tail) = restoration(of: room, asked)
            later(0...20) { [self] in
                world.note("\(process.name) has \(room) back as of \(sequence), and \(tail.count) records")
                restoredThrough[room] = max(sequence, tail.last?.sequence ?? 0)
                process.host.restored(room, restored, sequence: sequence, restorations: 0, tail: tail, at: process.now)
            }
        }
    }

    /// The newest readable state, and the records since then if it is older than the one that was asked for.
    private func restoration(of id: RoomID, _ asked: UInt64) -> (Room?, UInt64, [JournalRecord]) {
        let newest = checkpoints(of: id).newest(of: id)
        manifests[id] = newest
        let log = process.cluster.logs[process.cluster.partition(of: id)]
        var manifest = newest
        if let newest, newest.state == nil, !outdated.contains(id), newest.stored.sequence >= asked {
            // It was closed in the meantime.
            let blank = Room(configuration: process.cluster.configuration.room, at: process.now)
            return (blank, newest.stored.sequence, [])
        }
        while let candidate = manifest {
            if let bytes = checkpoints(of: id).state(candidate), let room = room(bytes, id) {
                let isCurrent =
                    outdated.remove(id) == nil && candidate == newest && candidate.stored.sequence >= asked
                let tail = isCurrent ? [] : log.records(of: id, after: candidate.stored.sequence)
                return (room, candidate.stored.sequence, tail)
            }
            manifest = checkpoints(of: id).manifest(before: candidate, of: id)
        }
        return (nil, 0, log.records(of: id, after: 0))
    }

    private func room(_ bytes: [UInt8], _ id: RoomID) -> Room? {
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
