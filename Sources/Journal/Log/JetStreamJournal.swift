public import Logging
public import NATSClient
public import StrokeWire
import Synchronization

/// The journal in JetStream: a stream for each partition that captures what authors publish, whether or not a daemon
/// runs, and that every daemon reads in the same order.
///
/// Safe to use from any thread. Events are delivered on the connection's delivery thread.
public final class JetStreamJournal: Sendable {
    let root: String
    let partitions: Int
    let settings: JournalSettings
    let jetStream: JetStream
    let logger: Logger
    let misaddressed = Atomic<Int>(0)
    let refused = Atomic<Int>(0)

    /// - Parameters:
    ///   - root: first tokens of all subjects.
    ///   - partitions: how many there are in all.
    public init(
        root: String, partitions: Int, settings: JournalSettings, connection: NATSConnection, logger: Logger
    ) {
        self.root = root
        self.partitions = partitions
        self.settings = settings
        self.logger = logger
        jetStream = JetStream(connection, timeout: settings.timeout)
    }

    /// Records on subjects that no client makes from an address, so far; they are skipped.
    public var misaddressedCount: Int { misaddressed.load(ordering: .relaxed) }

    /// Control records that could not be read, so far; they are skipped, by every replica.
    public var refusedCount: Int { refused.load(ordering: .relaxed) }

    /// Makes the partition's two streams, for its log and its checkpoints, where they are missing. Streams that are
    /// there are never changed; what differs from the settings is logged.
    ///
    /// - Throws: `.stream` when there is no JetStream, when it takes no more streams, or when a stream of that name
    ///   does not keep what it should.
    public func provision(_ partition: Int) async throws(JournalError) -> PartitionLog {
        let streams = PartitionStreams(root: root, partition: partition)
        let log = try await provision(streams.logConfiguration(settings))
        let lifetime = try await provision(streams.checkpointConfiguration(settings)).configuration.maxAge
        return PartitionLog(
            incarnationPrefix: String(log.created, radix: 36), firstSequence: log.firstSequence,
            lastSequence: log.lastSequence, checkpointLifetime: lifetime > .zero ? lifetime : nil)
    }

    /// Writes a decision. It takes effect when it comes back by the log; nobody waits for it here, and one that gets
    /// lost must be written again.
    /// - Parameter id: the decision's own name: within the duplicate window the log takes it once.
    public func append(_ record: ControlRecord, room: RoomID, id: String) {
        let address = RoomAddress(root: root, room: room, partitions: partitions)
        do {
            try jetStream.connection.publish(
                record.encoded(), to: address.subject(.control), headers: [HeaderName.msgID: id])
        } catch {
            logger.debug("decision not written", metadata: ["room": "\(room)", "error": "\(error)"])
        }
    }

    private func provision(_ stream: StreamConfiguration) async throws(JournalError) -> StreamInfo {
        do throws(JetStreamError) {
            let (info, differences) = try await jetStream.provision(stream)
            for difference in differences {
                logger.warning(
                    "stream is not as configured; it stays as it is",
                    metadata: ["stream": "\(stream.name)", "difference": "\(difference)"])
            }
            return info
        } catch {
            throw .stream(name: stream.name, error)
        }
    }
}
