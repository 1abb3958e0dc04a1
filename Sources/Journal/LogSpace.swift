import NATSClient

/// The space that a partition's log takes, relative to its limits.
public struct LogSpace: Sendable, Equatable {
    /// The fullness above which the log is trimmed, and a warning is logged.
    public static let high = 0.8
    /// The fullness to which it is trimmed.
    static let low = 0.7

    /// The highest ratio of used space to a limit: 0 ... 1, or a little above; 0 without limits.
    public let fullness: Double
    /// The first sequence that would make ``fullness`` 0.7, if all records had the same size; 0 when it is lower
    /// already.
    public let wantedFirst: UInt64
    /// The sequence of the oldest record.
    public let firstSequence: UInt64

    /// Whether the log must be trimmed.
    public var isLow: Bool { fullness > Self.high }

    init(_ log: StreamInfo, limits: [(used: UInt64, limit: UInt64)]) {
        firstSequence = log.firstSequence
        fullness = limits.map { Double($0.used) / Double($0.limit) }.max() ?? 0
        let excess = limits.map { Double($0.used) - Self.low * Double($0.limit) }.max() ?? 0
        guard excess > 0, log.messages > 0 else {
            wantedFirst = 0
            return
        }
        let mean = max(1, Double(log.bytes) / Double(log.messages))
        wantedFirst = log.firstSequence + UInt64(min(Double(log.messages), (excess / mean).rounded(.up)))
    }
}

/// The bytes of a stream.
public struct StreamSpace: Sendable {
    /// Its name.
    public let name: String
    /// What it holds.
    public let bytes: UInt64
    /// What it may hold; nil where the account or the server bounds it alone.
    public let limit: UInt64?
    /// The sequences of the oldest and the newest record.
    public let sequences: (first: UInt64, last: UInt64)

    init(_ info: StreamInfo) {
        name = info.configuration.name
        bytes = info.bytes
        limit = info.configuration.maxBytes > 0 ? UInt64(info.configuration.maxBytes) : nil
        sequences = (info.firstSequence, info.lastSequence)
    }
}

extension JetStreamJournal {
    /// The bytes of a partition's log and of its checkpoints.
    ///
    /// - Throws: `.stream` when JetStream does not answer, or when there is no such stream.
    public func streams(of partition: Int) async throws(JournalError) -> (log: StreamSpace, checkpoints: StreamSpace) {
        func space(_ name: String) async throws(JournalError) -> StreamSpace {
            try await onStream(name) { () throws(JetStreamError) in StreamSpace(try await jetStream.streamInfo(name)) }
        }
        let names = PartitionStreams(root: root, partition: partition)
        return (try await space(names.log), try await space(names.checkpoint))
    }

    /// When a record of a partition's log was stored, in nanoseconds since 1970 by the server's clock; nil where it is not
    /// there any more.
    public func time(of sequence: UInt64, in partition: Int) async throws(JournalError) -> Int64? {
        let name = log(partition)
        return try await onStream(name) { () throws(JetStreamError) in
            try await jetStream.message(name, sequence)?.time
        }
    }

    /// The space of a partition's log, relative to its own `max_bytes`, the account's limit, and the size of the
    /// server's store where that is known.
    public func space(of partition: Int) async throws(JournalError) -> LogSpace {
        let name = log(partition)
        return try await onStream(name) { () throws(JetStreamError) in
            let log = try await jetStream.streamInfo(name)
            var limits: [(used: UInt64, limit: UInt64)] = []
            if log.configuration.maxBytes > 0 { limits.append((log.bytes, UInt64(log.configuration.maxBytes))) }
            // A user may lack the permission; the log's own limit counts all the same.
            if let storage = try? await jetStream.storage(replicas: log.configuration.replicas) {
                if let limit = storage.limit { limits.append((storage.bytes, limit)) }
                if settings.storeBytes > 0 { limits.append((storage.bytes, UInt64(settings.storeBytes))) }
            }
            return LogSpace(log, limits: limits)
        }
    }

    /// Deletes the records before `sequence` from a partition's log, oldest first.
    ///
    /// A purge ends at a record that is there, or behind the last one. Where those before and at its sequence were deleted,
    /// as of an erased room, nothing behind them can be read once the next record is stored (nats-server 2.9.10).
    ///
    /// In a replicated log it deletes one by one, and at most ``deletionBound`` in a call: after a purge, a server that
    /// restarts repeats it for everything that was in the log then, and lacks acknowledged records (nats-server
    /// 2.9.10).
    /// - Precondition: the records are in checkpoints, and no older checkpoint that is kept needs them.
    public func trim(_ partition: Int, before sequence: UInt64) async throws(JournalError) {
        let name = log(partition)
        try await onStream(name) { () throws(JetStreamError) in
            let log = try await jetStream.streamInfo(name)
            guard log.firstSequence < sequence else { return }
            guard log.configuration.replicas > 1 else {
                let first = try await jetStream.nextMessage(name, subject: ">", from: sequence)
                return try await jetStream.purge(name, before: first?.sequence ?? log.lastSequence + 1)
            }
            let end = min(sequence, log.firstSequence + Self.deletionBound)
            try await jetStream.deleteMessages(name, log.firstSequence..<end)
        }
    }

    /// The most records that one call deletes.
    static let deletionBound: UInt64 = 50_000
}
