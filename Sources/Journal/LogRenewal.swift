public import Hosting
import Logging
import NATSClient
import StrokeWire
import Whiteboard

/// Gives a log with one replica another file where what it stores cannot be read, see
/// ``NATSClient/JetStream/leaveDamagedFile(of:filler:logger:)``. The damaged file is deleted: the server's count of what it has
/// stays wrong as long as it is there. Before that, what checkpoints lack of it is written again, behind it.
///
/// Each step leaves all records in the log, and shows there: whoever is killed has another daemon go on, and two at once do no
/// harm. A replicated log mends itself from other servers, and is left alone.
extension JetStreamJournal {
    /// Has the log go on in another file where what it stores cannot be read.
    public func leaveDamagedFile(of partition: Int) async throws(JournalError) {
        let streams = PartitionStreams(root: root, partition: partition)
        try await onStream(streams.log) { () throws(JetStreamError) in
            try await jetStream.leaveDamagedFile(of: streams.log, filler: streams.logFiller, logger: logger)
        }
    }

    /// Whether the log acknowledges what it cannot read.
    public func hasDamagedFile(_ partition: Int) async throws(JournalError) -> Bool {
        let streams = PartitionStreams(root: root, partition: partition)
        return try await onStream(streams.log) { () throws(JetStreamError) in
            try await jetStream.storesUnreadably(streams.log, filler: streams.logFiller)
        }
    }

    /// Of the connection that the streams are reached by; each connection of the process has another one.
    public var connectionGeneration: UInt64 { jetStream.connection.generation }

    /// Has the streams that all partitions share go on in other files where they cannot read what they store.
    public func leaveDamagedSharedFiles() async throws(JournalError) {
        let streams = [
            (AssetSubjects(root: root).stream, AssetSubjects(root: root).filler),
            (AuditLog.stream(of: root), AuditLog.filler(root)),
            (RevocationStore.stream(root), RevocationStore.filler(root)),
        ]
        for (stream, filler) in streams {
            do throws(JetStreamError) {
                try await jetStream.leaveDamagedFile(of: stream, filler: filler, logger: logger)
            } catch {
                guard error.isStreamMissing else { throw .stream(name: stream, error) }
            }
        }
    }

    /// Deletes damaged files that the log has left, after what checkpoints lack of them is written again.
    ///
    /// - Parameters:
    ///   - catalogue: the checkpoints. Records up to `catalogue.covered` are not written again.
    ///   - rewind: what the log has lost, where it has: records of those rooms are told by their times, since sequences were
    ///     given out twice.
    /// - Returns: whether there was such a file.
    public func deleteDamagedFiles(
        of partition: Int, _ catalogue: CheckpointCatalogue, _ rewind: LogRewind? = nil
    ) async throws(JournalError) -> Bool {
        let streams = PartitionStreams(root: root, partition: partition)
        var deleted: UInt64 = 0
        return try await onStream(streams.log) { () throws(JetStreamError) in
            let info = try await jetStream.streamInfo(streams.log)
            guard info.configuration.replicas == 1 else { return false }
            let lost = Set(rewind?.rooms.map(\.room) ?? [])
            // The server answers a request for message 0, that of a log which has lost all its files, with an error.
            let hasLast = !lost.isEmpty && info.lastSequence > 0
            let last = hasLast ? try await jetStream.message(streams.log, info.lastSequence)?.time : nil
            while let end = try await jetStream.endOfDamagedFile(
                of: streams.log, filler: streams.logFiller, logger: logger), end > deleted
            {
                let written = try await writeAgain(partition, after: catalogue.covered, before: end) { record in
                    guard let manifest = catalogue.rooms[record.room] else { return true }
                    guard let rewind, lost.contains(record.room) else { return record.sequence > manifest.sequence }
                    return rewind.isNew(record, to: manifest, in: last.map(Instant.init(nanoseconds:)))
                }
                try await jetStream.purge(streams.log, before: end)
                deleted = end
                logger.notice(
                    "deleted a damaged file of the log",
                    metadata: ["partition": "\(partition)", "before": "\(end)", "written_again": "\(written)"])
            }
            return deleted > 0
        }
    }

