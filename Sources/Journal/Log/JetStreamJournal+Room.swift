import NATSClient
public import StrokeWire
public import Whiteboard

extension JetStreamJournal {
    /// The records of one room after a place of its partition's log, up to where the log ends now: for a room whose
    /// newest checkpoint cannot be read.
    ///
    /// Takes memory for all of them, and reads all that the partition's log has there: the server refuses a filter that
    /// is not one of the stream's own subjects, and of two readings with one each, neither would end where the other
    /// does.
    /// - Throws: `.stream`, also when the log does not come to an end within `timeout`.
    public func records(
        of room: RoomID, after sequence: UInt64, timeout: Duration = .seconds(60)
    ) async throws(JournalError) -> [JournalRecord] {
        let partition = RoomAddress.partition(of: room, among: partitions)
        let streams = PartitionStreams(root: root, partition: partition)
        let settings = OrderedConsumerSettings(stream: streams.log, start: .sequence(sequence &+ 1))
        let found = Locked<[JournalRecord]>([])
        do throws(JetStreamError) {
            try await jetStream.readToEnd(settings, logger: logger, timeout: timeout) { message, metadata in
                guard let record = self.record(message, metadata, of: partition), record.room == room else { return }
                found.withLock { $0.append(record) }
            }
        } catch {
            throw .stream(name: streams.log, error)
        }
        return found.withLock { $0 }
    }
}
