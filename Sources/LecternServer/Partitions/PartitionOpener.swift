import Hosting
import Journal
import Locking
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Opens partitions: provides their streams, reads the catalogue of stored rooms, and delivers the journal to the workers.
/// Safe from any thread.
struct PartitionOpener: Sendable {
    let journal: JetStreamJournal
    let keeper: CheckpointKeeper
    let workers: RoomWorkers
    let rewinds: RewindRepair
    let trimmer: LogTrimmer
    let logger: Logger
    /// For partitions that were reopened because records were missing, up to where checkpoints held all records before:
    /// where that has not changed, nobody has newer checkpoints, and what is missing is passed over.
    private let reopenedAt = Locked<[Int: UInt64]>([:])

    /// Begins to open a partition; retries until it is open or closed again.
    /// - Parameters:
    ///   - hasLostEnd: whether the journal was found to have lost its end while it was read.
    ///   - onLost: called if the journal lacks records, and the partition has to be opened again.
    func open(
        _ partition: Int, hasLostEnd: Bool, onLost: @escaping @Sendable (JournalLoss) -> Void
    ) -> PartitionWork {
        let work = PartitionWork(partition, workers: workers.all.count, onLost: onLost)
        work.begin(
            Task {
                _ = await retry(["partition": "\(partition)"]) { () async throws(JournalError) in
                    try await begin(partition, hasLostEnd, work)
                }
            })
        return work
    }

    /// Ends the work on a partition after all of its rooms have been evicted.
    /// - Parameter covered: last record that checkpoints hold with all before it; nil if not known.
    func finish(_ partition: Int, covered: UInt64?) async {
        if let covered {
            await keeper.note(covered: covered, of: partition)
            await keeper.foldAllNotes(of: partition)
        }
        keeper.close(partition)
    }

    /// Compares the number of partitions with that of the streams; retries until it is known.
    /// - Returns: `.otherPartitions`; nil if the task was cancelled first.
    func checkPartitions() async -> Result<Void, JournalError>? {
        await retry([:]) { () async throws(JournalError) -> Result<Void, JournalError> in
            do throws(JournalError) {
                return .success(try await journal.checkPartitions())
            } catch {
                guard case .otherPartitions = error else { throw error }
                return .failure(error)
            }
        }
    }

    /// Retries until it succeeds, or the task is cancelled. The same error is logged once in the interval.
    private func retry<Value>(
        _ metadata: Logger.Metadata, _ body: () async throws(JournalError) -> Value
    ) async -> Value? {
        var told: (error: JournalError, at: Instant)?
        return await retrying(pauses: .milliseconds(100) ... .seconds(2), body) { error in
            let now = MonotonicClock.now()
            guard told.map({ $0.error != error || now - $0.at >= Self.reminderInterval }) ?? true else { return }
            told = (error, now)
            logger.warning(
                "partition not open yet, retrying", metadata: metadata.merging(explanation(of: error)) { $1 })
        }
    }

    private static let reminderInterval = Duration.seconds(30)
    private static let settlingTime = Duration.seconds(10)

