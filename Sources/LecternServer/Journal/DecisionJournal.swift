import Hosting
import Journal
import StrokeWire
import Whiteboard

/// Where decisions are written.
protocol DecisionJournal: Sendable {
    /// - Parameter id: the same for the same decision, so that the journal keeps one.
    /// - Returns: the record, where the journal has it at once.
    func append(_ record: ControlRecord, room: RoomAddress, id: String, at now: Instant) -> JournalRecord?
}

extension VolatileJournal: DecisionJournal {
    /// Without a stream there is nobody to share it with.
    func append(_ record: ControlRecord, room: RoomAddress, id: String, at now: Instant) -> JournalRecord? {
        append(record, room: room.room, at: now)
    }
}

extension JetStreamJournal: DecisionJournal {
    func append(_ record: ControlRecord, room: RoomAddress, id: String, at now: Instant) -> JournalRecord? {
        append(record, room: room.room, id: id)
        return nil
    }
}
