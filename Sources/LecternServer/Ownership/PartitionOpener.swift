import Hosting
import Journal
import Logging
import NATSClient
import StrokeWire
import Synchronization
import Whiteboard

/// Opens partitions: provides their streams, reads what is stored of their rooms, and lets the journal flow to the
/// workers. Safe from any thread.
struct PartitionOpener: Sendable {
    let journal: JetStreamJournal
    let store: CheckpointStore
    let keeper: CheckpointKeeper
    let workers: RoomWorkers
    let logger: Logger

    /// Begins to open a partition, and tries until it is open or closed again.
    /// - Parameter onRewound: the journal was replaced: what was made of it is void.
    func open(_ partition: Int, onRewound: @escaping @Sendable () -> Void) -> PartitionWork {
        let work = PartitionWork(partition, onRewound: onRewound)
        work.begin(Task { await open(partition, work) })
        return work
    }

    /// The last of a partition: all of its rooms have been let go of.
    /// - Parameter covered: all records at or before it have been saved, nil where that is not known.
    func finish(_ partition: Int, covered: UInt64?) async {
        if let covered { await keeper.note(covered: covered, of: partition) }
        keeper.close(partition)
    }

    private func open(_ partition: Int, _ work: PartitionWork) async {
        var pause = Duration.milliseconds(100)
        var told: (error: JournalError, at: Instant)?
        while !Task.isCancelled {
            do {
                return try await begin(partition, work)
            } catch {
                let now = MonotonicClock.now()
                // The same again only now and then.
                if told.map({ $0.error != error || now - $0.at >= Self.reminderInterval }) ?? true {
                    logger.warning("partition not open yet, trying on", metadata: explanation(of: error, partition))
                    told = (error, now)
                }
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private static let reminderInterval = Duration.seconds(30)

    /// What is wrong, and what to do about it where that is known.
    private func explanation(of error: JournalError, _ partition: Int) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["partition": "\(partition)", "error": "\(error)"]
        if case .stream(_, .notEnabled) = error {
            metadata["hint"] = """
                start the NATS server with JetStream (nats-server -js), or serve without a journal that lasts: \
                --journal none (journal.mode)
                """
        }
        return metadata
    }

    private func begin(_ partition: Int, _ work: PartitionWork) async throws(JournalError) {
        let log = try await journal.provision(partition)
        let catalogue = fitting(
            try await store.catalogue(of: partition, log: log.incarnationPrefix), to: log, partition)
        work.countRooms(catalogue.rooms.count)
        var shares: [[RoomID: StoredRoom]] = workers.all.map { _ in [:] }
        for (room, manifest) in catalogue.rooms {
            shares[workers.position(of: room)][room] = StoredRoom(manifest)
        }
        // What is missing of these has to be read again though nobody asks for them.
        for room in catalogue.outdated { shares[workers.position(of: room)][room]?.setOutdated() }
        for room in catalogue.damaged {
            shares[workers.position(of: room)][room] = .damaged
        }
        // Never behind the closing: a partition opened after it would stay open.
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
                deliver(event, of: partition, work)
            })
    }

    /// Without what a log cannot have brought forth that ends before it.
    private func fitting(
        _ catalogue: CheckpointCatalogue, to log: PartitionLog, _ partition: Int
    ) -> CheckpointCatalogue {
        let isCut = catalogue.covered > log.lastSequence
        let passedOver = catalogue.foreign + (isCut ? catalogue.rooms.count : 0)
        if passedOver > 0 {
            logger.error(
                "the checkpoints are of another log than the one that is there; passed over",
                metadata: ["partition": "\(partition)", "rooms": "\(passedOver)"])
        }
        return isCut ? CheckpointCatalogue() : catalogue
    }

    private func deliver(_ event: PartitionEvent, of partition: Int, _ work: PartitionWork) {
        switch event {
        case .record(let record):
            work.countRecord()
            workers[record.room].deliver(record)
        case .caughtUp:
            workers.postToAll(.partition(.caughtUp(partition)))
        case .logClock(let ahead):
            keeper.setLogClock(of: partition, ahead: ahead)
            workers.postToAll(.partition(.logClock(partition, ahead: ahead)))
        case .barrier(let barrier):
            let countdown = Countdown(workers.all.count) { barrier.pass() }
            workers.postToAll(.partition(.barrier(pass: countdown.step)))
        case .rewound(let lastRead):
            logger.error(
                "the journal ends before what was read of it; its rooms are made again from what is there",
                metadata: ["partition": "\(partition)", "read": "\(lastRead)"])
            work.onRewound()
        case .missing(let from, let through):
            logger.error(
                "records are gone from the journal that no checkpoint holds",
                metadata: ["partition": "\(partition)", "from": "\(from)", "through": "\(through)"])
        }
    }

    /// Asks the workers how far the checkpoints of a partition have come.
    func askCoverage(of partition: Int, _ work: PartitionWork) {
        guard let position = work.position else { return }
        let least = Locked(position)
        let countdown = Countdown(workers.all.count) {
            Task { await keeper.note(covered: least.withLock { $0 }, of: partition) }
        }
        let item = InboundItem.partition(
            .position(partition, sequence: position) { covered in
                least.withLock { $0 = min($0, covered) }
                countdown.step()
            })
        workers.postToAll(item)
    }
}

extension StoredRoom {
    fileprivate init(_ manifest: CheckpointManifest) {
        self.init(
            sequence: manifest.sequence, handled: manifest.handled, cursors: manifest.cursors,
            isQuiet: manifest.isQuiet, hasState: manifest.state != nil, incarnation: manifest.incarnation)
    }

    /// It is fetched at once, and records after what is stored of it are read again.
    fileprivate mutating func setOutdated() {
        isQuiet = false
        hasState = true
    }

    /// Nothing about the room can be read: it is made again from the whole log.
    fileprivate static let damaged = StoredRoom(
        sequence: 0, handled: 0, cursors: [:], isQuiet: false, hasState: true, incarnation: "")
}
