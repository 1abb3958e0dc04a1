/// Streams: state, creation, deletion of messages.
extension JetStream {
    /// The present state of a stream, as its leader has it.
    /// - Throws: an error with `isStreamMissing` when there is none; `.noLeader` when none was elected within `timeout`.
    public func streamInfo(_ name: String) async throws(JetStreamError) -> StreamInfo {
        var wire = try await apiRequest("STREAM.INFO.\(name)", for: StreamInfo.Wire.self)
        // A stream that is being created is listed already, for some milliseconds (nats-server 2.9.10).
        for _ in 0..<100 where wire.isBeingCreated {
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { throw .connection(.cancelled) }
            wire = try await apiRequest("STREAM.INFO.\(name)", for: StreamInfo.Wire.self)
        }
        // Without a leader any server answers for its own copy, which may lack what was acknowledged.
        let deadline = ContinuousClock.now + timeout
        while wire.hasNoLeader {
            guard ContinuousClock.now < deadline else { throw .noLeader(stream: name) }
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { throw .connection(.cancelled) }
            wire = try await apiRequest("STREAM.INFO.\(name)", for: StreamInfo.Wire.self)
        }
        return try StreamInfo(wire)
    }

    /// Creates a stream unless there is one of that name. An existing stream is never changed: it is the operator's.
    ///
    /// - Returns: the stream, and its harmless differences from the wanted configuration.
    /// - Throws: `.unsuitable` when the existing stream cannot be used, for example when it does not capture all
    ///   subjects; the server's error when it cannot create the stream.
    public func provision(
        _ wanted: StreamConfiguration
    ) async throws(JetStreamError) -> (info: StreamInfo, differences: [StreamDifference]) {
        let info = try await existingOrNew(wanted)
        let blocking = wanted.blockingDifferences(to: info.configuration)
        guard blocking.isEmpty else { throw .unsuitable(stream: wanted.name, blocking) }
        return (info, wanted.otherDifferences(to: info.configuration))
    }

    /// Removes the messages before `sequence` from a stream; the others keep their sequences.
    public func purge(_ stream: String, before sequence: UInt64) async throws(JetStreamError) {
        // The server removes everything for 1, as for no sequence.
        guard sequence > 1 else { return }
        _ = try await apiRequest("STREAM.PURGE.\(stream)", ["seq": sequence], for: Done.self)
    }

    /// Removes a message from a stream. A message that is not there is no error.
    /// - Parameter overwriting: whether its bytes on disk are overwritten and synced, which takes a server about a
    ///   millisecond; otherwise they stay until the server reuses their file.
    public func deleteMessage(
        _ stream: String, _ sequence: UInt64, overwriting: Bool = false
    ) async throws(JetStreamError) {
        struct Request: Encodable {
            var seq: UInt64
            var noErase: Bool
        }
        do throws(JetStreamError) {
            _ = try await apiRequest(
                "STREAM.MSG.DELETE.\(stream)", Request(seq: sequence, noErase: !overwriting), for: Done.self)
        } catch {
            guard error.isDeletedMessageMissing else { throw error }
        }
    }

    /// Deletions under way at the same time: in a cluster each waits until most servers agree.
    private static let deletionWindow = 64

