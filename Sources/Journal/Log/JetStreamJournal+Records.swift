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
            misaddressed.add(1, ordering: .relaxed)
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
}
