import Hosting
import Journal
import Logging
import StrokeWire
import Whiteboard

/// Makes rooms from their checkpoints and, where these are damaged or lack records, from their log.
struct RoomRestorer: Sendable {
    /// A partition's log.
    struct Log: Sendable {
        /// Incarnation that its checkpoints belong to.
        let incarnation: String
        /// How far its server's clock is ahead of this machine's, as known now.
        let clockAhead: @Sendable () -> Duration
    }

    let store: CheckpointStore
    let journal: JetStreamJournal
    let known: KnownCheckpoints
    let configuration: RoomConfiguration
    let logger: Logger

    /// The room from its newest checkpoint; nil if that cannot be used or lacks records.
    func restored(
        _ id: RoomID, _ stored: StoredRoom, in log: Log
    ) async throws(JournalError) -> RestoredRoom? {
        guard !known.isOutdated(id), let manifest = try await store.manifest(of: id, log: log.incarnation),
            (manifest.restorations, manifest.sequence) >= (stored.restorations, stored.sequence)
        else { return nil }
        guard let state = manifest.state else {
            // It was closed in the meantime.
            let blank = Room(configuration: configuration, at: MonotonicClock.now())
            return RestoredRoom(
                room: blank, sequence: manifest.sequence, restorations: manifest.restorations, tail: [])
        }
        guard let room = try await room(from: state, id, in: log) else { return nil }
        known.set(manifest, of: id)
        known.setFallback(nil, of: id)
        return RestoredRoom(room: room, sequence: manifest.sequence, restorations: manifest.restorations, tail: [])
    }

    /// The room from the newest readable generation, with the records since then.
    /// - Parameters:
    ///   - restoration: the decision by which it is restored, if it is.
    ///   - decision: the sequence of that.
    func rebuild(
        _ id: RoomID, _ restoration: RoomRestoration?, before decision: UInt64, in log: Log
    ) async throws(JournalError) -> RestoredRoom {
        // The log must keep all records until the room is saved.
        known.rebuild(id, after: 0)
        if let restoration, let room = try await restore(id, restoration, decision, in: log) { return room }
        var manifest = try await store.manifest(of: id, log: log.incarnation)
        known.set(manifest, of: id)
        // Where another daemon has restored the room before, its checkpoints are the newest, and what it began from may be gone.
        while let candidate = manifest, candidate.restorations >= restoration?.number ?? 0 {
            for generation in candidate.generations {
                guard let room = try await room(from: generation.state, id, in: log) else {
                    logger.error(
                        "checkpoint damaged, using the one before",
                        metadata: ["room": "\(id)", "sequence": "\(generation.sequence)"])
                    continue
                }
                known.rebuild(id, after: generation.sequence)
                known.setFallback(CheckpointManifest.Fallback(generation, of: candidate), of: id)
                let tail = try await journal.records(of: id, after: generation.sequence)
                known.setUsable(id)
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
        _ id: RoomID, _ restoration: RoomRestoration, _ decision: UInt64, in log: Log
    ) async throws(JournalError) -> RestoredRoom? {
        let base = try await store.base(restoration.checkpoint, of: id)
        for (place, generation) in (base?.generations ?? []).enumerated() {
            guard let room = try await room(from: generation.state, id, in: log) else { continue }
            let held = place == 0 ? base?.loggedAt : nil
            let after = min(restoration.after, generation.sequence)
            let tail = restoration.tail(
                of: try await journal.records(of: id, after: after), decision: decision, held: held)
            if let base { known.setFallback(CheckpointManifest.Fallback(generation, of: base), of: id) }
            return RestoredRoom(room: room, sequence: after, restorations: restoration.number, tail: tail)
        }
        return nil
    }

    /// - Returns: nil if the state is missing or damaged.
    /// - Throws: `.newer` if a newer release has written it.
    private func room(
        from state: CheckpointManifest.State, _ id: RoomID, in log: Log
    ) async throws(JournalError) -> Room? {
        try await store.room(
            from: state, id, configuration, at: MonotonicClock.now(), logClockAhead: log.clockAhead())
    }
}

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