    /// Removes messages from a stream, those that are first in `sequences` first. Messages that are not there are no error.
    ///
    /// - Parameters:
    ///   - overwriting: as for ``deleteMessage(_:_:overwriting:)``.
    ///   - onProgress: called with the number of those that are gone, now and then and at the end.
    /// - Throws: one of the errors; then some of those that were to be removed at the same time may be gone too.
    public func deleteMessages(
        _ stream: String, _ sequences: some RandomAccessCollection<UInt64>, overwriting: Bool = false,
        onProgress: (_ gone: Int) -> Void = { _ in }
    ) async throws(JetStreamError) {
        var gone = 0
        while gone < sequences.count {
            let part = sequences.dropFirst(gone).prefix(Self.deletionWindow)
            let failure = await withTaskGroup(of: JetStreamError?.self) { group in
                for sequence in part {
                    group.addTask {
                        do throws(JetStreamError) {
                            try await deleteMessage(stream, sequence, overwriting: overwriting)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(nil) { $0 ?? $1 }
            }
            if let failure { throw failure }
            gone += part.count
            onProgress(gone)
        }
    }

    /// The disk space of the account's streams, and its limit.
    /// - Parameter replicas: selects the tier: an account may have a limit for each number of replicas.
    public func storage(replicas: Int) async throws(JetStreamError) -> StorageUse {
        let account = try await apiRequest("INFO", for: StorageUse.Wire.self)
        let use =
            account.tiers?["R\(replicas)"] ?? StorageUse.Wire.Tier(storage: account.storage, limits: account.limits)
        let limit = use.limits?.maxStorage ?? -1
        return StorageUse(bytes: use.storage, limit: limit > 0 ? UInt64(limit) : nil)
    }

    private struct Done: Decodable {
        var success: Bool
    }

    private func existingOrNew(_ wanted: StreamConfiguration) async throws(JetStreamError) -> StreamInfo {
        if let info = try await streamInfoIfAny(wanted.name) { return info }
        do throws(JetStreamError) {
            return try StreamInfo(
                await apiRequest("STREAM.CREATE.\(wanted.name)", wanted.wire, for: StreamInfo.Wire.self))
        } catch {
            // Another client may have created it meanwhile, with other settings.
            guard error.isTaken, let info = try await streamInfoIfAny(wanted.name) else { throw error }
            return info
        }
    }

    private func streamInfoIfAny(_ name: String) async throws(JetStreamError) -> StreamInfo? {
        do throws(JetStreamError) {
            return try await streamInfo(name)
        } catch {
            guard error.isStreamMissing else { throw error }
            return nil
        }
    }
}

/// The disk space of an account.
public struct StorageUse: Sendable, Equatable {
    /// Bytes of its streams.
    public let bytes: UInt64
    /// The account's limit in bytes; nil when only the server's store bounds it.
    public let limit: UInt64?

    /// The JSON of JetStream's API.
    struct Wire: Decodable {
        struct Limits: Decodable {
            var maxStorage: Int64?
        }
        struct Tier: Decodable {
            var storage: UInt64
            var limits: Limits?
        }
        var storage: UInt64
        var limits: Limits?
        var tiers: [String: Tier]?
    }
}

/// The configuration and the present state of a stream.
public struct StreamInfo: Sendable, Equatable {
    /// The configuration.
    public let configuration: StreamConfiguration
    /// When it was created, in nanoseconds since 1970; tells apart a stream and its successor of the same name.
    public let created: Int64
    /// The sequence of the oldest message; without messages `lastSequence + 1`, or 0 in a new stream.
    public let firstSequence: UInt64
    /// The sequence of the newest message, even if it is removed; 0 before the first.
    public let lastSequence: UInt64
    /// When the newest message was stored, in nanoseconds since 1970; nil before the first.
    public let lastTime: Int64?
    /// The number of messages.
    public let messages: UInt64
    /// Their bytes.
    public let bytes: UInt64
    /// Whether it belongs to a cluster of servers.
    public let isClustered: Bool
    /// How many other servers have a copy of it and can be reached.
    public let reachableCopies: Int
    /// How many other servers have all of it, as its leader sees it.
    public let currentCopies: Int
}

extension StreamInfo {
    /// The JSON of JetStream's API.
    struct Wire: Decodable {
        struct State: Decodable {
            var messages: UInt64
            var bytes: UInt64
            var firstSeq: UInt64
            var lastSeq: UInt64
            var lastTs: String?
        }
        struct Cluster: Decodable {
            struct Replica: Decodable {
                var offline: Bool?
                var current: Bool?
            }
            /// Nil while none is elected.
            var leader: String?
            /// The other servers that have a copy.
            var replicas: [Replica]?
        }
        var config: StreamConfiguration.Wire
        var created: String
        var state: State
        var cluster: Cluster?

        /// Whether the creation time is not set yet.
        var isBeingCreated: Bool { created.hasPrefix("0001-01-01") }

        var hasNoLeader: Bool { cluster.map { $0.leader?.isEmpty ?? true } ?? false }
    }

    init(_ wire: Wire) throws(JetStreamError) {
        configuration = StreamConfiguration(wire.config)
        created = try ServerTime.parse(wire.created)
        firstSequence = wire.state.firstSeq
        lastSequence = wire.state.lastSeq
        lastTime = wire.state.lastSeq > 0 ? try wire.state.lastTs.map(ServerTime.parse) : nil
        messages = wire.state.messages
        bytes = wire.state.bytes
        isClustered = wire.cluster != nil
        reachableCopies = wire.cluster?.replicas?.count { $0.offline != true } ?? 0
        currentCopies = wire.cluster?.replicas?.count { $0.offline != true && $0.current == true } ?? 0
    }
}
