public import Logging
public import NATSClient
import StrokeWire

/// The checkpoints of a partition's rooms, in its stream `<ROOT>_CHECKPOINT_<p>`, which `JetStreamJournal.provision`
/// makes.
///
/// A checkpoint is a manifest, on `<address>.checkpoint`, and the parts of the room's state, on
/// `<address>.checkpoint.<i>`, which are written first: a manifest that is there names parts that are there. The stream
/// keeps three messages of each subject, so that a checkpoint outlives two that were begun and not finished.
///
/// A value; any thread.
public struct CheckpointStore: Sendable {
    let root: String
    let partitions: Int
    let jetStream: JetStream
    let logger: Logger

    /// - Parameters:
    ///   - root: first tokens of all subjects.
    ///   - partitions: how many there are in all.
    ///   - timeout: for each request to JetStream.
    public init(
        root: String, partitions: Int, connection: NATSConnection, timeout: Duration = .seconds(5), logger: Logger
    ) {
        self.root = root
        self.partitions = partitions
        self.logger = logger
        jetStream = JetStream(connection, timeout: timeout)
    }

    func streams(of partition: Int) -> PartitionStreams {
        PartitionStreams(root: root, partition: partition)
    }
}
