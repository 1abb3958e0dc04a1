import NATSClient
public import StrokeWire

extension CheckpointStore {
    /// Bytes of a part at the most; less where the server takes less.
    static let partBytes = 512 << 10
    /// Parts of a state at the most: half a gigabyte.
    static let maxParts = 1024

    /// Writes a room's state, part by part, each acknowledged. It counts once a manifest names it.
    ///
    /// - Returns: what to put into the manifest.
    /// - Throws: `.checkpointTooLarge`; `.stream` when JetStream does not take a part.
    public func save(state bytes: [UInt8], room: RoomID) async throws(JournalError) -> CheckpointManifest.State {
        // Headers count, too.
        let size = max(1, min(Self.partBytes, jetStream.connection.maxPayload - 4096))
        let count = (bytes.count + size - 1) / size
        guard count <= Self.maxParts else { throw .checkpointTooLarge(bytes: bytes.count) }
        let streams = streams(of: RoomAddress.partition(of: room, among: partitions))
        var parts: [UInt64] = []
        for number in 0..<count {
            let part = Array(bytes[number * size..<min(bytes.count, (number + 1) * size)])
            parts.append(try await publish(part, to: streams.part(number, of: room), streams))
        }
        return CheckpointManifest.State(parts: parts, bytes: bytes.count, hash: FNV1a64.hash(bytes))
    }

    /// Writes a manifest and waits until it is acknowledged: from then on it is the room's checkpoint.
    ///
    /// - Throws: `.superseded` where there is one that holds more: a daemon that has stood still must not push out what
    ///   another has saved since. Two that write at the same moment do no harm: three are kept, and the best counts.
    public func save(_ manifest: CheckpointManifest) async throws(JournalError) {
        try await refuse(manifest.sequence, of: manifest.room, log: manifest.log)
        let streams = streams(of: RoomAddress.partition(of: manifest.room, among: partitions))
        _ = try await publish(manifest.encoded(), to: streams.manifest(of: manifest.room), streams)
    }

    /// Throws `.superseded` where a checkpoint of the same log holds more than the records up to `sequence`.
    public func refuse(_ sequence: UInt64, of room: RoomID, log: String) async throws(JournalError) {
        let streams = streams(of: RoomAddress.partition(of: room, among: partitions))
        guard let stored = try await newest(on: streams.manifest(of: room), streams), stored.log == log,
            stored.sequence > sequence
        else { return }
        throw .superseded(room: room, by: stored.sequence)
    }

    private func newest(
        on subject: String, _ streams: PartitionStreams
    ) async throws(JournalError) -> CheckpointManifest? {
        do throws(JetStreamError) {
            let message = try await jetStream.lastMessage(streams.checkpoint, subject: subject)
            return message.flatMap { try? CheckpointManifest(decoding: $0.payload) }
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
    }

    /// Notes that all records of a partition up to `sequence` are in checkpoints that were acknowledged.
    /// - Parameter log: which log, for one that is made anew counts from 1 again: its `incarnationPrefix`.
    public func save(covered sequence: UInt64, of partition: Int, log: String) async throws(JournalError) {
        let streams = streams(of: partition)
        _ = try await publish(Coverage(log: log, covered: sequence).encoded(), to: streams.coverage, streams)
    }

    /// Without a `Nats-Msg-Id`: for a repeat, the server would name the place of a message that may have gone since.
    private func publish(
        _ bytes: [UInt8], to subject: String, _ streams: PartitionStreams
    ) async throws(JournalError) -> UInt64 {
        do throws(JetStreamError) {
            return try await jetStream.publish(bytes, to: subject).sequence
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
    }
}
