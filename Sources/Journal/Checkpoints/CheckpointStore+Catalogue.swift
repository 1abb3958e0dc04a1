import Logging
import NATSClient
import StrokeWire

extension CheckpointStore {
    /// The newest usable manifest of every room of a partition. Where the newest one is damaged, an older one counts;
    /// rooms of which only damaged ones are there are listed.
    ///
    /// Takes memory for one manifest a room.
    /// - Throws: `.stream`, also when the stream does not come to an end within `timeout`.
    public func catalogue(
        of partition: Int, timeout: Duration = .seconds(60)
    ) async throws(JournalError) -> CheckpointCatalogue {
        let streams = streams(of: partition)
        var catalogue = CheckpointCatalogue()
        for message in try await newest(streams, timeout) {
            guard let room = streams.room(ofManifest: message.subject) else { continue }
            if let manifest = try? CheckpointManifest(decoding: message.payload), manifest.room == room {
                catalogue.add(manifest)
            } else if let manifest = try await newestUsable(room) {
                logger.warning("newest checkpoint is damaged; an older one counts", metadata: ["room": "\(room)"])
                catalogue.add(manifest)
                catalogue.outdated.append(room)
            } else {
                logger.error("checkpoints are damaged", metadata: ["room": "\(room)"])
                catalogue.damaged.append(room)
            }
        }
        return catalogue
    }

    private func newest(
        _ streams: PartitionStreams, _ timeout: Duration
    ) async throws(JournalError) -> [StoredMessage] {
        do throws(JetStreamError) {
            return try await jetStream.newestMessages(
                streams.checkpoint, matching: streams.manifests, logger: logger, timeout: timeout)
        } catch {
            throw .stream(name: streams.checkpoint, error)
        }
    }
}
