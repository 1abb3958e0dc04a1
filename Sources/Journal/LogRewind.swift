import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// What a partition's log has lost: a power cut takes what the server had acknowledged and not yet synced, a damaged file all
/// that stood behind it. The log goes on at a sequence that was given out before.
public struct LogRewind: Sendable, Equatable {
    /// The log is what it was up to this record, as far as checkpoints show; it may be a little more.
    public let end: UInt64
    /// The last record that is known to have been there.
    public let known: UInt64
    /// How many records are gone, at most.
    public let lost: UInt64
    /// The newest manifests of the rooms that have lost records.
    public let rooms: [CheckpointManifest]
}

extension JetStreamJournal {
    /// Compares a partition's log with what checkpoints say of it: a record at a place that has another time is another
    /// record. In a log that is whole it costs one request.
    /// - Returns: nil for a log that has all records that the checkpoints know of.
    public func rewind(
        of partition: Int, _ catalogue: CheckpointCatalogue, _ log: PartitionLog
    ) async throws(JournalError) -> LogRewind? {
        let manifests = catalogue.rooms.values.sorted { $0.handled > $1.handled }
        var (end, lost): (UInt64, UInt64?) = (0, nil)
        for manifest in manifests {
            switch try await state(of: manifest, log) {
            case .lost: lost = manifest.handled
            case .there: end = manifest.handled
            case .unknown: continue
            }
            if end > 0 { break }
        }
        let known = max(catalogue.covered, manifests.first?.handled ?? 0)
        guard let lost = lost ?? (catalogue.covered > log.lastSequence ? log.lastSequence + 1 : nil) else { return nil }
        // A log that has not grown again ends where it was cut.
        let cut = log.lastSequence < lost ? log.lastSequence : end
        return LogRewind(
            end: min(end, lost - 1, log.lastSequence), known: known, lost: known - min(known, cut),
            rooms: manifests.filter { $0.handled >= lost }.reversed())
    }

    private enum RecordState {
        case there
        case lost
        /// Expired, or its time is not known.
        case unknown
    }

    private func state(
        of manifest: CheckpointManifest, _ log: PartitionLog
    ) async throws(JournalError) -> RecordState {
        guard manifest.handled <= log.lastSequence else { return .lost }
        guard let at = manifest.handledAt, manifest.handled >= max(1, log.firstSequence) else { return .unknown }
        let partition = RoomAddress.partition(of: manifest.room, among: partitions)
        // A damaged sequence has the log end far behind what it has lost: then the record is missing. Looked for twice: a
        // server that loads a damaged file may fail to find one that is there.
        for _ in 0..<2 {
            if let time = try await time(of: manifest.handled, in: partition) {
                return time == at.nanoseconds ? .there : .lost
            }
        }
        return .lost
    }
}

extension JetStreamJournal {
    private static let renewalPause = Duration.seconds(1)

    /// Has the other servers copy a partition's replicated streams anew from their leaders. Where all servers have lost the ends
    /// of their files, nats-server (seen with 2.9.10 and 2.12.8) may keep copies that are longer than the leader's: they take
    /// nothing new, some of them are told to be current, and one of them may lead later.
    ///
    /// To be called by one daemon alone: of two that set the replicas at once, one may leave a copy that is empty yet.
    ///
    /// Waits until all servers can be reached. Publishers are acknowledged meanwhile; for a moment the leader has the only copy.
    /// Retries until it is done, or the task is cancelled; a stream that it has begun with gets its copies nevertheless.
    public func renewCopies(of partition: Int) async {
        let streams = PartitionStreams(root: root, partition: partition)
        for stream in [streams.log, streams.checkpoint] { await renewCopies(of: stream) }
    }

    private func renewCopies(of stream: String) async {
        var wanted = settings.replicas
        var told: JetStreamError?
        while !Task.isCancelled {
            do throws(JetStreamError) {
                let info = try await jetStream.streamInfo(stream)
                let replicas = info.configuration.replicas
                wanted = max(wanted, replicas)
                guard wanted > 1 else { return }
                // One where this was interrupted.
                if replicas == 1 || info.reachableCopies == replicas - 1 {
                    try await copyAnew(stream, replicas: wanted)
                    logger.notice(
                        "servers copy a stream anew from its leader, since it has lost its end",
                        metadata: ["stream": "\(stream)", "replicas": "\(wanted)"])
                    return
                }
            } catch {
                if told != error {
                    logger.warning(
                        """
                        copies of a stream that has lost its end may differ: the user of NATS needs to publish to \
                        $JS.API.STREAM.UPDATE.*, or have an operator set its replicas to 1 and back
                        """, metadata: ["stream": "\(stream)", "error": "\(error)"])
                }
                told = error
            }
            try? await Task.sleep(for: Self.renewalPause)
        }
    }

    private func copyAnew(_ stream: String, replicas: Int) async throws(JetStreamError) {
        let copying = Task { () async -> Result<Void, JetStreamError> in
            do throws(JetStreamError) {
                try await jetStream.setReplicas(1, of: stream)
                while try await jetStream.streamInfo(stream).reachableCopies > 0 {
                    try? await Task.sleep(for: .milliseconds(100))
                }
                try await jetStream.setReplicas(replicas, of: stream)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try await copying.value.get()
    }
}
