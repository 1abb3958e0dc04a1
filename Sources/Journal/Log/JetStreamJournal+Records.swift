import Logging
import NATSClient
import StrokeWire
import Synchronization
import Whiteboard

extension JetStreamJournal {
    /// A message of the log as a record; nil, and counted, when it is no room's.
    func record(
        _ message: borrowing NATSMessage, _ metadata: DeliveryMetadata, of partition: Int
    ) -> JournalRecord? {
        guard let subject = InboundSubject(message.subject, root: root), subject.address.partition == partition,
            subject.address.isCanonical(among: partitions)
        else {
            noteMisaddressed(message.subject, partition)
            return nil
        }
        do {
            guard let content = try JournalRecord.Content(message, on: subject) else { return nil }
            return JournalRecord(
                partition: partition, room: subject.address.room, content: content, sequence: metadata.streamSequence,
                loggedAt: Instant(nanoseconds: metadata.time))
        } catch {
            refused.add(1, ordering: .relaxed)
            logger.warning(
                "control record refused", metadata: ["room": "\(subject.address.room)", "error": "\(error)"])
            return nil
        }
    }

    /// Counts it, and tells of the first, the second, the fourth and so on: what teachers lose is worth a line.
    private func noteMisaddressed(_ subject: String, _ partition: Int) {
        let count = misaddressed.add(1, ordering: .relaxed).newValue
        guard count & (count - 1) == 0 else { return }
        logger.warning(
            "a message on a subject that is no room's is skipped; do its sender and the service agree on partitions?",
            metadata: ["subject": "\(subject)", "partitions": "\(partitions)", "count": "\(count)"])
    }
}
