import Hosting
import StrokeWire
import Whiteboard

/// A world that takes everything and does nothing: what a host asks of it is looked at by a test.
final class FakeWorld: HostOutput {
    var isConnected = true
    var places = 100
    /// Whether decisions are in the journal at once.
    var isVolatile = false
    private(set) var published: [RoomEffect] = []
    private(set) var decisions: [(record: ControlRecord, id: String)] = []
    private(set) var fetched: [(room: RoomID, stored: StoredRoom)] = []
    private(set) var saves: [SaveRequest] = []
    private(set) var refused = 0
    private(set) var ready: [Int] = []
    private(set) var closed: [Int] = []
    private(set) var left: [RoomID] = []
    private(set) var forgotten: [RoomID] = []
    var lastSequence: UInt64 = 0

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        if isConnected { published.append(effect) }
        return isConnected
    }

    func append(_ record: ControlRecord, to room: HostedRoom, id: String, at now: Instant) -> JournalRecord? {
        decisions.append((record, id))
        guard isVolatile else { return nil }
        lastSequence += 10
        return JournalRecord(
            partition: 0, room: room.id, content: .control(record), sequence: lastSequence, loggedAt: now)
    }

    func refuse(_ record: JournalRecord) { refused += 1 }
    func takePlace() -> Bool {
        guard places > 0 else { return false }
        places -= 1
        return true
    }
    func giveBackPlace() { places += 1 }
    func fetch(_ room: RoomID, _ stored: StoredRoom) { fetched.append((room, stored)) }
    func save(_ request: SaveRequest) { saves.append(request) }
    func settled(_ room: HostedRoom, _ counts: RoomCounts) {}
    func opened(_ room: HostedRoom) {}
    func left(_ room: HostedRoom) { left.append(room.id) }
    func forgotten(_ room: RoomID) { forgotten.append(room) }
    func ready(_ partition: Int) { ready.append(partition) }
    func closed(_ partition: Int) { closed.append(partition) }

    /// Indices released to a cohort, in order.
    func released(_ cohort: CohortName = .main) -> [UInt64] {
        published.compactMap { if case .release(cohort, let operation, _, _) = $0 { operation.index } else { nil } }
    }

    /// What authors were told.
    var told: [Feedback] {
        published.compactMap { if case .feedback(_, let feedback) = $0 { feedback } else { nil } }
    }

    func takeSaves() -> [SaveRequest] {
        defer { saves = [] }
        return saves
    }
}
