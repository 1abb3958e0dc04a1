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
        let stream = PartitionStreams(root: root, partition: partition).log
        do throws(JetStreamError) {
            // A damaged sequence has the log end far behind what it has lost: then the record is missing.
            let record = try await jetStream.message(stream, manifest.handled)
            return record?.time == at.nanoseconds ? .there : .lost
        } catch {
            throw .stream(name: stream, error)
        }
    }
}

/// A record that is written to its log again.
struct SalvagedRecord: Sendable {
    let subject: String
    let headers: NATSHeaders
    let payload: [UInt8]
}

extension JetStreamJournal {
    /// Bytes of records that are written again at most.
    private static let salvageBound = 256 << 20

    /// Gives a log with one replica that has lost its end a new file: nats-server 2.9 acknowledges what it writes behind a
    /// damaged place, and cannot read it. What checkpoints lack of the log is written again, behind the rest.
    ///
    /// A replicated log is left as its leader has it: see ``renewCopies(of:)``.
    /// - Parameter catalogue: the checkpoints. `catalogue.covered` must not be beyond `rewind.end`.
    /// - Throws: `.stream`. Records that no checkpoint holds are in memory alone between the deletion and the writing: where that
    ///   fails or is killed, they are lost but for what their authors give again.
    public func renewFile(
        of partition: Int, _ rewind: LogRewind, _ catalogue: CheckpointCatalogue
    ) async throws(JournalError) {
        let stream = PartitionStreams(root: root, partition: partition).log
        let lost = Set(rewind.rooms.map(\.room))
        let salvaged: (records: [SalvagedRecord], last: UInt64)?
        do throws(JetStreamError) {
            let log = try await jetStream.streamInfo(stream)
            guard log.configuration.replicas == 1 else { return }
            salvaged = try await salvage(partition, after: catalogue.covered, through: log.lastSequence) { record in
                guard let manifest = catalogue.rooms[record.room] else { return true }
                guard lost.contains(record.room) else { return record.sequence > manifest.sequence }
                return manifest.loggedAt.map { record.loggedAt > $0 } ?? true
            }
        } catch {
            throw .stream(name: stream, error)
        }
        guard let (records, last) = salvaged else {
            return logger.warning(
                "the log that has lost its end is kept as it is: checkpoints lack too much of it",
                metadata: ["partition": "\(partition)"])
        }
        try await trim(partition, before: last + 1)
        for record in records {
            do throws(JetStreamError) {
                _ = try await jetStream.publish(record.payload, to: record.subject, headers: record.headers)
            } catch {
                throw .stream(name: stream, error)
            }
        }
    }

    /// - Returns: nil where it is more than may be kept in memory.
    private func salvage(
        _ partition: Int, after sequence: UInt64, through last: UInt64,
        where isNeeded: @escaping @Sendable (JournalRecord) -> Bool
    ) async throws(JetStreamError) -> (records: [SalvagedRecord], last: UInt64)? {
        let settings = OrderedConsumerSettings(
            stream: PartitionStreams(root: root, partition: partition).log, start: .sequence(sequence + 1))
        var (records, bytes): ([SalvagedRecord], Int) = ([], 0)
        try await jetStream.readToEnd(
            settings, logger: logger,
            decode: { message, metadata -> SalvagedRecord? in
                guard metadata.streamSequence <= last, let record = self.record(message, metadata, of: partition),
                    isNeeded(record)
                else { return nil }
                // Not the id, by which the log would drop it as a repeat.
                var headers: NATSHeaders = [:]
                for name in [HeaderName.session, MovedRecord.header] {
                    if let value = message.header(name) { headers.append(name, value) }
                }
                return SalvagedRecord(subject: message.subject, headers: headers, payload: message.copyPayload())
            },
            take: { record in
                bytes += record.payload.count + 256
                if bytes <= Self.salvageBound { records.append(record) }
            })
        return bytes <= Self.salvageBound ? (records, last) : nil
    }
}

extension JetStreamJournal {
    private static let renewalPause = Duration.seconds(1)

    /// Has the other servers copy a partition's replicated streams anew from their leaders. Where all servers have lost the ends
    /// of their files, nats-server (seen with 2.9.10 and 2.12.8) may keep copies that are longer than the leader's: they take
    /// nothing new, some of them are told to be current, and one of them may lead later.
    ///
    /// Waits until all servers can be reached. Publishers are acknowledged meanwhile; for a moment the leader has the only copy.
    /// Retries until it is done, or the task is cancelled.
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
                    try await jetStream.setReplicas(1, of: stream)
                    try await jetStream.setReplicas(wanted, of: stream)
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
}
