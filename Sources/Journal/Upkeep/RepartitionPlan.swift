import Hosting
import Logging
import NATSClient
import StrokeWire

/// The streams of the new partitions, with limits that what the copies hold fits in.
///
/// A moved record takes some 80 bytes more than it did, and partitions are never equally full, so that limits that held for
/// the old logs may not hold for the new ones.
struct RepartitionPlan {
    /// A log that was copied.
    struct Source {
        let streams: PartitionStreams
        let hasCheckpoints: Bool
        /// The incarnation prefix of the log.
        let prefix: String
        let records: UInt64
    }

    let sources: [Source]
    /// The new logs, by partition.
    private(set) var logs: [StreamConfiguration]
    /// The new streams of checkpoints, by partition; empty where there were none.
    private(set) var checkpoints: [StreamConfiguration] = []
    /// What the new streams are created like.
    let log: CopiedStream
    private(set) var checkpoint: CopiedStream?
    private let reservation: String
    /// What the new streams will hold.
    private var bytes: UInt64 = 0

    var partitions: Int { logs.count }

    /// Reads all copies, and where the streams are still there, compares these with their checkpoints.
    /// - Throws: `.tooLarge` where a record cannot be moved; `.unrepaired`; `.newer` where a newer release has written a
    ///   checkpoint, which must not be met when the streams are gone.
    init(
        _ layout: RepartitionLayout, to partitions: Int, _ jetStream: JetStream, _ logger: Logger,
        _ onProgress: (Repartitioning.Progress) -> Void
    ) async throws {
        let copied = layout.copied
        reservation = layout.reservation
        log = try await jetStream.original(of: PartitionStreams(root: layout.root, partition: 0, areCopies: true).log)
        // Each begins with its mark.
        var sizes = [Size](repeating: Size(bytes: 256, messages: 1), count: partitions)
        var checkpointSize = Size()
        var sources: [Source] = []
        for streams in copied {
            onProgress(.measuring(copy: streams.log))
            let prefix = try await jetStream.original(of: streams.log).label
            let hasCheckpoints = layout.copies.contains(streams.checkpoint)
            let catalogue =
                hasCheckpoints && layout.step == .copy
                ? try await Self.catalogue(of: streams, log: prefix, root: layout.root, jetStream, logger) : nil
            var records: UInt64 = 0
            try await jetStream.readCopy(streams, log: prefix, among: copied.count, logger) { record in
                guard let message = MovedMessage(record, root: layout.root, partitions: partitions) else { return }
                if let catalogue, catalogue.lacksRestoration(of: record, in: message.room) {
                    throw Repartitioning.Failure.unrepaired(log: streams.original.log)
                }
                let (size, limit) = (message.payloadBytes, jetStream.connection.maxPayload)
                guard size <= limit else {
                    throw Repartitioning.Failure.tooLarge(
                        copy: streams.log, sequence: record.sequence, bytes: size, limit: limit)
                }
                sizes[message.partition].add(message)
                records += 1
            }
            if hasCheckpoints {
                let info = try await jetStream.streamInfo(streams.checkpoint)
                checkpointSize.bytes += info.bytes
                checkpointSize.messages += info.messages
                if checkpoint == nil { checkpoint = try await jetStream.original(of: streams.checkpoint) }
            }
            sources.append(
                Source(streams: streams, hasCheckpoints: hasCheckpoints, prefix: prefix, records: records))
        }
        self.sources = sources
        logs = []
        for (partition, size) in sizes.enumerated() {
            let streams = PartitionStreams(root: layout.root, partition: partition)
            logs.append(size.fitting(log.configuration, name: streams.log, subjects: [streams.moved]))
            guard let checkpoint else { continue }
            // How much of them a partition gets is not looked at.
            checkpoints.append(
                checkpointSize.fitting(
                    checkpoint.configuration, name: streams.checkpoint,
                    subjects: [streams.manifests, "\(streams.manifests).>"]))
        }
        bytes = sizes.reduce(checkpointSize.bytes) { $0 + $1.bytes }
    }

