import Hosting
import Journal
import Locking
import Logging
import NATSClient
import StrokeWire
import Synchronization
import Whiteboard

/// Saves and fetches rooms, apart from the threads that release operations. Safe from any thread.
///
/// Bounded by its callers: a room has at most one save and one fetch under way.
final class CheckpointKeeper: Sendable {
    let store: CheckpointStore
    private let files: CheckpointFiles
    let journal: JetStreamJournal
    private let connection: NATSConnection
    let configuration: ServerConfiguration
    private let assetUse: AssetUse
    let metrics: ServerMetrics
    let tasks: KeyedTaskQueue
    /// For rooms that are rebuilt from a partition's log, which may take minutes.
    private let rebuilds: KeyedTaskQueue
    let logger: Logger
    /// The newest manifest of each room that is in memory and has a state.
    let manifests = Locked<[RoomID: CheckpointManifest]>([:])
    let needed: NeededRecords
    /// Rooms whose newest manifest cannot be used: older ones lack the records since then.
    private let outdated = Locked<Set<RoomID>>([])
    let partitions = Locked<[Int: PartitionStatus]>([:])
    private let openings = Atomic<UInt64>(0)
    private let saveThrottle = Locked(LogThrottle())
    private let fetchThrottle = Locked(LogThrottle())
    private let isStopped = Locked(false)

    struct PartitionStatus: Sendable {
        /// Numbers the times that it was opened: what an earlier one has begun is awaited by nobody.
        let opening: UInt64
        /// Incarnation of the log that its checkpoints belong to.
        let log: String
        var logClockAhead = Duration.zero
        /// Last record that acknowledged checkpoints hold with all before it, as last noted.
        var covered: UInt64
        let rewinds: Int
        /// When the log's space was last checked, and when a lack of it was last logged.
        var spaceSeenAt = Instant.distantPast
        var spaceToldAt = Instant.distantPast
        var isGivingBack = false
        /// JetStream has refused a checkpoint for lack of space.
        var isFull = false
    }

    /// Saves and fetches in parallel: each waits for network round trips.
    private static let parallelTasks = 32
    /// Rooms rebuilt from the log in parallel: each takes memory for its records.
    private static let parallelRebuilds = 2

    init(
        store: CheckpointStore, journal: JetStreamJournal, connection: NATSConnection,
        configuration: ServerConfiguration, assetUse: AssetUse, metrics: ServerMetrics, logger: Logger
    ) {
        self.store = store
        files = CheckpointFiles(store)
        self.journal = journal
        self.connection = connection
        self.configuration = configuration
        self.assetUse = assetUse
        self.metrics = metrics
        self.logger = logger
        needed = NeededRecords(partitions: configuration.partitions)
        tasks = KeyedTaskQueue(count: Self.parallelTasks)
        rebuilds = KeyedTaskQueue(count: Self.parallelRebuilds)
    }

    /// Opens a partition with its catalogue.
    func open(_ partition: Int, _ catalogue: CheckpointCatalogue, log: String) {
        outdated.withLock { $0.formUnion(catalogue.outdated) }
        needed.add(catalogue)
        let opening = openings.add(1, ordering: .relaxed).newValue
        partitions.withLock {
            $0[partition] = PartitionStatus(
                opening: opening, log: log, covered: catalogue.covered, rewinds: catalogue.rewinds)
        }
    }

    private func opening(of partition: Int) -> UInt64? { partitions.withLock { $0[partition]?.opening } }

    /// Drops the state of a partition that another daemon serves from now on.
    func close(_ partition: Int) {
        let count = configuration.partitions
        let isAnothers = { RoomAddress.partition(of: $0, among: count) != partition }
        store.forget(partition: partition)
        manifests.withLock { manifests in manifests = manifests.filter { isAnothers($0.key) } }
        needed.forget(partition: partition)
        outdated.withLock { outdated in outdated = outdated.filter(isAnothers) }
        partitions.withLock { $0[partition] = nil }
    }

    /// Drops the state of a room that was evicted; its manifest is read again when it is loaded.
    func evict(_ room: RoomID) {
        store.forget(room)
        manifests.withLock { $0[room] = nil }
        needed.evict(room)
    }

    /// Drops the state of a room whose checkpoint has expired.
    func forget(_ room: RoomID) {
        needed.forget(room)
        outdated.withLock { _ = $0.remove(room) }
    }

