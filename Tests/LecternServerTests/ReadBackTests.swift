import Dispatch
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Hosting
@testable import LecternServer
@testable import Whiteboard

/// The checkpoints of one room, written by a keeper without a host.
private struct KeptRoom {
    let id: RoomID
    let log: PartitionLog
    let store: CheckpointStore
    let keeper: CheckpointKeeper
    let trimmer: LogTrimmer
    private let connection: NATSConnection
    private let generation: UInt64

    init(_ lesson: DurableClass) async throws {
        let address = try lesson.address("kept")
        id = address.room
        connection = lesson.client
        let journal = connection.journal()
        log = try await journal.provision(0)
        // What a room that is restored from an older state reads again.
        for number in 1...5 {
            try await connection.publishDurably(Hand.stroke(number, at: 0), to: address, author: "alice")
        }
        store = connection.checkpoints()
        keeper = CheckpointKeeper(
            store: store, journal: journal, connection: connection, configuration: lesson.configuration,
            assetUse: AssetUse(interval: .seconds(60)), metrics: ServerMetrics(), logger: .silent)
        trimmer = LogTrimmer(keeper, journal: journal, interval: .zero, logger: .silent)
        keeper.open(0, CheckpointCatalogue(), log: log.incarnationPrefix)
        generation = try await connection.confirmPublished()
    }

    private func stored(_ sequence: UInt64, life: String) -> StoredRoom {
        StoredRoom(
            sequence: sequence, handled: sequence, cursors: [:], isQuiet: true, hasState: true, incarnation: life)
    }

    private func room(life: String) throws -> Room {
        var room = Room(configuration: RoomConfiguration(), at: MonotonicClock.now())
        var effects = RoomEffects()
        let message = IncomingMessage(
            author: try .test("alice"), session: nil, bytes: Array(Hand.stroke(1, at: 0).utf8),
            loggedAt: MonotonicClock.now())
        room.receive(message, incarnation: { life }, at: MonotonicClock.now(), into: &effects)
        try #require(room.head.visible.count == 1)
        return room
    }

    /// - Parameter asked: called when it has been asked for, and before anything of it is done.
    func save(
        _ sequence: UInt64, life: String = "life", asked: () -> Void = {}
    ) async throws -> CheckpointKeeper.SaveOutcome {
        let request = SaveRequest(
            room: id, partition: 0, state: .changed(try room(life: life).checkpoint()),
            stored: stored(sequence, life: life))
        let isAsked = DispatchSemaphore(value: 0)
        keeper.tasks.run(for: id) { isAsked.wait() }
        return await withCheckedContinuation { done in
            keeper.save(request, publishedOn: generation) { done.resume(returning: $0) }
            asked()
            isAsked.signal()
        }
    }

    func fetch(_ sequence: UInt64) async -> RestoredRoom {
        await withCheckedContinuation { done in
            keeper.fetch(id, stored(sequence, life: "life")) { done.resume(returning: $0) }
        }
    }

    /// The manifest that counts.
    func newest() async throws -> CheckpointManifest? {
        try await store.manifest(of: id, log: log.incarnationPrefix)
    }

    /// Damages the newest state, and forgets the room.
    func damage() async throws {
        await store.discard(try #require(try await newest()?.state), room: id)
        keeper.evict(id)
    }
}

/// A checkpoint counts only where a room was restored from its bytes: the log is deleted on its word.
@Suite struct `A checkpoint that cannot be read back` {
    @Test func `is not stored, and the room before it stays`() async throws {
        try await DurableClass.with { lesson in
            let kept = try await KeptRoom(lesson)
            #expect(try await kept.save(1) == .saved)
            // No reader takes a space in the name of a life.
            #expect(try await kept.save(2, life: "two words") == .failed)
            #expect(try await kept.newest()?.sequence == 1)
            #expect(try await kept.save(3) == .saved)
        }
    }

    @Test func `leaves the older one reachable that the room was restored from, until a newer one is read back`()
        async throws
    {
        try await DurableClass.with { lesson in
            let kept = try await KeptRoom(lesson)
            #expect(try await kept.save(1) == .saved)
            #expect(try await kept.save(2) == .saved)
            let good = try #require(try await kept.newest()?.previous)
            try await kept.damage()
            #expect(await kept.fetch(2).sequence == 1)
            #expect(try await kept.save(3) == .saved)
            #expect(try await kept.newest()?.previous == good)
            #expect(try await kept.store.bytes(of: good.state, room: kept.id) != nil)
            // The next one is damaged as well.
            try await kept.damage()
            #expect(await kept.fetch(3).sequence == 1)
            #expect(try await kept.save(4) == .saved)
            #expect(try await kept.save(5) == .saved)
            #expect(try await kept.newest()?.generations.map(\.sequence) == [5, 4])
        }
    }

    @Test func `of a partition that was opened anew since is not stored`() async throws {
        try await DurableClass.with { lesson in
            let kept = try await KeptRoom(lesson)
            let outcome = try await kept.save(1) {
                kept.keeper.close(0)
                kept.keeper.open(0, CheckpointCatalogue(), log: "another")
            }
            #expect(outcome == .failed)
            #expect(try await kept.newest() == nil)
            #expect(try await kept.store.manifest(of: kept.id, log: "another") == nil)
        }
    }
}

@Suite struct `A store of JetStream without space` {
    @Test func `gets some from the older state of a room, though no manifest can be written before`() async throws {
        let settings = ServerConfiguration.test { $0.journal = JournalSettings() }
        let small = "jetstream: { max_file_store: 1M }"
        try await NATSTestServer.withConnection(jetStream: true, configuration: small) { nats, client in
            let kept = try await KeptRoom(DurableClass(nats: nats, client: client, configuration: settings))
            #expect(try await kept.save(1) == .saved)
            #expect(try await kept.save(2) == .saved)
            #expect(try await kept.newest()?.previous?.sequence == 1)
            await kept.keeper.note(covered: 5, of: 0)
            let jetStream = JetStream(client)
            // The log has nothing to give back.
            try await jetStream.purge("INK_LOG_0", before: 2)
            _ = try await jetStream.provision(StreamConfiguration(name: "FILLER", subjects: ["filler"]))
            while try await jetStream.storage(replicas: 1).bytes < 930_000 {
                _ = try await jetStream.publish([UInt8](repeating: 0, count: 60_000), to: "filler")
            }
            while (try? await jetStream.publish([0], to: "filler")) != nil {}
            #expect(try await kept.save(3) == .failed)
            await kept.trimmer.trim(0, covered: 5)
            try await eventually("it is given back", is: await kept.newest()?.previous == nil)
            #expect(try await kept.newest()?.sequence == 2)
        }
    }
}
