import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Hosting
@testable import LecternServer
@testable import Whiteboard

/// A checkpoint counts only where a room was restored from its bytes: the log is deleted on its word.
@Suite struct `A checkpoint that cannot be read back` {
    private static func room(life: String) throws -> Room {
        var room = Room(configuration: RoomConfiguration(), at: MonotonicClock.now())
        var effects = RoomEffects()
        let message = IncomingMessage(
            author: try #require(AuthorID("alice")), session: nil, bytes: Array(Hand.stroke(1, at: 0).utf8),
            loggedAt: MonotonicClock.now())
        room.receive(message, incarnation: { life }, at: MonotonicClock.now(), into: &effects)
        try #require(room.head.visible.count == 1)
        return room
    }

    @Test func `is not stored, and the room before it stays`() async throws {
        try await DurableClass.with { lesson in
            let id = try lesson.address("kept").room
            let journal = JetStreamJournal(
                root: lesson.configuration.root, partitions: 1, settings: JournalSettings(), connection: lesson.client,
                logger: .silent)
            let log = try await journal.provision(0)
            let store = CheckpointStore(
                root: lesson.configuration.root, partitions: 1, connection: lesson.client, logger: .silent)
            let keeper = CheckpointKeeper(
                store: store, journal: journal, connection: lesson.client, configuration: lesson.configuration,
                assetUse: AssetUse(interval: .seconds(60)), metrics: ServerMetrics(), logger: .silent)
            keeper.open(0, CheckpointCatalogue(), log: log.incarnationPrefix)
            let generation = try await lesson.client.confirmPublished()
            func save(_ sequence: UInt64, life: String) async throws -> CheckpointKeeper.SaveOutcome {
                let stored = StoredRoom(
                    sequence: sequence, handled: sequence, cursors: [:], isQuiet: true, hasState: true,
                    incarnation: life)
                let request = SaveRequest(
                    room: id, partition: 0, state: .changed(try Self.room(life: life).checkpoint()), stored: stored)
                return await withCheckedContinuation { done in
                    keeper.save(request, publishedOn: generation) { done.resume(returning: $0) }
                }
            }
            #expect(try await save(1, life: "life") == .saved)
            // No reader takes a space in the name of a life.
            #expect(try await save(2, life: "two words") == .failed)
            let newest = try await store.manifest(of: id, log: log.incarnationPrefix)
            #expect(newest?.sequence == 1)
            #expect(try await save(3, life: "life") == .saved)
        }
    }
}