    /// The checkpoints beside a log. Refuses a log that has lost its end while they have more of it: in another log they would
    /// seem to hold what teachers have written since.
    private static func catalogue(
        of copies: PartitionStreams, log prefix: String, root: String, _ jetStream: JetStream, _ logger: Logger
    ) async throws -> CheckpointCatalogue {
        let catalogue = try await CheckpointStore.copies(root: root, jetStream, logger)
            .catalogue(of: copies.partition, log: prefix)
        let log = copies.original.log
        let info = try await jetStream.streamInfo(log)
        let rewind = try await jetStream.rewind(
            of: log, first: info.firstSequence, last: info.lastSequence, catalogue)
        guard rewind == nil else { throw Repartitioning.Failure.unrepaired(log: log) }
        return catalogue
    }

    /// Finds out whether the new streams have space in the account and the server when the streams of a layout are deleted.
    /// - Throws: `.noSpace`.
    func checkSpace(replacing layout: RepartitionLayout, _ jetStream: JetStream) async throws {
        var (growth, reserved) = (Int64(bytes), (logs + checkpoints).reduce(0) { $0 + max(0, $1.maxBytes) })
        for name in layout.names {
            let info = try await jetStream.streamInfo(name)
            growth -= Int64(info.bytes)
            reserved -= max(0, info.configuration.maxBytes)
        }
        let replicas = log.configuration.replicas
        growth *= Int64(replicas)
        // A user may lack the permission.
        if let storage = try? await jetStream.storage(replicas: replicas), let limit = storage.limit {
            let missing = Int64(storage.bytes) + growth - Int64(limit)
            guard missing <= 0 else { throw Repartitioning.Failure.noSpace(bytes: UInt64(missing)) }
        }
        guard reserved > 0 else { return }
        // What servers have reserved they tell nobody but an administrator of theirs: a stream tries it.
        if layout.leftovers.contains(reservation) { try await jetStream.delete(reservation) }
        var stream = StreamConfiguration(name: reservation, subjects: [])
        (stream.maxBytes, stream.replicas) = (reserved, replicas)
        do throws(JetStreamError) {
            try await jetStream.create(stream, like: log)
        } catch {
            guard error.isFull else { throw error }
            throw Repartitioning.Failure.noSpace(bytes: UInt64(reserved))
        }
        try await jetStream.delete(reservation)
    }
}

extension CheckpointCatalogue {
    /// Whether a record restores its room, and the checkpoints do not know of it.
    fileprivate func lacksRestoration(of record: CopiedLogRecord, in room: RoomID) -> Bool {
        guard record.sequence > covered, let known = rooms[room], let restoration = record.restoration else {
            return false
        }
        return restoration.number > known.restorations
    }
}

extension RepartitionPlan {
    /// What a stream will hold.
    private struct Size {
        var bytes: UInt64 = 0
        var messages: UInt64 = 0
        /// Bytes of the largest message with its headers.
        var largest = 0

        mutating func add(_ message: MovedMessage) {
            bytes += UInt64(message.storedBytes)
            messages += 1
            largest = max(largest, message.payloadBytes)
        }

        /// A stream like another one, with limits that this fits in.
        func fitting(_ other: StreamConfiguration, name: String, subjects: [String]) -> StreamConfiguration {
            var stream = other
            (stream.name, stream.subjects) = (name, subjects)
            stream.maxBytes = Self.raised(other.maxBytes, for: bytes, step: 1_048_576)
            stream.maxMessages = Self.raised(other.maxMessages, for: messages, step: 1)
            if other.maxMessageSize > 0 { stream.maxMessageSize = max(other.maxMessageSize, Int32(clamping: largest)) }
            return stream
        }

        /// A limit under which no daemon trims the log at once.
        private static func raised(_ limit: Int64, for size: UInt64, step: Double) -> Int64 {
            let wanted = Double(size) / LogSpace.high
            guard limit > 0, wanted > Double(limit) else { return limit }
            return Int64((wanted / step).rounded(.up) * step)
        }
    }
}
