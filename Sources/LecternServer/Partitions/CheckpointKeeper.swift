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
    private let store: CheckpointStore
    private let files: CheckpointFiles
    private let cursors: CursorKeeper
    private let connection: NATSConnection
    private let configuration: ServerConfiguration
    private let assetUse: AssetUse
    private let metrics: ServerMetrics
    let tasks: KeyedTaskQueue
    /// For rooms that are rebuilt from a partition's log, which may take minutes.
    private let rebuilds: KeyedTaskQueue
    private let logger: Logger
    let known: KnownCheckpoints
    private let restorer: RoomRestorer
    private let partitions = Locked<[Int: PartitionStatus]>([:])
    private let openings = Atomic<UInt64>(0)
    private let isStopped = Locked(false)

    private struct PartitionStatus: Sendable {
        /// Numbers the times that it was opened: what an earlier one has begun is awaited by nobody.
        let opening: UInt64
        /// Incarnation of the log that its checkpoints belong to.
        let log: String
        var logClockAhead = Duration.zero
        /// Last record that acknowledged checkpoints hold with all before it, as last noted.
        var covered: UInt64
        let rewinds: Int
        /// JetStream has refused a checkpoint for lack of space.
        var isFull = false
        /// Whether notes are being written to manifests.
        var isFolding = false
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
        cursors = CursorKeeper(store, files, connection: connection, metrics: metrics, logger: logger)
        self.connection = connection
        self.configuration = configuration
        self.assetUse = assetUse
        self.metrics = metrics
        self.logger = logger
        known = KnownCheckpoints(partitions: configuration.partitions)
        restorer = RoomRestorer(
            store: store, journal: journal, known: known, configuration: configuration.room, logger: logger)
        tasks = KeyedTaskQueue(count: Self.parallelTasks)
        rebuilds = KeyedTaskQueue(count: Self.parallelRebuilds)
    }

    func open(_ partition: Int, _ catalogue: CheckpointCatalogue, log: String) {
        known.add(catalogue)
        let opening = openings.add(1, ordering: .relaxed).newValue
        partitions.withLock {
            $0[partition] = PartitionStatus(
                opening: opening, log: log, covered: catalogue.covered, rewinds: catalogue.rewinds)
        }
        cursors.open(partition, opening: opening, log: log, catalogue.notes)
    }

    private func status(of partition: Int) -> PartitionStatus? { partitions.withLock { $0[partition] } }

    /// Drops the state of a partition that another daemon serves from now on.
    func close(_ partition: Int) {
        store.forget(partition: partition)
        cursors.close(partition)
        known.forget(partition: partition)
        partitions.withLock { $0[partition] = nil }
    }

    /// Drops the state of a room that was evicted.
    func evict(_ room: RoomID) {
        store.forget(room)
        known.evict(room)
    }

    func setLogClock(of partition: Int, ahead: Duration) {
        partitions.withLock { $0[partition]?.logClockAhead = ahead }
    }

    /// Stores that checkpoints hold all records of a partition through `sequence`: its next owner need not read them.
    func note(covered sequence: UInt64, of partition: Int) async {
        guard let status = status(of: partition), sequence > status.covered else { return }
        do {
            try await store.save(covered: sequence, of: partition, log: status.log, rewinds: status.rewinds)
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
        let save = CursorKeeper.Save(request: request, generation: generation, then: then)
        guard case .unchanged = request.state else { return saveManifest(save) }
        cursors.save(save, opening: status(of: request.partition)?.opening) { [self] in
            saveManifest($0)
        } onFailure: { [self] error in
            noteStorageFull(error, request.partition)
            logger.warning(
                "notes of rooms not saved, retrying",
                metadata: ["partition": "\(request.partition)", "error": "\(error)"])
        }
    }

    /// Writes the room's manifest, and the state where it has changed.
    private func saveManifest(_ save: CursorKeeper.Save) {
        let (request, generation, then) = (save.request, save.generation, save.then)
        let opening = status(of: request.partition)?.opening
        tasks.run(for: request.room) { [self] in
            do throws(JournalError) {
                try await confirm(generation)
                try await files.check(request.partition, on: generation)
                guard let status = status(of: request.partition), status.opening == opening else {
                    throw .unconfirmed
                }
                let (bytes, obsolete) = try await write(request, in: status)
                metrics.count(.saved, bytes: bytes)
                then(.saved)
                for state in obsolete { await store.discard(state, room: request.room) }
            } catch {
                noteStorageFull(error, request.partition)
                let outcome = if case .superseded = error { SaveOutcome.superseded } else { SaveOutcome.failed }
                if outcome == .failed { warn("checkpoint not saved, retrying", request.room, error) }
                metrics.count(outcome)
                then(outcome)
            }
        }
    }

    /// The last record that checkpoints hold with all before it, as last noted; nil where the partition is not open.
    func noted(of partition: Int) -> UInt64? { status(of: partition)?.covered }

    /// Whether JetStream has refused a checkpoint for lack of space since the last call.
    func takeRefusal(of partition: Int) -> Bool {
        partitions.withLock { partitions in
            defer { partitions[partition]?.isFull = false }
            return partitions[partition]?.isFull ?? false
        }
    }

    /// Deletes the older generation of a room, which alone keeps records in its log.
    func releaseOldGeneration(of room: RoomID) {
        tasks.run(for: room) { [self] in
            let partition = RoomAddress.partition(of: room, among: configuration.partitions)
            guard !known.isRebuilding(room), let log = status(of: partition)?.log else { return }
            do throws(JournalError) {
                let manifestInMemory = known.manifest(of: room)
                let stored =
                    if let manifestInMemory { manifestInMemory } else { try await store.manifest(of: room, log: log) }
                guard var manifest = stored, let old = manifest.previous else { return known.releaseOlder(of: room) }
                manifest.previous = nil
                do throws(JournalError) {
                    try await store.save(manifest)
                } catch {
                    // A full store takes nothing before something is given back: the parts go first, if nobody needs them.
                    guard case .stream(_, let reason) = error, reason.isFull, let state = manifest.state,
                        try await store.bytes(of: state, room: room) != nil
                    else { throw error }
                    await store.discard(old.state, room: room)
                    try await store.save(manifest)
                }
                if manifestInMemory != nil { known.set(manifest, of: room) } else { store.forget(room) }
                known.releaseOlder(of: room)
                await store.discard(old.state, room: room)
            } catch {
                logger.debug("old generation kept", metadata: ["room": "\(room)", "error": "\(error)"])
            }
        }
    }

    /// Writes the notes of rooms to their manifests that have been in records for long: so records hold rooms in use alone.
    ///
    /// ``parallelTasks`` at once, the next when all of these are stored. While the store does not answer no more are under way,
    /// however many there are.
    func foldNotes(of partition: Int) {
        let opening = partitions.withLock { partitions -> UInt64? in
            guard let status = partitions[partition], !status.isFolding else { return nil }
            partitions[partition]?.isFolding = true
            return status.opening
        }
        guard let opening else { return }
        let notes = cursors.takeOld(of: partition, configuration.checkpoints.interval * 2, atMost: Self.parallelTasks)
        guard !notes.isEmpty else { return endFolding(partition, opening) }
        let isAnswered = Locked(true)
        let latch = CountDownLatch(notes.count) { [self] in
            endFolding(partition, opening)
            if isAnswered.withLock({ $0 }) { foldNotes(of: partition) }
        }
        for note in notes {
            tasks.run(for: note.room) { [self] in
                if await !fold(note, in: partition) { isAnswered.withLock { $0 = false } }
                latch.countDown()
            }
        }
    }

    private func endFolding(_ partition: Int, _ opening: UInt64) {
        partitions.withLock { partitions in
            if partitions[partition]?.opening == opening { partitions[partition]?.isFolding = false }
        }
    }

    /// The same with all notes of a partition that is handed over: a daemon of an older release reads no records.
    func foldAllNotes(of partition: Int) async {
        await withTaskGroup(of: Bool.self) { group in
            for (number, note) in cursors.takeOld(of: partition, .zero, atMost: .max).enumerated() {
                // The next owner has the records.
                if number >= Self.parallelTasks, await group.next() == false { return }
                group.addTask { [self] in await fold(note, in: partition) }
            }
        }
    }

    /// - Returns: false where the store does not answer.
    private func fold(_ note: CursorNote, in partition: Int) async -> Bool {
        let room = note.room
        // The manifests of one that is being made from others tell the next owner that something is lost: they stay.
        guard !known.isRebuilding(room), !known.isOutdated(room), let log = status(of: partition)?.log else {
            return true
        }
        do throws(JournalError) {
            guard let newest = try await store.newest(of: room, log: log) else { return true }
            var manifest = newest
            if manifest.learn(note) {
                manifest = try await store.save(cursors: manifest, after: newest).manifest
                if known.manifest(of: room) == nil { store.forget(room) } else { known.note(manifest) }
            }
            cursors.stored(manifest, in: partition)
            return true
        } catch {
            logger.debug("note not written to a manifest", metadata: ["room": "\(room)", "error": "\(error)"])
            if case .superseded = error { return true }
            return false
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

    private func warn(_ message: Logger.Message, _ room: RoomID, _ error: JournalError) {
        logger.warning(message, metadata: ["room": "\(room)", "error": "\(error)"])
    }

    /// - Returns: bytes of the state, 0 if none was written, and the states that no manifest references any more.
    /// - Throws: `.unreadable` also where the room was restored from an older state, and the new one, which is stored beside
    ///   it, cannot be read back from the store; `.damaged` where it was written behind a manifest that cannot be read.
    private func write(
        _ request: SaveRequest, in status: PartitionStatus
    ) async throws(JournalError) -> (bytes: Int, obsolete: [CheckpointManifest.State]) {
        let room = request.room
        var before = known.manifest(of: room)
        var manifest = CheckpointManifest(request, log: status.log, after: before)
        // When a record was logged that a daemon before has told of, it may say alone.
        if let note = cursors.note(of: room, in: request.partition) { manifest.learn(note) }
        let fallback = known.fallback(of: room)
        var written = 0
        var followsDamage = false
        switch request.state {
        case .none: followsDamage = try await store.save(manifest)
        case .unchanged: (manifest, followsDamage) = try await store.save(cursors: manifest, after: before)
        case .changed(let checkpoint):
            // Another daemon may have saved meanwhile.
            before = try await store.newest(notBeyond: manifest) ?? before
            let bytes = try readBack(checkpoint, logClockAhead: status.logClockAhead)
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
        known.note(manifest)
        cursors.stored(manifest, in: request.partition)
        guard !followsDamage else { throw .damaged(room: room) }
        if case .changed = request.state, fallback != nil, let state = manifest.state,
            try await store.bytes(of: state, room: room) == nil
        {
            throw .unreadable("its parts are damaged in the store")
        }
        // All of it is saved, in a state that can be read.
        if case .unchanged = request.state {} else { known.endRebuilding(room) }
        return (written, manifest.obsoleteStates(of: before))
    }

    /// The bytes of a state, after a room was restored from them: once they count, the log may lose what they hold.
    private func readBack(
        _ checkpoint: RoomCheckpoint, logClockAhead: Duration
    ) throws(JournalError) -> [UInt8] {
        do throws(CheckpointError) {
            return try checkpoint.readBack(at: MonotonicClock.now(), logClockAhead: logClockAhead)
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
        guard let opening = status(of: partition)?.opening else { return }
        let fetch = Fetch(
            room: room, stored: stored, restoration: restoration, partition: partition, opening: opening, then: then)
        attempt(fetch, pause: .milliseconds(100), isRebuild: false)
    }

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
            guard !isStopped.withLock({ $0 }), let status = status(of: fetch.partition), status.opening == fetch.opening
            else { return }
            let log = RoomRestorer.Log(incarnation: status.log) { [self] in
                self.status(of: fetch.partition)?.logClockAhead ?? .zero
            }
            do throws(JournalError) {
                if isRebuild {
                    return fetch.then(
                        try await restorer.rebuild(room, fetch.restoration, before: fetch.stored.sequence, in: log))
                }
                if let restored = try await restorer.restored(room, fetch.stored, in: log) {
                    return fetch.then(restored)
                }
                attempt(fetch, pause: pause, isRebuild: true)
            } catch {
                warn("room not fetched yet, retrying", room, error)
                Task { [self] in
                    try? await Task.sleep(for: pause)
                    attempt(fetch, pause: min(pause * 2, .seconds(30)), isRebuild: isRebuild)
                }
            }
        }
    }

    /// Cancels saves and fetches.
    func stop() {
        isStopped.withLock { $0 = true }
        tasks.stop()
        rebuilds.stop()
    }
}