    func setLogClock(of partition: Int, ahead: Duration) {
        partitions.withLock { $0[partition]?.logClockAhead = ahead }
    }

    private func logClockAhead(of partition: Int) -> Duration {
        partitions.withLock { $0[partition]?.logClockAhead ?? .zero }
    }

    /// Stores that checkpoints hold all records of a partition through `sequence`: its next owner need not read them.
    func note(covered sequence: UInt64, of partition: Int) async {
        guard let notes = partitions.withLock({ $0[partition] }), sequence > notes.covered else { return }
        do {
            try await store.save(covered: sequence, of: partition, log: notes.log, rewinds: notes.rewinds)
            partitions.withLock { $0[partition]?.covered = sequence }
        } catch {
            logger.debug("coverage not noted", metadata: ["partition": "\(partition)", "error": "\(error)"])
        }
    }

    /// Outcome of saving a room. The raw values are those of the metric's label.
    enum SaveOutcome: String, CaseIterable, Sendable {
        /// JetStream has acknowledged the checkpoint.
        case saved
        case failed
        /// Another daemon has stored a newer one.
        case superseded
    }

    /// Saves a room after the server has received everything that was published before.
    ///
    /// Fails where the partition is opened anew, or not open any more, when it comes to be saved.
    /// - Parameter generation: of the connection on which the room's releases were published. If the connection has
    ///   changed, releases may be lost, and nothing is saved.
    func save(_ request: SaveRequest, publishedOn generation: UInt64, then: @escaping @Sendable (SaveOutcome) -> Void) {
        let opening = opening(of: request.partition)
        tasks.run(for: request.room) { [self] in
            do throws(JournalError) {
                try await confirm(generation)
                try await files.check(request.partition, on: generation)
                guard let status = partitions.withLock({ $0[request.partition] }), status.opening == opening else {
                    throw .unconfirmed
                }
                let (bytes, obsolete) = try await write(request, log: status.log)
                metrics.count(.saved, bytes: bytes)
                then(.saved)
                for state in obsolete { await store.discard(state, room: request.room) }
            } catch {
                noteStorageFull(error, request.partition)
                let outcome = if case .superseded = error { SaveOutcome.superseded } else { SaveOutcome.failed }
                if outcome == .failed { warn("checkpoint not saved, retrying", request.room, error, saveThrottle) }
                metrics.count(outcome)
                then(outcome)
            }
        }
    }

    private func confirm(_ generation: UInt64) async throws(JournalError) {
        let answered = try? await connection.confirmPublished()
        guard answered == generation else { throw .unconfirmed }
    }

    private func noteStorageFull(_ error: JournalError, _ partition: Int) {
        guard case .stream(let name, let reason) = error, reason.isFull else { return }
        metrics.countRefusedPublish(to: name)
        partitions.withLock { $0[partition]?.isFull = true }
    }

    /// While NATS is away every room fails every second: one line is logged for all of them.
    private func warn(
        _ message: Logger.Message, _ room: RoomID, _ error: JournalError, _ throttle: Locked<LogThrottle>
    ) {
        guard let count = throttle.withLock({ $0.add(at: MonotonicClock.now()) }) else { return }
        logger.warning(message, metadata: ["room": "\(room)", "failures": "\(count)", "error": "\(error)"])
    }

    /// - Returns: bytes of the state, 0 if none was written, and the states that no manifest references any more.
    /// - Throws: `.unreadable` also where the room was restored from an older state, and the new one, which is stored beside
    ///   it, cannot be read back from the store; `.damaged` where it was written behind a manifest that cannot be read.
    private func write(
        _ request: SaveRequest, log: String
    ) async throws(JournalError) -> (bytes: Int, obsolete: [CheckpointManifest.State]) {
        let room = request.room
        let known = manifests.withLock { $0[room] }
        var manifest = CheckpointManifest(request, log: log, after: known)
        let fallback = needed.fallback(of: room)
        var before = known
        var written = 0
        var followsDamage = false
        switch request.state {
        case .none: followsDamage = try await store.save(manifest)
        case .unchanged: (manifest, followsDamage) = try await store.save(cursors: manifest, after: known)
        case .changed(let checkpoint):
            // Another daemon may have saved meanwhile.
            before = try await store.newest(notBeyond: manifest) ?? known
            let bytes = try readBack(checkpoint, request.partition)
            let state = try await store.save(state: bytes, room: room, beside: before, fallback)
            manifest.begin(state, after: before, beside: fallback)
            written = bytes.count
            do throws(JournalError) {
                followsDamage = try await store.save(manifest)
            } catch {
                // No manifest names it: another daemon has saved more, maybe that the room was erased.
                if case .superseded = error { await store.discard(state, room: room) }
                throw error
            }
        }
        if case .changed(let checkpoint) = request.state { assetUse.note(checkpoint.assets) }
        manifests.withLock { $0[room] = manifest.state == nil ? nil : manifest }
        needed.note(manifest)
        guard !followsDamage else { throw .damaged(room: room) }
        switch request.state {
        case .unchanged: break
        case .changed:
            if fallback != nil, let state = manifest.state, try await store.bytes(of: state, room: room) == nil {
                throw .unreadable("its parts are damaged in the store")
            }
            needed.saved(room)
        case .none: needed.saved(room)
        }
        return (written, manifest.obsoleteStates(of: before))
    }

