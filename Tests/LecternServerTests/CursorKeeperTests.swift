import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Hosting
@testable import LecternServer
@testable import Whiteboard

/// Notes of rooms, written by a keeper without a host.
private struct NotedRooms {
    let rooms: [RoomID]
    let log: PartitionLog
    let store: CheckpointStore
    let keeper: CheckpointKeeper
    private let generation: UInt64

    init(_ lesson: DurableClass, _ names: String...) async throws {
        rooms = try names.map { try lesson.address($0).room }
        let journal = lesson.client.journal()
        log = try await journal.provision(0)
        store = lesson.client.checkpoints()
        keeper = CheckpointKeeper(
            store: store, journal: journal, connection: lesson.client, configuration: lesson.configuration,
            assetUse: AssetUse(interval: .seconds(60)), metrics: ServerMetrics(), logger: .silent)
        keeper.open(0, CheckpointCatalogue(), log: log.incarnationPrefix)
        generation = try await lesson.client.confirmPublished()
    }

    func save(_ room: RoomID, released: UInt64, isWhole: Bool = false) async -> CheckpointKeeper.SaveOutcome {
        let blank = Room(configuration: RoomConfiguration(), at: MonotonicClock.now())
        let stored = StoredRoom(
            sequence: 1, handled: 1, cursors: [.main: CohortCursor(released)], isQuiet: true, hasState: true,
            incarnation: "life")
        let request = SaveRequest(
            room: room, partition: 0, state: isWhole ? .changed(blank.checkpoint()) : .unchanged, stored: stored)
        return await withCheckedContinuation { done in
            keeper.save(request, publishedOn: generation) { done.resume(returning: $0) }
        }
    }

    func saveAll(released: UInt64) async -> Bool {
        await withTaskGroup(of: CheckpointKeeper.SaveOutcome.self) { group in
            for room in rooms { group.addTask { await save(room, released: released) } }
            return await group.allSatisfy { $0 == .saved }
        }
    }

    /// Where the cohort stands: in the room's manifest, and for whoever opens the partition.
    func released(_ room: RoomID) async throws -> (manifest: UInt64?, start: UInt64?) {
        let prefix = log.incarnationPrefix
        return (
            try await store.manifest(of: room, log: prefix)?.cursors[.main]?.released,
            try await store.catalogue(of: 0, log: prefix).rooms[room]?.cursors[.main]?.released
        )
    }
}

@Suite struct CursorKeeperTests {
    @Test func `Notes of rooms share a record, and come into manifests when the partition is handed over`() async throws
    {
        try await DurableClass.with { lesson in
            let noted = try await NotedRooms(lesson, "one", "two", "three")
            for room in noted.rooms { #expect(await noted.save(room, released: 3, isWhole: true) == .saved) }
            #expect(await noted.saveAll(released: 7))
            for room in noted.rooms {
                let released = try await noted.released(room)
                #expect(released.manifest == 3 && released.start == 7)
            }
            #expect(try await noted.store.catalogue(of: 0, log: noted.log.incarnationPrefix).notes.count == 3)
            await noted.keeper.foldAllNotes(of: 0)
            for room in noted.rooms { #expect(try await noted.released(room).manifest == 7) }
            #expect(try await noted.store.catalogue(of: 0, log: noted.log.incarnationPrefix).notes.isEmpty)
        }
    }

    @Test func `The next owner writes again what no manifest has, beside what it notes itself`() async throws {
        try await DurableClass.with { lesson in
            let noted = try await NotedRooms(lesson, "idle", "busy")
            for room in noted.rooms { #expect(await noted.save(room, released: 3, isWhole: true) == .saved) }
            #expect(await noted.saveAll(released: 5))
            // Killed, and taken over.
            let prefix = noted.log.incarnationPrefix
            noted.keeper.open(0, try await noted.store.catalogue(of: 0, log: prefix), log: prefix)
            // More than are kept on a subject.
            for released in UInt64(6)...10 { #expect(await noted.save(noted.rooms[1], released: released) == .saved) }
            #expect(try await noted.released(noted.rooms[0]).start == 5)
            #expect(try await noted.released(noted.rooms[1]).start == 10)
        }
    }

    @Test func `What the last owner has noted comes into manifests where records have no space for it`() async throws {
        try await DurableClass.with { lesson in
            let noted = try await NotedRooms(lesson, "one")
            #expect(await noted.save(noted.rooms[0], released: 3, isWhole: true) == .saved)
            let prefix = noted.log.incarnationPrefix
            var catalogue = try await noted.store.catalogue(of: 0, log: prefix)
            var note = CursorNote(try #require(catalogue.rooms[noted.rooms[0]]))
            // Larger than a record.
            for number in 0..<3000 { note.cursors[try #require(CohortName("c\(number)"))] = 1 }
            note.cursors[.main] = 7
            catalogue.notes = [note]
            noted.keeper.open(0, catalogue, log: prefix)
            noted.keeper.foldNotes(of: 0)
            try await eventually("the manifest has the note", is: await noted.released(noted.rooms[0]).manifest == 7)
        }
    }
}