    /// The error, with a hint if the remedy is known.
    private func explanation(of error: JournalError) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["error": "\(error)"]
        switch error {
        case .stream(_, .notEnabled):
            metadata["hint"] = """
                start the NATS server with JetStream (nats-server -js), or serve without a durable journal: \
                --journal none (journal.mode)
                """
        case .stream(_, .noLeader):
            metadata["hint"] = """
                while fewer than half of its servers run, start them; where all of them have lost power, and it stays so, \
                set the stream's replicas to 1 and back
                """
        case .newer:
            metadata["hint"] = "run the release that wrote them, or a later one; nothing is damaged"
        case .stream(_, .unsuitable):
            metadata["hint"] = "where lectern repartition was interrupted, run it again"
        case .streamsMissing:
            metadata["hint"] = """
                restore the missing streams, or let the daemon create empty ones: journal.recreate_streams
                """
        default: break
        }
        return metadata
    }

    private func begin(_ partition: Int, _ hasLostEnd: Bool, _ work: PartitionWork) async throws(JournalError) {
        let opened = try await rewinds.open(partition, isCertain: hasLostEnd)
        let (log, catalogue) = (opened.log, opened.catalogue)
        work.countRooms(catalogue.rooms.count)
        var shares: [[RoomID: StoredRoom]] = workers.all.map { _ in [:] }
        for (room, manifest) in catalogue.rooms {
            shares[workers.position(of: room)][room] = StoredRoom(manifest)
        }
        // The missing records of these have to be read even if no request comes for the room.
        for room in catalogue.outdated { shares[workers.position(of: room)][room]?.setOutdated() }
        // What stands before the decision is about a life that has ended: nobody is told of it.
        for (room, sequence) in opened.decisions ?? [:] {
            shares[workers.position(of: room)][room]?.setTold(before: sequence)
        }
        for room in catalogue.damaged {
            shares[workers.position(of: room)][room] = .damaged
        }
        // Not after the closing: the partition would stay open.
        let isOpen = work.unlessClosing {
            keeper.open(partition, catalogue, log: log.incarnationPrefix)
            for (worker, share) in zip(workers.all, shares) {
                worker.post(
                    .partition(
                        .open(
                            partition, prefix: log.incarnationPrefix, stored: share, kept: log.checkpointLifetime)))
            }
        }
        guard isOpen else { return }
        work.attach(
            journal.read(partition, from: catalogue.covered + 1, now: MonotonicClock.now) { event in
                deliver(
                    event, of: partition, work, covered: catalogue.covered, lostThrough: opened.lostThrough,
                    end: log.lastSequence)
            })
        // Of a log that lost its end before somebody may have ended between one copy and the number that was.
        guard opened.decisions != nil || catalogue.rewinds > 0 && log.lacksCopies else { return }
        // Daemons that start at once open partitions that others take over then.
        try? await Task.sleep(for: Self.settlingTime)
        if !Task.isCancelled { await journal.renewCopies(of: partition) }
    }

    /// - Parameters:
    ///   - covered: up to where the checkpoints that were read hold all records.
    ///   - lostThrough: last record that was missing before the checkpoints were read.
    ///   - end: the last record of the log when it was opened.
    private func deliver(
        _ event: PartitionEvent, of partition: Int, _ work: PartitionWork, covered: UInt64, lostThrough: UInt64,
        end: UInt64
    ) {
        guard !work.isDiscarded else { return }
        switch event {
        case .record(let record):
            work.countRecord()
            workers[record.room].deliver(record, mustNotBeLost: true)
            // Its records are deleted when checkpoints hold those of all rooms; somebody waits for that.
            if case .control(.erase) = record.content, work.isReady {
                workers.postToAll(.partition(.saveSoon(partition)))
            }
        case .caughtUp:
            workers.postToAll(.partition(.caughtUp(partition)))
        case .level(let until):
            workers.postToAll(.partition(.level(partition, until: until)))
        case .logClock(let ahead):
            keeper.setLogClock(of: partition, ahead: ahead)
            workers.postToAll(.partition(.logClock(partition, ahead: ahead)))
        case .barrier(let barrier):
            let latch = CountDownLatch(workers.all.count) { barrier.pass() }
            workers.postToAll(.partition(.barrier(pass: latch.countDown)))
        case .rewound(let lastRead):
            logger.error(
                "the log ends before the last record read; its rooms are saved, and restored from what was saved",
                metadata: ["partition": "\(partition)", "read": "\(lastRead)"])
            work.onLost(.end)
        case .missing(let from, let through):
            // A gap behind that end was made while this daemon did not read: newer checkpoints may hold its records.
            let wasReopened = wasReopened(partition, at: covered) && through <= end
            if through <= lostThrough || wasReopened {
                // The records of an erased room lie among those of others.
                logger.error(
                    "records were deleted from the journal that no checkpoint holds, unless they are of an erased room",
                    metadata: ["partition": "\(partition)", "from": "\(from)", "through": "\(through)"])
            } else {
                // Another daemon may have deleted them: then newer checkpoints than those read here hold them.
                logger.warning(
                    "records were deleted before they were read; reopening the partition from the checkpoints",
                    metadata: ["partition": "\(partition)", "from": "\(from)", "through": "\(through)"])
                work.discard()
                work.onLost(.records)
            }
        }
    }

    /// Whether a partition was reopened for missing records, and its checkpoints hold no more than then; remembers it.
    private func wasReopened(_ partition: Int, at covered: UInt64) -> Bool {
        reopenedAt.withLock { $0.updateValue(covered, forKey: partition) == covered }
    }

    /// Asks the workers how far the checkpoints of a partition have come, and notes it.
    func askCoverage(of partition: Int, _ work: PartitionWork) {
        guard let position = work.position else { return }
        let least = Locked(position)
        let latch = CountDownLatch(workers.all.count) {
            Task {
                let covered = least.withLock { $0 }
                await keeper.note(covered: covered, of: partition)
                keeper.foldNotes(of: partition)
                await trimmer.trim(partition, covered: covered)
            }
        }
        let item = InboundItem.partition(
            .position(partition, sequence: position) { covered in
                least.withLock { $0 = min($0, covered) }
                latch.countDown()
            })
        workers.postToAll(item)
    }
}