    /// The bytes of a state, after a room was restored from them: once they count, the log may lose what they hold.
    private func readBack(_ checkpoint: RoomCheckpoint, _ partition: Int) throws(JournalError) -> [UInt8] {
        do throws(CheckpointError) {
            return try checkpoint.readBack(at: MonotonicClock.now(), logClockAhead: logClockAhead(of: partition))
        } catch {
            throw .unreadable("\(error)")
        }
    }

    /// Fetches a room. Retries until it has the room or knows that there is none; between two attempts other rooms go on.
    /// - Parameter restoration: see ``HostOutput/fetch(_:_:_:)``.
    func fetch(
        _ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration? = nil,
        then: @escaping @Sendable (RestoredRoom) -> Void
    ) {
        let partition = RoomAddress.partition(of: room, among: configuration.partitions)
        guard let opening = opening(of: partition) else { return }
        let fetch = Fetch(
            room: room, stored: stored, restoration: restoration, partition: partition, opening: opening, then: then)
        attempt(fetch, pause: .milliseconds(100), isRebuild: false)
    }

    /// A room that is to be fetched.
    private struct Fetch: Sendable {
        let room: RoomID
        /// The host receives the records after its sequence from the journal.
        let stored: StoredRoom
        let restoration: RoomRestoration?
        let partition: Int
        /// Of the partition; see ``PartitionStatus/opening``.
        let opening: UInt64
        let then: @Sendable (RestoredRoom) -> Void
    }

    /// - Parameter isRebuild: whether the newest checkpoint cannot be used.
    private func attempt(_ fetch: Fetch, pause: Duration, isRebuild: Bool) {
        let room = fetch.room
        (isRebuild ? rebuilds : tasks).run(for: room) { [self] in
            guard !isStopped.withLock({ $0 }), opening(of: fetch.partition) == fetch.opening else { return }
            do throws(JournalError) {
                if isRebuild {
                    return fetch.then(try await rebuild(room, fetch.restoration, before: fetch.stored.sequence))
                }
                if let restored = try await restored(room, fetch.stored) { return fetch.then(restored) }
                attempt(fetch, pause: pause, isRebuild: true)
            } catch {
                warn("room not fetched yet, retrying", room, error, fetchThrottle)
                Task { [self] in
                    try? await Task.sleep(for: pause)
                    attempt(fetch, pause: min(pause * 2, .seconds(30)), isRebuild: isRebuild)
                }
            }
        }
    }

    /// The room from its newest checkpoint; nil if that cannot be used or lacks records.
    private func restored(_ id: RoomID, _ stored: StoredRoom) async throws(JournalError) -> RestoredRoom? {
        guard !outdated.withLock({ $0.contains(id) }), let manifest = try await newest(of: id),
            (manifest.restorations, manifest.sequence) >= (stored.restorations, stored.sequence)
        else { return nil }
        guard let state = manifest.state else {
            // It was closed in the meantime.
            let blank = Room(configuration: configuration.room, at: MonotonicClock.now())
            return RestoredRoom(
                room: blank, sequence: manifest.sequence, restorations: manifest.restorations, tail: [])
        }
        guard let room = try await room(from: state, id) else { return nil }
        manifests.withLock { $0[id] = manifest }
        needed.setFallback(nil, of: id)
        return RestoredRoom(room: room, sequence: manifest.sequence, restorations: manifest.restorations, tail: [])
    }

