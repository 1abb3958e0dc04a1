import Locking
import Logging
import NATSClient

/// The streams of a root: created where they have never been, and checked.
extension JetStreamJournal {
    /// Creates the partition's two streams, for its log and its checkpoints, where they have never existed. Existing
    /// streams are never changed; differences from the settings are logged.
    ///
    /// - Throws: `.streamsMissing` when a stream existed and is gone, unless the settings say that it is created again;
    ///   `.stream` when JetStream is not enabled or refuses the stream, or when a stream of that name cannot be used.
    public func provision(_ partition: Int) async throws(JournalError) -> PartitionLog {
        let streams = PartitionStreams(root: root, partition: partition)
        let lost = settings.recreatesStreams ? [] : try await lostStreams(partition)
        guard lost.isEmpty else { throw .streamsMissing(lost) }
        // The checkpoints first: a log without them has never been read.
        let checkpoints = try await provision(streams.checkpointConfiguration(settings)).configuration
        let wanted = streams.logConfiguration(settings, StreamIdentity(.log, of: partitions))
        let log = try await provision(wanted, isIdentified: true)
        known.withLock { _ = $0.insert(partition) }
        let replicas = log.configuration.replicas
        return PartitionLog(
            incarnationPrefix: identity(of: log).text, firstSequence: log.firstSequence,
            lastSequence: log.lastSequence, checkpointLifetime: checkpoints.maxAge > .zero ? checkpoints.maxAge : nil,
            isReplicated: replicas > 1, lacksCopies: settings.replicas > 1 && min(replicas, checkpoints.replicas) == 1)
    }

    private func identity(of log: StreamInfo) -> StreamIdentity {
        let identity = StreamIdentity(.log, of: log)
        if log.configuration.replicas > 1, log.configuration.description != identity.description {
            logger.warning(
                """
                the log is told from others by its creation time, which changes with the leading server: give the stream \
                this description, once and for all
                """,
                metadata: [
                    "stream": "\(log.configuration.name)", "description": "\(identity.with(partitions: partitions))",
                ])
        }
        return identity
    }

    /// The streams of a partition that existed and are gone: this process has seen them, or other streams show that they
    /// were in use. They may be being restored.
    private func lostStreams(_ partition: Int) async throws(JournalError) -> [String] {
        let streams = PartitionStreams(root: root, partition: partition)
        if try await missingStreams(partition).isEmpty { return [] }
        let isKnown = known.withLock { $0.contains(partition) }
        let isInUse = try await isInUse()
        // Looked at again after that: another daemon may have created them all meanwhile.
        switch (try await info(streams.log), try await info(streams.checkpoint)) {
        case (nil, nil):
            // The copies of a repartition that was interrupted have all rooms.
            let copies = PartitionStreams(root: root, partition: 0, areCopies: true)
            let isMoving = try await info(copies.log) != nil
            return isKnown || isInUse || isMoving ? [streams.log, streams.checkpoint] : []
        case (nil, let checkpoints?):
            return isKnown || isInUse || checkpoints.lastSequence > 0 ? [streams.log] : []
        // A log that was never trimmed holds all that checkpoints could.
        case (let log?, nil): return isKnown || log.firstSequence > 1 ? [streams.checkpoint] : []
        case (_?, _?): return []
        }
    }

    /// Whether all logs of the root have existed: only then daemons create the stream of revocations.
    private func isInUse() async throws(JournalError) -> Bool {
        try await info(RevocationStore.stream(root)) != nil
    }

