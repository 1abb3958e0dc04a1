import NATSClient

extension JetStreamJournal {
    /// Whether one of the partition's two streams is not there, though it was made: deleted, or gone with the server's
    /// store.
    ///
    /// - Throws: `.stream` when JetStream does not say.
    public func lacksStreams(_ partition: Int) async throws(JournalError) -> Bool {
        let streams = PartitionStreams(root: root, partition: partition)
        for name in [streams.log, streams.checkpoint] {
            do throws(JetStreamError) {
                _ = try await jetStream.streamInfo(name)
            } catch {
                guard error.isStreamMissing else { throw .stream(name: name, error) }
                return true
            }
        }
        return false
    }
}
