import StrokeWire
import Whiteboard

@testable import Hosting

/// What a host asks for, to be answered by the history, and what it releases.
final class PowerCutOutput: HostOutput {
    typealias Fetch = (room: RoomID, stored: StoredRoom, restoration: RoomRestoration?)
    typealias Decision = (room: RoomID, record: ControlRecord)
    typealias Release = (room: RoomID, incarnation: String, index: UInt64, author: AuthorID)

    private var isAsked = false
    private var saves: [SaveRequest] = []
    private var fetches: [Fetch] = []
    private var decisions: [Decision] = []
    private var releases: [Release] = []
    private(set) var isClosed = false

    func takeRequests() -> (Bool, [SaveRequest], [Fetch], [Decision]) {
        defer { (isAsked, saves, fetches, decisions) = (false, [], [], []) }
        return (isAsked, saves, fetches, decisions)
    }

    func takeReleases() -> [Release] {
        defer { releases = [] }
        return releases
    }

    func publish(_ effect: RoomEffect, of room: HostedRoom) -> Bool {
        if case .release(_, let operation, _, _) = effect {
            releases.append((room.id, room.room?.incarnation ?? "", operation.index, operation.author))
        }
        return true
    }

    func append(_ record: ControlRecord, to room: HostedRoom, at now: Instant) -> JournalRecord? {
        decisions.append((room.id, record))
        return nil
    }

    func confirm() { isAsked = true }
    func fetch(_ room: RoomID, _ stored: StoredRoom, _ restoration: RoomRestoration?) {
        fetches.append((room, stored, restoration))
    }

    func save(_ request: SaveRequest) { saves.append(request) }
    func closed(_ partition: Int, isWhole: Bool) { isClosed = true }
}