    /// The newest usable manifest.
    func newest(of id: RoomID) async throws(JournalError) -> CheckpointManifest? {
        let partition = RoomAddress.partition(of: id, among: configuration.partitions)
        return try await store.manifest(of: id, log: partitions.withLock { $0[partition]?.log } ?? "")
    }

    /// The room from the newest readable generation, with the records since then.
    /// - Parameters:
    ///   - restoration: the decision by which it is restored, if it is.
    ///   - decision: the sequence of that.
    private func rebuild(
        _ id: RoomID, _ restoration: RoomRestoration?, before decision: UInt64
    ) async throws(JournalError) -> RestoredRoom {
        // The log must keep all records until the room is saved.
        needed.rebuild(id, after: 0)
        if let restoration, let room = try await restore(id, restoration, decision) { return room }
        var manifest = try await newest(of: id)
        manifests.withLock { $0[id] = manifest }
        // Where another daemon has restored the room before, its checkpoints are the newest, and what it began from may be gone.
        while let candidate = manifest, candidate.restorations >= restoration?.number ?? 0 {
            for generation in candidate.generations {
                guard let room = try await room(from: generation.state, id) else {
                    logger.error(
                        "checkpoint damaged, using the one before",
                        metadata: ["room": "\(id)", "sequence": "\(generation.sequence)"])
                    continue
                }
                needed.rebuild(id, after: generation.sequence)
                needed.setFallback(CheckpointManifest.Fallback(generation, of: candidate), of: id)
                let tail = try await journal.records(of: id, after: generation.sequence)
                outdated.withLock { _ = $0.remove(id) }
                return RestoredRoom(
                    room: room, sequence: generation.sequence, restorations: candidate.restorations, tail: tail)
            }
            manifest = try await store.manifest(before: candidate)
        }
        if let restoration {
            logger.error(
                "the state that a room was to be restored from is gone; only what the log still has is left",
                metadata: ["room": "\(id)", "checkpoint": "\(restoration.checkpoint)"])
        } else {
            logger.error("no usable checkpoint, reading the whole log", metadata: ["room": "\(id)"])
        }
        let tail = try await journal.records(of: id, after: 0)
        return RestoredRoom(
            room: nil, sequence: 0, restorations: restoration?.number ?? 0,
            tail: restoration == nil ? tail : tail.filter { $0.sequence <= decision })
    }

    /// The room as a decision restores it: from the state that the decision names, with the records that the log has had since
    /// it lost its end. Every daemon that reads the decision makes the same room of it.
    /// - Returns: nil where that state is gone.
    private func restore(
        _ id: RoomID, _ restoration: RoomRestoration, _ decision: UInt64
    ) async throws(JournalError) -> RestoredRoom? {
        let base = try await store.base(restoration.checkpoint, of: id)
        for (place, generation) in (base?.generations ?? []).enumerated() {
            guard let room = try await room(from: generation.state, id) else { continue }
            let held = place == 0 ? base?.loggedAt : nil
            let after = min(restoration.after, generation.sequence)
            let tail = restoration.tail(
                of: try await journal.records(of: id, after: after), decision: decision, held: held)
            if let base { needed.setFallback(CheckpointManifest.Fallback(generation, of: base), of: id) }
            return RestoredRoom(room: room, sequence: after, restorations: restoration.number, tail: tail)
        }
        return nil
    }

    /// - Returns: nil if the state is missing or damaged.
    /// - Throws: `.newer` if a newer release has written it.
    private func room(from state: CheckpointManifest.State, _ id: RoomID) async throws(JournalError) -> Room? {
        let partition = RoomAddress.partition(of: id, among: configuration.partitions)
        return try await store.room(
            from: state, id, configuration.room, at: MonotonicClock.now(), logClockAhead: logClockAhead(of: partition))
    }

    /// Cancels saves and fetches.
    func stop() {
        isStopped.withLock { $0 = true }
        tasks.stop()
        rebuilds.stop()
    }
}

/// A fetched room.
struct RestoredRoom: Sendable {
    /// nil if no checkpoint could be read.
    let room: Room?
    /// Last record that it holds.
    let sequence: UInt64
    /// How often it had been restored after its log had lost its end.
    let restorations: UInt32
    /// The records after that, if the checkpoint is older than the requested one.
    let tail: [JournalRecord]
}
