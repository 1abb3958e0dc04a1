import Foundation
import Hosting
import Journal
import Logging
import StrokeWire
import Whiteboard

/// A partition's log as it is, and the checkpoints that fit it.
struct OpenedPartition: Sendable {
    let log: PartitionLog
    let catalogue: CheckpointCatalogue
    /// The last record that is known to be missing.
    let lostThrough: UInt64
    /// Where the log had lost its end, the decisions by which rooms are restored.
    let decisions: [RoomID: UInt64]?

    init(log: PartitionLog, catalogue: CheckpointCatalogue, lostThrough: UInt64 = 0, decisions: [RoomID: UInt64]? = nil)
    {
        self.decisions = decisions
        self.log = log
        self.catalogue = catalogue
        self.lostThrough = max(lostThrough, max(1, log.firstSequence) - 1)
    }
}

/// Opens a partition's streams, and mends what a log has lost that lost its end: of each room the newest saved state goes on, in
/// a new incarnation. An owner that was alive has saved all rooms before.
///
/// A decision in the log names each state, so that every daemon goes on from the same. Whoever is interrupted begins again: a
/// decision with the number of one that the log has changes nothing, nor do two daemons that repair at once.
struct RewindRepair: Sendable {
    let journal: JetStreamJournal
    let store: CheckpointStore
    let audit: AuditLog
    let metrics: ServerMetrics
    let logger: Logger

    /// A leader that has just been elected may not have all records yet.
    private static let patience = Duration.seconds(5)
    private static let pause = Duration.milliseconds(500)
    /// Rooms that are decided about in parallel.
    private static let parallel = 16

    /// - Parameter isCertain: whether the loss was looked at for long enough while the log was read. Another server may lead a
    ///   replicated log meanwhile: that is looked at again.
    func open(_ partition: Int, isCertain: Bool) async throws(JournalError) -> OpenedPartition {
        let began = MonotonicClock.now()
        metrics.countRewinds(0, of: partition)
        var isFirst = true
        while true {
            var log = try await journal.provision(partition)
            // Before anything else: what authors send meanwhile would be lost.
            try await journal.leaveDamagedFile(of: partition)
            try await store.leaveDamagedFile(of: partition)
            var catalogue = try await store.catalogue(of: partition, log: log.incarnationPrefix)
            guard try await journal.rewind(of: partition, catalogue, log) != nil else {
                // What it has lost no checkpoint knows.
                if try await journal.deleteDamagedFiles(of: partition, catalogue) {
                    log = try await journal.provision(partition)
                }
                warn(of: catalogue, partition)
                return OpenedPartition(log: log, catalogue: catalogue)
            }
            // Another daemon may have written records and saved them between the two.
            log = try await journal.provision(partition)
            if isCertain && !log.isReplicated || MonotonicClock.now() - began >= Self.patience,
                let rewind = try await journal.rewind(of: partition, catalogue, log)
            {
                catalogue.covered = min(catalogue.covered, rewind.end)
                let (renewed, decisions) = try await repair(partition, rewind, &catalogue, log)
                return OpenedPartition(
                    log: renewed, catalogue: catalogue, lostThrough: rewind.known, decisions: decisions)
            }
            if !isFirst { try? await Task.sleep(for: Self.pause) }
            isFirst = false
            guard !Task.isCancelled else { throw .unconfirmed }
        }
    }

    private func warn(of catalogue: CheckpointCatalogue, _ partition: Int) {
        guard catalogue.foreign > 0 else { return }
        logger.error(
            "the checkpoints belong to another log; ignored",
            metadata: ["partition": "\(partition)", "rooms": "\(catalogue.foreign)"])
    }

    /// - Returns: the log as it is afterwards, and where it has the decision about each room.
    private func repair(
        _ partition: Int, _ rewind: LogRewind, _ catalogue: inout CheckpointCatalogue, _ log: PartitionLog
    ) async throws(JournalError) -> (PartitionLog, [RoomID: UInt64]) {
        _ = try await journal.deleteDamagedFiles(of: partition, catalogue, rewind)
        let decisions = try await decide(rewind)
        let renewed = try await journal.provision(partition)
        catalogue.covered = max(catalogue.covered, max(1, renewed.firstSequence) - 1)
        catalogue.rewinds += 1
        // Nobody passes over what is written from here on.
        try await store.save(
            covered: catalogue.covered, of: partition, log: log.incarnationPrefix, rewinds: catalogue.rewinds)
        metrics.countRewinds(1, of: partition, records: Int(rewind.lost), rooms: rewind.rooms.count)
        logger.error(
            "the log has lost its end; rooms go on from what was saved, in new incarnations",
            metadata: [
                "partition": "\(partition)", "ends": "\(log.lastSequence)", "known_through": "\(rewind.known)",
                "records_lost": "\(rewind.lost)", "rooms_restored": "\(rewind.rooms.count)",
            ])
        await note(
            "partition \(partition)",
            "of \(rewind.known) records \(rewind.lost) were lost; rooms restored: \(rewind.rooms.count)")
        return (renewed, decisions)
    }

    /// Decides about all rooms that have lost something, some at a time.
    /// - Returns: the sequence of each decision.
    private func decide(_ rewind: LogRewind) async throws(JournalError) -> [RoomID: UInt64] {
        let outcome = await withTaskGroup(of: Result<(RoomID, UInt64), JournalError>.self) { group in
            var rooms = rewind.rooms[...]
            func next() {
                guard let manifest = rooms.popFirst() else { return }
                group.addTask {
                    do throws(JournalError) {
                        return .success((manifest.room, try await decide(manifest, rewind)))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            for _ in 0..<Self.parallel { next() }
            var decisions: [RoomID: UInt64] = [:]
            for await result in group {
                switch result {
                case .success(let (room, sequence)): decisions[room] = sequence
                case .failure(let error): return Result<[RoomID: UInt64], JournalError>.failure(error)
                }
                next()
            }
            return .success(decisions)
        }
        return try outcome.get()
    }

    /// - Returns: the sequence of the decision.
    private func decide(_ manifest: CheckpointManifest, _ rewind: LogRewind) async throws(JournalError) -> UInt64 {
        // Nobody can guess the number and have the log drop the decision for a repeat.
        let id = UUID().uuidString
        let base = manifest.state == nil ? 0 : try await store.save(base: manifest)
        return try await journal.write(rewind.decision(about: manifest, base: base), room: manifest.room, id: id)
    }

    private func note(_ target: String, _ detail: String) async {
        let entry = AuditEntry(
            id: UUID().uuidString, who: "lectern", command: "restore", target: target, outcome: .done, detail: detail)
        do throws(JournalError) {
            try await audit.record(entry)
        } catch {
            logger.warning(
                "a restored room could not be recorded in the audit log",
                metadata: ["error": "\(error)", "detail": "\(detail)"])
        }
    }
}
