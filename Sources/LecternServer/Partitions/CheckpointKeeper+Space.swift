import Hosting
import Journal
import Locking
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// What a log gives back when it is nearly full: the records that checkpoints hold.
extension CheckpointKeeper {
    private var spaceInterval: Duration { configuration.upkeepInterval * 2 }
    private static let spaceReminder = Duration.seconds(60)
    /// Rooms whose older generation is deleted at a time.
    private static let releaseBatch = 256

    /// Deletes records of a nearly full log that no checkpoint needs any more. Checks the log once in ``spaceInterval``.
    /// - Parameter covered: last record that acknowledged checkpoints hold with all before it.
    func trimLog(of partition: Int, covered: UInt64) async {
        let now = MonotonicClock.now()
        let seen = partitions.withLock { partitions -> PartitionStatus? in
            guard let notes = partitions[partition], !notes.isGivingBack,
                now - notes.spaceSeenAt >= spaceInterval
            else { return nil }
            partitions[partition]?.spaceSeenAt = now
            partitions[partition]?.isGivingBack = true
            partitions[partition]?.isFull = false
            return notes
        }
        guard let notes = seen else { return }
        defer { partitions.withLock { $0[partition]?.isGivingBack = false } }
        let isTold = now - notes.spaceToldAt < Self.spaceReminder
        var isLow = false
        do throws(JournalError) {
            let space = try await journal.space(of: partition)
            ServerMetrics.logFullness(of: partition).set(space.fullness)
            isLow = space.isLow || notes.isFull
            guard isLow else { return }
            // The next owner reads no record through the one last noted.
            let noted = min(covered, notes.covered)
            let wantedFirst = notes.isFull ? noted + 1 : space.wantedFirst
            let first = min(wantedFirst, min(noted, needed.oldest(of: partition)) + 1)
            if first > space.firstSequence { try await journal.trim(partition, before: first) }
            if first < wantedFirst { releaseOldGenerations(of: partition, below: min(wantedFirst - 1, noted)) }
            guard !isTold else { return }
            partitions.withLock { $0[partition]?.spaceToldAt = now }
            logger.warning(
                "the journal's log is nearly full; records held by checkpoints are deleted",
                metadata: [
                    "partition": "\(partition)", "full": "\(Int(space.fullness * 100)) %",
                    "deleted": "\(first > space.firstSequence ? first - space.firstSequence : 0)",
                ])
        } catch {
            guard isLow, !isTold else {
                return logger.debug("log not checked", metadata: ["partition": "\(partition)", "error": "\(error)"])
            }
            partitions.withLock { $0[partition]?.spaceToldAt = now }
            logger.warning(
                "records of a nearly full log cannot be deleted",
                metadata: ["partition": "\(partition)", "error": "\(error)"])
        }
    }

    /// Deletes older generations that alone keep records in a nearly full log: one room that has been idle for long would
    /// keep all of it.
    private func releaseOldGenerations(of partition: Int, below sequence: UInt64) {
        for room in needed.rooms(of: partition, below: sequence, atMost: Self.releaseBatch) {
            tasks.run(for: room) { [self] in
                guard !needed.isRebuilding(room) else { return }
                do throws(JournalError) {
                    let known = manifests.withLock { $0[room] }
                    let stored = if let known { known } else { try await newest(of: room) }
                    guard var manifest = stored, let old = manifest.previous else {
                        return needed.releaseOlder(of: room)
                    }
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
                    if known != nil { manifests.withLock { $0[room] = manifest } } else { store.forget(room) }
                    needed.releaseOlder(of: room)
                    await store.discard(old.state, room: room)
                } catch {
                    logger.debug("old generation kept", metadata: ["room": "\(room)", "error": "\(error)"])
                }
            }
        }
    }
}
