import Dispatch
import Locking
import NATSClient
import StrokeWire

/// Publishes samples to NATS: those of one clock as they come, those of many together, as ``ClockBatch``es. Any thread may
/// call; nothing waits.
final class SampleBatcher: Sendable {
    /// Clocks tick together, and this is long enough for all of them. By so much the ink of many clocks is later.
    private static let delay = DispatchTimeInterval.milliseconds(5)

    private let connection: NATSConnection
    private let root: String
    private let partitions: Int
    private let batches: Bool
    /// By partition.
    private let waiting = Locked<[Int: ClockBatch]>([:])
    /// Subjects that the server does not let the connection publish to.
    private let forbidden = Locked<Set<String>>([])

    /// - Parameter batches: whether samples are sent together.
    init(_ connection: NATSConnection, root: String, partitions: Int, batches: Bool) {
        self.connection = connection
        self.root = root
        self.partitions = partitions
        self.batches = batches
        connection.onPermissionViolation { [forbidden] violation in
            guard violation.action == .publish else { return }
            forbidden.withLock { _ = $0.insert(violation.subject) }
        }
    }

    /// Why samples of a cohort will not be accepted any more.
    func failure(of room: RoomID, _ cohort: CohortName) -> String? {
        let address = address(of: room)
        let subject =
            batches ? ClockBatch.subject(root: root, partition: address.partition) : address.subject(.clock(cohort))
        return forbidden.withLock { $0.contains(subject) } ? "\(PermissionViolation(.publish, subject))" : nil
    }

    /// - Returns: whether the sample is on its way.
    func publish(_ sample: ClockSample, room: RoomID, cohort: CohortName) -> Bool {
        let address = address(of: room)
        guard batches else { return send(sample.encoded(), to: address.subject(.clock(cohort))) }
        guard connection.state == .connected else { return false }
        let (isFirst, full) = waiting.withLock { waiting in
            let isFirst = waiting.isEmpty
            if waiting[address.partition, default: ClockBatch()].add(sample, room: room, cohort: cohort) {
                return (isFirst, nil as ClockBatch?)
            }
            let full = waiting.removeValue(forKey: address.partition)
            _ = waiting[address.partition, default: ClockBatch()].add(sample, room: room, cohort: cohort)
            return (isFirst, full)
        }
        if let full { send(full, of: address.partition) }
        if isFirst { DispatchQueue.global().asyncAfter(deadline: .now() + Self.delay) { self.flush() } }
        return true
    }

    /// Sends what waits, and closes the connection.
    func close() async {
        flush()
        await connection.drain()
    }

    private func flush() {
        for (partition, batch) in waiting.exchange([:]) { send(batch, of: partition) }
    }

    private func send(_ batch: ClockBatch, of partition: Int) {
        _ = send(batch.encoded(), to: ClockBatch.subject(root: root, partition: partition))
    }

    private func send(_ bytes: [UInt8], to subject: String) -> Bool {
        do throws(NATSError) {
            try connection.publish(bytes, to: subject)
            return true
        } catch {
            return false
        }
    }

    private func address(of room: RoomID) -> RoomAddress { RoomAddress(root: root, room: room, partitions: partitions) }
}
