import Hosting
import Journal
import Logging
import StrokeWire
import Whiteboard

/// Saves rooms and fetches them again, away from the threads that release operations. Safe from any thread.
///
/// Bounded by its callers: a room has at most one save and one fetch under way.
final class CheckpointKeeper: Sendable {
    private let store: CheckpointStore
    private let journal: JetStreamJournal
    private let configuration: ServerConfiguration
    private let metrics: ServerMetrics
    private let lanes: Lanes
    private let logger: Logger
    /// What is stored of each room that has a state, as last read or written; until it has gone by its age, or the
    /// partition is another's.
    private let manifests = Locked<[RoomID: CheckpointManifest]>([:])
    /// Rooms whose newest manifest cannot be used: of those that are older the records since then are missing.
    private let outdated = Locked<Set<RoomID>>([])
    private let partitions = Locked<[Int: PartitionNotes]>([:])
    private let complaints = Locked(Complaints())

    private struct PartitionNotes: Sendable {
        /// The log that its checkpoints are of.
        let log: String
        var logClockAhead = Duration.zero
        /// All records at or before it are in acknowledged checkpoints, as last noted.
        var covered: UInt64
    }

    /// Saves and fetches under way at once: each waits for acknowledgements, which take a network's time.
    private static let laneCount = 32

    init(
        store: CheckpointStore, journal: JetStreamJournal, configuration: ServerConfiguration, metrics: ServerMetrics,
        logger: Logger
    ) {
        self.store = store
        self.journal = journal
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        lanes = Lanes(count: Self.laneCount)
    }

    /// Begins with what is stored of a partition.
    func open(_ partition: Int, _ catalogue: CheckpointCatalogue, log: String) {
        let outdated = Set(catalogue.outdated)
        let wanted = catalogue.rooms.filter { $1.state != nil || outdated.contains($0) }
        manifests.withLock { $0.merge(wanted) { _, new in new } }
        self.outdated.withLock { $0.formUnion(outdated) }
        partitions.withLock { $0[partition] = PartitionNotes(log: log, covered: catalogue.covered) }
    }

    /// Forgets a partition that another works on from now on.
    func close(_ partition: Int) {
        let count = configuration.partitions
        let isAnothers = { RoomAddress.partition(of: $0, among: count) != partition }
        manifests.withLock { manifests in manifests = manifests.filter { isAnothers($0.key) } }
        outdated.withLock { outdated in outdated = outdated.filter(isAnothers) }
        partitions.withLock { $0[partition] = nil }
    }

    /// Forgets a room of which nothing is stored any more.
    func forget(_ room: RoomID) {
        manifests.withLock { $0[room] = nil }
        outdated.withLock { _ = $0.remove(room) }
    }

    func setLogClock(of partition: Int, ahead: Duration) {
        partitions.withLock { $0[partition]?.logClockAhead = ahead }
    }

    /// Notes that all records of a partition through `sequence` are in acknowledged checkpoints: its successor need not
    /// read them.
    func note(covered sequence: UInt64, of partition: Int) async {
        guard let notes = partitions.withLock({ $0[partition] }), sequence > notes.covered else { return }
        do {
            try await store.save(covered: sequence, of: partition, log: notes.log)
            partitions.withLock { $0[partition]?.covered = sequence }
        } catch {
            logger.debug("coverage not noted", metadata: ["partition": "\(partition)", "error": "\(error)"])
        }
    }

    /// What became of a room that was to be saved.
    enum SaveOutcome: Sendable {
        /// JetStream has acknowledged all of it.
        case saved
        case failed
        /// Another daemon has stored more of it.
        case superseded
    }

    /// Saves a room; says what became of it.
    func save(_ request: SaveRequest, then: @escaping @Sendable (SaveOutcome) -> Void) {
        lanes.run(for: request.room) { [self] in
            do {
                let bytes = try await write(request)
                metrics.countCheckpoint(isSaved: true, bytes: bytes)
                then(.saved)
            } catch {
                metrics.countCheckpoint(isSaved: false, bytes: 0)
                complain(of: request.room, error)
                if case JournalError.superseded = error { then(.superseded) } else { then(.failed) }
            }
        }
    }