    /// Bytes of records that are in memory at a time.
    private static let batchBytes = 32 << 20

    /// - Returns: the number of records that were written.
    private func writeAgain(
        _ partition: Int, after sequence: UInt64, before end: UInt64,
        where isNeeded: @escaping @Sendable (JournalRecord) -> Bool
    ) async throws(JetStreamError) -> Int {
        let stream = PartitionStreams(root: root, partition: partition).log
        // Others may have written some of them, behind the file.
        var copies: Set<CopiedRecord.Key> = []
        try await jetStream.readToEnd(
            OrderedConsumerSettings(stream: stream, start: end), logger: logger,
            decode: { message, _ in CopiedRecord.key(ofCopy: message) }, take: { copies.insert($0) })
        var (next, written) = (sequence + 1, 0)
        while next < end {
            var (batch, bytes): ([CopiedRecord], Int) = ([], 0)
            var isWhole = true
            try await jetStream.readToEnd(
                OrderedConsumerSettings(stream: stream, start: next), logger: logger,
                decode: { [copies] message, metadata -> CopiedRecord? in
                    guard metadata.streamSequence < end, let record = self.record(message, metadata, of: partition),
                        isNeeded(record)
                    else { return nil }
                    let copy = CopiedRecord(message, metadata)
                    return copies.contains(copy.key) ? nil : copy
                },
                take: { record in
                    isWhole = isWhole && bytes < Self.batchBytes
                    guard isWhole else { return }
                    batch.append(record)
                    bytes += record.payload.count + 256
                })
            for record in batch {
                let headers = record.headers(within: jetStream.connection.maxPayload)
                _ = try await jetStream.publish(record.payload, to: record.key.subject, headers: headers)
            }
            written += batch.count
            guard !isWhole, let last = batch.last else { break }
            next = last.sequence + 1
        }
        return written
    }
}

/// A record that is written to its log again, with its headers.
private struct CopiedRecord: Sendable {
    /// Of a copy: the sequence of the record, and when it was logged, in nanoseconds since 1970.
    private static let header = "Ink-Copied"

    /// Tells the copies of a record from other records. Nobody can have others taken for them: what differs is written again.
    struct Key: Hashable, Sendable {
        /// The value of the header.
        let place: String
        let subject: String
        let hash: UInt64
    }

    let sequence: UInt64
    let key: Key
    let payload: [UInt8]
    private let kept: NATSHeaders

    init(_ message: borrowing NATSMessage, _ metadata: DeliveryMetadata) {
        sequence = metadata.streamSequence
        payload = message.copyPayload()
        key = Key(
            place: "\(sequence) \(metadata.time)", subject: message.subject, hash: FNV1a64.hash(payload))
        // Not the id, by which the log would drop the copy as a repeat. Of a decision it is that of the command.
        let request = key.subject.hasSuffix(".ctl") ? MovedRecord.request(of: message) : nil
        var headers = message.copyHeaders().without("Nats-").without(Self.header).without(MovedRecord.requestHeader)
        if let request { headers.append(MovedRecord.requestHeader, request) }
        kept = headers
    }

    static func key(ofCopy message: borrowing NATSMessage) -> Key? {
        guard let place = message.header(Self.header) else { return nil }
        return Key(place: place, subject: message.subject, hash: FNV1a64.hash(message.copyPayload()))
    }

    /// With an id, by which the log drops the copy of another daemon that writes at the same time. Nobody can guess it.
    /// - Parameter limit: bytes of a message with its headers; a record without space for more has its own alone.
    func headers(within limit: Int) -> NATSHeaders {
        var headers = kept
        headers.append(Self.header, key.place)
        headers.append(HeaderName.msgID, "copy/\(key.place.replacing(" ", with: "/"))")
        let bytes = headers.fields.reduce(payload.count + 12) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        return bytes <= limit ? headers : kept
    }
}