    /// Returns when all logs of the root exist or have existed, or when the task is cancelled.
    public func waitUntilProvisioned() async {
        while !Task.isCancelled {
            if (try? await isProvisioned()) == true { return }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private func isProvisioned() async throws(JournalError) -> Bool {
        if try await isInUse() { return true }
        for partition in 0..<partitions where try await info(log(partition)) == nil { return false }
        return true
    }

    func log(_ partition: Int) -> String { PartitionStreams(root: root, partition: partition).log }

    /// Refuses a number of partitions that is not that of the root's logs: rooms would seem empty.
    ///
    /// A log's description has the number. Where no log says it, as those of release 0.1.0, one beyond the number shows a
    /// larger one; and a smaller one is assumed where, in a root in use, all logs from some number on are missing.
    /// - Throws: `.otherPartitions`; `.stream` if that cannot be known yet.
    public func checkPartitions() async throws(JournalError) {
        let isInUse = (try? await isInUse()) ?? false
        let logs = await states(of: 0...partitions)
        let numbers = logs.compactMap { log in (try? log.get())?.flatMap(StreamIdentity.partitions) }
        if let there = numbers.first(where: { $0 != partitions }) { throw other(there) }
        guard numbers.isEmpty else { return }
        let exists = try logs.map { log throws(JournalError) in try log.get() != nil }
        if exists[partitions] {
            var there = partitions + 1
            while try await info(log(there)) != nil { there += 1 }
            throw other(there)
        }
        let first = exists.prefix { $0 }.count
        let isSmaller = 1..<partitions ~= first && !exists.dropFirst(first).contains(true)
        if isSmaller, isInUse, !settings.recreatesStreams { throw other(first) }
    }

    private func other(_ there: Int) -> JournalError { .otherPartitions(root: root, there: there, here: partitions) }

    /// The states of logs, asked for at once; nil for those that do not exist.
    private func states(of partitions: ClosedRange<Int>) async -> [Result<StreamInfo?, JournalError>] {
        await withTaskGroup(of: (Int, Result<StreamInfo?, JournalError>).self) { group in
            for partition in partitions {
                group.addTask {
                    do throws(JournalError) {
                        return (partition, .success(try await self.info(self.log(partition))))
                    } catch {
                        return (partition, .failure(error))
                    }
                }
            }
            var states: [Int: Result<StreamInfo?, JournalError>] = [:]
            for await (partition, state) in group { states[partition] = state }
            return partitions.compactMap { states[$0] }
        }
    }

    /// The present state of a stream; nil when it does not exist.
    private func info(_ name: String) async throws(JournalError) -> StreamInfo? {
        do throws(JetStreamError) {
            return try await jetStream.streamInfo(name)
        } catch {
            guard error.isStreamMissing else { throw .stream(name: name, error) }
            return nil
        }
    }

    private func provision(
        _ stream: StreamConfiguration, isIdentified: Bool = false
    ) async throws(JournalError) -> StreamInfo {
        try await onStream(stream.name) { () throws(JetStreamError) in
            try await jetStream.provision(stream, isIdentified: isIdentified, logger: logger)
        }
    }

    /// Those of the partition's two streams that do not exist, by name.
    ///
    /// - Throws: `.stream` when JetStream does not answer.
    public func missingStreams(_ partition: Int) async throws(JournalError) -> [String] {
        let streams = PartitionStreams(root: root, partition: partition)
        var missing: [String] = []
        for name in [streams.log, streams.checkpoint] where try await info(name) == nil { missing.append(name) }
        return missing
    }
}

/// The present state of a partition's log.
public struct PartitionLog: Sendable, Equatable {
    /// The prefix of its rooms' incarnations: when the log was created, nanoseconds since 1970 in base 36.
    public let incarnationPrefix: String
    /// The sequence of the oldest record; without records `lastSequence + 1`, or 0 in a new stream.
    public let firstSequence: UInt64
    /// The sequence of the newest record; 0 before the first.
    public let lastSequence: UInt64
    /// How long the checkpoint stream keeps a message; nil for ever.
    public let checkpointLifetime: Duration?
    /// Whether several servers have a copy.
    public let isReplicated: Bool
    /// Whether one of the partition's streams is on one server, where the settings want several.
    public let lacksCopies: Bool
}