    /// While NATS is away every room fails every second: one line speaks for all.
    private func complain(of room: RoomID, _ error: any Error) {
        guard let count = complaints.withLock({ $0.add(at: MonotonicClock.now()) }) else { return }
        logger.warning(
            "checkpoint not saved, trying again",
            metadata: ["room": "\(room)", "failures": "\(count)", "error": "\(error)"])
    }

    private func write(_ request: SaveRequest) async throws(JournalError) -> Int {
        let partition = RoomAddress.partition(of: request.room, among: configuration.partitions)
        let log = partitions.withLock { $0[partition]?.log } ?? ""
        let state: CheckpointManifest.State?
        var written = 0
        switch request.state {
        case .none: state = nil
        case .unchanged: state = manifests.withLock { $0[request.room]?.state }
        case .changed(let checkpoint):
            // Parts that no manifest will name would push out those of a better one.
            try await store.refuse(request.stored.sequence, of: request.room, log: log)
            let bytes = checkpoint.encoded()
            state = try await store.save(state: bytes, room: request.room)
            written = bytes.count
        }
        let manifest = CheckpointManifest(
            room: request.room, log: log, incarnation: request.stored.incarnation, sequence: request.stored.sequence,
            handled: request.stored.handled, cursors: request.stored.cursors,
            isQuiet: request.stored.isQuiet, state: state)
        try await store.save(manifest)
        manifests.withLock { $0[request.room] = state == nil ? nil : manifest }
        return written
    }

    /// Fetches a room. Tries until it has an answer.
    func fetch(_ room: RoomID, _ stored: StoredRoom, then: @escaping @Sendable (Restoration) -> Void) {
        lanes.run(for: room) { [self] in
            var pause = Duration.milliseconds(100)
            while !Task.isCancelled {
                do {
                    return then(try await restoration(of: room))
                } catch {
                    logger.warning("room not fetched yet", metadata: ["room": "\(room)", "error": "\(error)"])
                    try? await Task.sleep(for: pause)
                    pause = min(pause * 2, .seconds(5))
                }
            }
        }
    }

    /// The newest state that can be read, and the records since then if it is not the one that was asked for.
    private func restoration(of id: RoomID) async throws(JournalError) -> Restoration {
        let isOutdated = outdated.withLock { $0.contains(id) }
        let newest = manifests.withLock { $0[id] }
        var manifest = newest
        while let candidate = manifest {
            if let bytes = try await store.state(of: candidate), let room = room(from: bytes, id) {
                let isNewest = candidate == newest && !isOutdated
                let tail = isNewest ? [] : try await journal.records(of: id, after: candidate.sequence)
                outdated.withLock { _ = $0.remove(id) }
                return Restoration(room: room, sequence: candidate.sequence, tail: tail)
            }
            logger.error(
                "checkpoint damaged, taking the one before",
                metadata: ["room": "\(id)", "sequence": "\(candidate.sequence)"])
            manifest = try await store.manifest(before: candidate)
        }
        logger.error("no usable checkpoint, taking the whole log", metadata: ["room": "\(id)"])
        return Restoration(room: nil, sequence: 0, tail: try await journal.records(of: id, after: 0))
    }

    private func room(from bytes: [UInt8], _ id: RoomID) -> Room? {
        let partition = RoomAddress.partition(of: id, among: configuration.partitions)
        let ahead = partitions.withLock { $0[partition]?.logClockAhead ?? .zero }
        do {
            return try Room(
                restoring: bytes, configuration: configuration.room, at: MonotonicClock.now(), logClockAhead: ahead)
        } catch {
            logger.error("checkpoint unreadable", metadata: ["room": "\(id)", "error": "\(error)"])
            return nil
        }
    }

    /// Ends what is under way.
    func stop() {
        lanes.stop()
    }
}
