import Logging
import NATSClient
import StrokeWire

extension CheckpointStore {
    /// The state that a manifest names, checked by its length and hash; nil, and logged, when a part is missing or
    /// damaged, and without a log line when the manifest names none.
    public func state(of manifest: CheckpointManifest) async throws(JournalError) -> [UInt8]? {
        guard let state = manifest.state else { return nil }
        guard state.parts.count <= Self.maxParts else { return unusable(manifest, "it names too many parts") }
        let streams = streams(of: RoomAddress.partition(of: manifest.room, among: partitions))
        var bytes: [UInt8] = []
        for (number, sequence) in state.parts.enumerated() {
            guard let part = try await part(sequence, streams), part.subject == streams.part(number, of: manifest.room)
            else { return unusable(manifest, "part \(number) is not there") }
            bytes += part.payload
            guard bytes.count <= state.bytes else { break }
        }
        guard bytes.count == state.bytes, FNV1a64.hash(bytes) == state.hash else {
            return unusable(manifest, "the parts are not those that were written")
        }
        return bytes
    }

    private func part(_ sequence: UInt64, _ streams: PartitionStreams) async throws(JournalError) -> StoredMessage? {
        do throws(JetStreamError) {
            return try await jetStream.message(streams.checkpoint, sequence)
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
    }

    private func unusable(_ manifest: CheckpointManifest, _ why: String) -> [UInt8]? {
        logger.warning("checkpoint cannot be used", metadata: ["room": "\(manifest.room)", "reason": "\(why)"])
        return nil
    }
}
