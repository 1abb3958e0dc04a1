public import Hosting
import Logging
import NATSClient
import StrokeWire
import Whiteboard

extension JetStreamJournal {
    /// Compares a partition's log with what checkpoints say of it. In a log that is whole it costs one request.
    /// - Returns: nil for a log that has all records that the checkpoints know of.
    public func rewind(
        of partition: Int, _ catalogue: CheckpointCatalogue, _ log: PartitionLog
    ) async throws(JournalError) -> LogRewind? {
        let stream = self.log(partition)
        return try await onStream(stream) { () throws(JetStreamError) in
            try await jetStream.rewind(of: stream, first: log.firstSequence, last: log.lastSequence, catalogue)
        }
    }
}

extension JetStream {
    /// What a log has lost, see ``JetStreamJournal/rewind(of:_:_:)``.
    func rewind(
        of log: String, first: UInt64, last: UInt64, _ catalogue: CheckpointCatalogue
    ) async throws(JetStreamError) -> LogRewind? {
        var search = RewindSearch(
            catalogue.rooms.values, covered: catalogue.covered, first: first, last: last,
            wasRepaired: catalogue.rewinds > 0)
        while let sequence = search.next() {
            // Looked for twice: a server that loads a damaged file may fail to find one that is there.
            var nanoseconds = try await message(log, sequence)?.time
            if nanoseconds == nil { nanoseconds = try await message(log, sequence)?.time }
            search.found(nanoseconds.map { Instant(nanoseconds: $0) })
        }
        return search.rewind
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
