import Hosting
import StrokeWire
import Whiteboard

/// A world that takes everything and does nothing: what a host asks of it is looked at by a test.
final class FakeWorld: HostOutput {
    var isConnected = true
    /// Rooms that may be stored, and those that are.
    var storedLimit = 100
    private(set) var storedRooms = 0
    /// Whether decisions are in the journal at once.
    var isVolatile = false
    private(set) var published: [RoomEffect] = []
    private(set) var decisions: [ControlRecord] = []
    /// Whether the server answers when it is asked for a confirmation.
    var confirms = true
    private var isAsked = false
    private(set) var confirmations = 0
    private(set) var fetched: [(room: RoomID, stored: StoredRoom)] = []
    private(set) var saves: [SaveRequest] = []
    private(set) var ready: [Int] = []
    private(set) var closed: [Int] = []
    private(set) var left: [RoomID] = []
    private(set) var forgotten: [RoomID] = []
    var lastSequence: UInt64 = 0

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        if isConnected { published.append(effect) }
        return isConnected
    }

    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? {
        decisions.append(record)
        guard isVolatile else { return nil }
        lastSequence += 10
        return JournalRecord(
            partition: 0, room: room.id, content: .control(record), sequence: lastSequence, loggedAt: now)
    }

    func confirm() {
        isAsked = true
        confirmations += 1
    }

    /// Whether a confirmation is to be answered now.
    func takeConfirmation() -> Bool {
        guard isAsked, confirms else { return false }
        isAsked = false
        return true
    }

    func countNew(_ partition: Int) -> Bool {
        guard storedRooms < storedLimit else { return false }
        storedRooms += 1
        return true
    }

    func countStored(_ change: Int, of partition: Int) { storedRooms += change }
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

    /// Whether the stroke with that number was released late to a cohort; nil where it was not released.
    func lateness(of number: Int64) -> Bool? {
        published.compactMap {
            if case .release(_, let operation, let isLate, _) = $0, operation.number == number { isLate } else { nil }
        }
        .last
    }

    /// When what was released was due, in order.
    var dueTimes: [Instant] {
        published.compactMap { if case .release(_, _, _, let due) = $0 { due } else { nil } }
    }

    /// What authors were told.
    var told: [Feedback] {
        published.compactMap { if case .feedback(_, _, let feedback) = $0 { feedback } else { nil } }
    }

    func takeFetches() -> [RoomID] {
        defer { fetched = [] }
        return fetched.map(\.room)
    }

    /// Messages that were refused, by room.
    func refusals(of code: RejectionCode) -> [Int64?] {
        told.compactMap {
            if case .rejected(let number, _, let rejection) = $0, rejection.code == code { number } else { nil }
        }
    }

    func takeSaves() -> [SaveRequest] {
        defer { saves = [] }
        return saves
    }
}
