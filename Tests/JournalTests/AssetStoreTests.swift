import Assets
import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Journal

/// A store on a test's own server.
private struct TestStore: Sendable {
    let store: AssetStore
    let jetStream: JetStream

    static func with(
        maxAge: Duration = .seconds(30 * 86_400), maxBytes: Int64 = 64 << 20, roomBytes: Int64 = -1,
        configuration: String? = nil,
        _ body: @Sendable (TestStore, NATSTestServer) async throws -> Void
    ) async throws {
        try await NATSTestServer.withConnection(jetStream: true, configuration: configuration) { server, nats in
            var settings = JournalSettings()
            settings.maxAge = maxAge
            let store = AssetStore(
                root: "ink", settings: settings, maxBytes: maxBytes, roomBytes: roomBytes, connection: nats,
                logger: .silent)
            try await body(TestStore(store: store, jetStream: JetStream(nats)), server)
        }
    }

    /// The same with the stream.
    static func provisioned(
        maxAge: Duration = .seconds(30 * 86_400), maxBytes: Int64 = 64 << 20, roomBytes: Int64 = -1,
        configuration: String? = nil,
        _ body: @Sendable (TestStore, NATSTestServer) async throws -> Void
    ) async throws {
        try await with(
            maxAge: maxAge, maxBytes: maxBytes, roomBytes: roomBytes, configuration: configuration
        ) { test, server in
            try await test.store.provision()
            try await body(test, server)
        }
    }

    /// The number of messages of the stream.
    func messages() async throws -> UInt64 { try await jetStream.streamInfo("INK_ASSETS").messages }
}

/// A file of any bytes, and its manifest.
private struct SampleAsset: Sendable {
    let bytes: [UInt8]
    let manifest: AssetManifest
    var id: AssetID { manifest.id }
    var manifestSubject: String { "ink.assets.\(id).manifest" }

    init(_ count: Int, _ salt: Int = 0) throws {
        bytes = (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3 &+ salt) }
        let page = try #require(AssetPage(width: 595.276, height: 841.89))
        manifest = try #require(
            AssetManifest(id: AssetID(hashOf: bytes), format: .pdf, bytes: count, pages: [page, page]))
    }
}

private func day(_ days: Int64) -> Int64 { WallClock.now() + days * 86_400 * 1_000_000_000 }

@Suite struct AssetStoreTests {
    @Test func `The name of an asset is the SHA-256 of its bytes`() {
        // FIPS 180-4, the example of "abc".
        let name = AssetID(hashOf: Array("abc".utf8)).description
        #expect(name == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func `A stored asset comes back as it was, in parts of at most 256 KiB`() async throws {
        try await TestStore.provisioned { test, _ in
            for bytes in [1, 256 << 10, (256 << 10) + 1, 3_000_000] {
                let asset = try SampleAsset(bytes)
                #expect(try await test.store.manifest(of: asset.id) == nil)
                #expect(try await test.store.bytes(of: asset.id) == nil)
                let before = try await test.messages()
                try await test.store.save(asset.bytes, asset.manifest)
                #expect(try await test.messages() - before == UInt64((bytes + (256 << 10) - 1) / (256 << 10) + 1))
                #expect(try await test.store.manifest(of: asset.id) == asset.manifest)
                #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            }
        }
    }

    @Test func `Before the stream is made there is no asset, and none comes to a room`() async throws {
        try await TestStore.with { test, _ in
            let asset = try SampleAsset(1)
            let room = try #require(RoomID("r"))
            #expect(try await test.store.manifest(of: asset.id) == nil)
            #expect(try await test.store.note(asset.id, in: room) == nil)
            #expect(try await !test.store.wasUploaded(asset.id, to: room))
        }
    }

    @Test func `A server with small messages gets small parts`() async throws {
        try await TestStore.provisioned(configuration: "max_payload: 65536") { test, _ in
            let asset = try SampleAsset(200_000)
            try await test.store.save(asset.bytes, asset.manifest)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            #expect(try await test.messages() == 5)
        }
    }

    @Test func `An asset is stored once, however often it is uploaded`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(700_000)
            try await test.store.save(asset.bytes, asset.manifest)
            let before = try await test.messages()
            for _ in 0..<3 { try await test.store.save(asset.bytes, asset.manifest) }
            #expect(try await test.messages() == before)
        }
    }

    @Test func `Uploads of one file at the same time leave one asset`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(1_000_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 { group.addTask { try await test.store.save(asset.bytes, asset.manifest) } }
                try await group.waitForAll()
            }
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            // Of uploads that ended at the same instant, the parts of one alone are named.
            try await test.store.sweep(at: day(1))
            #expect(try await test.messages() == 5)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
        }
    }

    @Test func `An upload that was cut off is not seen, harms no later one, and is swept`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(700_000)
            let id = asset.id
            for part in 0..<2 {
                _ = try await test.jetStream.publish(Array(asset.bytes[..<1000]), to: "ink.assets.\(id).torn.\(part)")
            }
            #expect(try await test.store.manifest(of: id) == nil)
            #expect(try await test.store.bytes(of: id) == nil)
            #expect(try await test.store.sweep() == 0)
            #expect(try await test.messages() == 2)
            try await test.store.save(asset.bytes, asset.manifest)
            #expect(try await test.store.sweep(at: day(1)) == 2)
            #expect(try await test.messages() == 4)
            #expect(try await test.store.bytes(of: id) == asset.bytes)
        }
    }

    @Test func `Assets that were not used for the journal's age and a quarter go, others stay`() async throws {
        try await TestStore.provisioned(maxAge: .seconds(8 * 86_400)) { test, _ in
            let (old, used) = (try SampleAsset(300_000, 1), try SampleAsset(300_000, 2))
            try await test.store.save(old.bytes, old.manifest)
            try await test.store.save(used.bytes, used.manifest)
            #expect(try await test.store.sweep(at: day(9)) == 0)
            #expect(try await test.store.sweep(at: day(11)) == 6)
            #expect(try await test.store.manifest(of: old.id) == nil)
            try await test.store.save(old.bytes, old.manifest)
            #expect(try await test.store.bytes(of: old.id) == old.bytes)
            #expect(try await test.messages() == 3)
        }
    }

    @Test func `An asset that is used is written again, so that it stays`() async throws {
        // An eighth of this age passes during the test.
        try await TestStore.provisioned(maxAge: .seconds(2)) { test, _ in
            let asset = try SampleAsset(300_000)
            try await test.store.save(asset.bytes, asset.manifest)
            let subject = asset.manifestSubject
            let first = try #require(try await test.jetStream.lastMessage("INK_ASSETS", subject: subject))
            let second = try await eventually("the manifest is written again") {
                try await test.store.touch([asset.id])
                let message = try await test.jetStream.lastMessage("INK_ASSETS", subject: subject)
                return message.flatMap { $0.sequence > first.sequence ? $0 : nil }
            }
            #expect(second.payload == first.payload)
            #expect(try await test.store.sweep(at: second.time + 2_499_999_999) == 0)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            #expect(try await test.store.sweep(at: second.time + 2_500_000_001) == 3)
        }
    }

    @Test func `An unknown asset can be touched`() async throws {
        try await TestStore.provisioned { test, _ in
            try await test.store.touch([try SampleAsset(5).id])
        }
    }

    @Test func `A room has its bytes of assets, each once, whoever takes the uploads; others have theirs`() async throws
    {
        try await TestStore.provisioned(roomBytes: 1_000_000) { test, server in
            let (physics, chemistry) = (try Self.room("physics"), try Self.room("chemistry"))
            let assets = try (1...3).map { try SampleAsset(400_000, $0) }
            for asset in assets.prefix(2) {
                for _ in 0..<2 { try await test.store.save(asset.bytes, asset.manifest, for: physics) }
                #expect(try await test.store.wasUploaded(asset.id, to: physics))
                #expect(try await !test.store.wasUploaded(asset.id, to: chemistry))
            }
            #expect(try await test.store.usedBytes(of: physics) == 800_000)
            let before = try await test.messages()
            // Another daemon, or this one after a restart.
            try await NATSConnection.with(server) { nats in
                let other = AssetStore(
                    root: "ink", settings: JournalSettings(), maxBytes: -1, roomBytes: 1_000_000, connection: nats,
                    logger: .silent)
                await #expect(throws: AssetStoreError.roomFull(limit: 1_000_000)) {
                    try await other.save(assets[2].bytes, assets[2].manifest, for: physics)
                }
                #expect(try await test.messages() == before)
                #expect(try await !test.store.wasUploaded(assets[2].id, to: physics))
                // What the room has may be brought again; what another has, into this one.
                try await other.save(assets[0].bytes, assets[0].manifest, for: physics)
                try await other.save(assets[2].bytes, assets[2].manifest, for: chemistry)
            }
        }
    }

    @Test func `Uploads to a room at the same time do not go beyond its bytes`() async throws {
        try await TestStore.provisioned(roomBytes: 1_000_000) { test, _ in
            let room = try Self.room("physics")
            let saved = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 1...6 {
                    let asset = try SampleAsset(300_000, number)
                    group.addTask {
                        do {
                            try await test.store.save(asset.bytes, asset.manifest, for: room)
                            return true
                        } catch AssetStoreError.roomFull {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(saved <= 3)
            #expect(try await test.store.usedBytes(of: room) == Int64(300_000 * saved))
            let asset = try SampleAsset(100, 9)
            try await test.store.save(asset.bytes, asset.manifest, for: room)
            // Small ones count for more than they have.
            #expect(try await test.store.usedBytes(of: room) == Int64(300_000 * saved + (16 << 10)))
        }
    }

    @Test func `The records of rooms stay and go with the asset`() async throws {
        try await TestStore.provisioned(maxAge: .seconds(8 * 86_400)) { test, _ in
            let (physics, chemistry) = (try Self.room("physics"), try Self.room("chemistry"))
            let asset = try SampleAsset(100)
            for room in [physics, chemistry] { try await test.store.save(asset.bytes, asset.manifest, for: room) }
            #expect(try await test.messages() == 4)
            #expect(try await test.store.sweep(at: day(9)) == 0)
            #expect(try await test.store.sweep(at: day(11)) == 4)
            #expect(try await test.store.usedBytes(of: physics) == 0)
            // One of an upload that was cut off goes like its parts.
            let record = "ink.assets.\(asset.id).in-room.physics"
            _ = try await test.jetStream.publish(RoomAssetRecord(bytes: 100).encoded(), to: record)
            #expect(try await test.store.sweep() == 0)
            #expect(try await test.store.sweep(at: day(1)) == 1)
        }
    }

    @Test func `An asset that was noted in another room is not erased with the first; afterwards it is too late`()
        async throws
    {
        try await TestStore.provisioned(roomBytes: 10) { test, _ in
            let (physics, chemistry) = (try Self.room("physics"), try Self.room("chemistry"))
            let (copied, late) = (try SampleAsset(100, 1), try SampleAsset(100, 2))
            for asset in [copied, late] {
                try await test.store.save(asset.bytes, asset.manifest)
                try await test.store.note(asset.id, in: physics)
            }
            // Beyond the room's limit: what it names it has.
            #expect(try await test.store.note(copied.id, in: chemistry) == copied.manifest)
            let now = try await test.store.lastSequence()
            // The log's server is behind in time.
            let boundary = AssetBoundary(before: now, after: now, decidedAt: 0)
            #expect(try await test.store.erase(copied.id, of: physics, boundary) == .inUse)
            #expect(try await test.store.bytes(of: copied.id) == copied.bytes)
            #expect(try await test.store.erase(late.id, of: physics, boundary) == .gone)
            #expect(try await test.store.note(late.id, in: chemistry) == nil)
            #expect(try await !test.store.wasUploaded(late.id, to: chemistry))
        }
    }

    @Test func `An asset that is erased while it is used is whole for a room that is told that it is there`()
        async throws
    {
        // Each use writes the manifest again.
        try await TestStore.provisioned(maxAge: .milliseconds(8)) { test, _ in
            let (physics, chemistry) = (try Self.room("physics"), try Self.room("chemistry"))
            let seed = TestSeed.choose()
            var random = SeededGenerator(seed: seed)
            for round in 0..<20 {
                let asset = try SampleAsset(100, round)
                try await test.store.save(asset.bytes, asset.manifest, for: physics)
                let now = try await test.store.lastSequence()
                let boundary = AssetBoundary(before: now, after: now, decidedAt: 0)
                async let erasure = test.store.erase(asset.id, of: physics, boundary)
                async let uses: Void = { for _ in 0..<8 { try await test.store.touch([asset.id]) } }()
                // Some moment of the erasure.
                for _ in 0..<random.int(0...6) { _ = try await test.store.lastSequence() }
                let told = try await test.store.note(asset.id, in: chemistry)
                let outcome = try await erasure
                try await uses
                let bytes = try await test.store.bytes(of: asset.id)
                let isRight = outcome == .gone ? told == nil && bytes == nil : told == nil || bytes == asset.bytes
                #expect(isRight, "seed \(seed), round \(round): \(outcome), told \(told != nil), there \(bytes != nil)")
            }
        }
    }

    @Test func `An asset that is swept while it is used or uploaded is whole or gone`() async throws {
        // It is old at once, and each use writes the manifest again.
        try await TestStore.provisioned(maxAge: .milliseconds(8)) { test, _ in
            let room = try Self.room("physics")
            let seed = TestSeed.choose()
            var random = SeededGenerator(seed: seed)
            for round in 0..<12 {
                let assets = try (0..<32).map { try SampleAsset(100, round * 32 + $0) }
                for asset in assets { try await test.store.save(asset.bytes, asset.manifest) }
                let (uploaded, touched) = (assets.prefix(8), assets.dropFirst(8))
                // What was written until now is old, and nothing else.
                async let swept = test.store.sweep(at: WallClock.now() + 10_000_001)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for asset in assets {
                        let pause = random.int(0...60)
                        let isUpload = uploaded.contains { $0.id == asset.id }
                        group.addTask {
                            // Some moment of the sweep.
                            for _ in 0..<pause { _ = try await test.store.lastSequence() }
                            if isUpload {
                                try await test.store.save(asset.bytes, asset.manifest, for: room)
                            } else {
                                try await test.store.touch([asset.id])
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                _ = try await swept
                for asset in touched {
                    let bytes = try await test.store.bytes(of: asset.id)
                    let isThere = try await test.store.manifest(of: asset.id) != nil
                    #expect(isThere ? bytes == asset.bytes : bytes == nil, "seed \(seed), round \(round)")
                }
                for asset in uploaded {
                    #expect(try await test.store.bytes(of: asset.id) == asset.bytes, "seed \(seed), round \(round)")
                    #expect(try await test.store.wasUploaded(asset.id, to: room), "seed \(seed), round \(round)")
                }
            }
        }
    }

    @Test func `An upload of which a part is erased meanwhile is stored again`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(8 << 20)
            let connection = test.jetStream.connection
            // The first part is stored when the second one comes.
            _ = try connection.subscribe("ink.assets.\(asset.id).*.1") { _ in
                let request = Array(#"{"seq":1}"#.utf8)
                try? connection.publish(request, to: "$JS.API.STREAM.MSG.DELETE.INK_ASSETS", reply: "nobody")
            }
            try await connection.flush()
            try await test.store.save(asset.bytes, asset.manifest)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            // Nothing is left of the first attempt.
            #expect(try await test.messages() == 33)
        }
    }

    @Test func `An asset that is uploaded while it is erased is whole and the room's, or gone`() async throws {
        try await TestStore.provisioned { test, _ in
            let physics = try Self.room("physics")
            let seed = TestSeed.choose()
            var random = SeededGenerator(seed: seed)
            for round in 0..<30 {
                let asset = try SampleAsset(400_000, round)
                let pause = random.int(0...12)
                async let upload: Void = test.store.save(asset.bytes, asset.manifest, for: physics)
                // Some moment of the upload.
                for _ in 0..<pause { _ = try await test.store.lastSequence() }
                let now = try await test.store.lastSequence()
                let boundary = AssetBoundary(before: now, after: now, decidedAt: 0)
                let outcome = try await test.store.erase(asset.id, of: physics, boundary)
                if outcome != .left { try await test.store.eraseRecord(of: asset.id, in: physics, boundary) }
                try await upload
                let isThere = try await test.store.manifest(of: asset.id) != nil
                #expect(
                    try await test.store.bytes(of: asset.id) == (isThere ? asset.bytes : nil),
                    "seed \(seed), round \(round): \(outcome)")
                let isNoted = try await test.store.wasUploaded(asset.id, to: physics)
                #expect(!isThere || isNoted, "seed \(seed), round \(round): \(outcome)")
            }
        }
    }

    private static func room(_ name: String) throws -> RoomID { try #require(RoomID(name)) }

    @Test func `A full store refuses an asset and keeps nothing of it`() async throws {
        try await TestStore.provisioned(maxBytes: 4 << 20) { test, _ in
            let (small, large) = (try SampleAsset(3 << 20, 1), try SampleAsset(1 << 20, 2))
            try await test.store.save(small.bytes, small.manifest)
            let before = try await test.messages()
            await #expect(throws: AssetStoreError.full) { try await test.store.save(large.bytes, large.manifest) }
            #expect(try await test.messages() == before)
            // What is there can be used, and read.
            try await test.store.save(small.bytes, small.manifest)
            #expect(try await test.store.bytes(of: small.id) == small.bytes)
        }
    }

    @Test func `A stream that is full before the end of an upload keeps nothing of it`() async throws {
        try await TestStore.provisioned(maxBytes: 4 << 20) { test, _ in
            // A stream of the operator's that holds less than the store knows of.
            let other = AssetStore(
                root: "school.ink", settings: JournalSettings(), maxBytes: -1, connection: test.jetStream.connection,
                logger: .silent)
            var stream = StreamConfiguration(name: "SCHOOL_INK_ASSETS", subjects: ["school.ink.assets.>"])
            stream.maxMessages = 3
            stream.discard = .new
            _ = try await test.jetStream.provision(stream)
            let asset = try SampleAsset(1 << 20)
            await #expect(throws: AssetStoreError.full) { try await other.save(asset.bytes, asset.manifest) }
            #expect(try await test.jetStream.streamInfo("SCHOOL_INK_ASSETS").messages == 0)
        }
    }

    @Test func `A damaged asset is not read, and the next upload stores it again`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(700_000)
            let id = asset.id
            for damage in 0..<2 {
                try await test.store.save(asset.bytes, asset.manifest)
                let subject = asset.manifestSubject
                let message = try #require(try await test.jetStream.lastMessage("INK_ASSETS", subject: subject))
                let stored = try #require(StoredAssetManifest(decoding: message.payload))
                let part = "ink.assets.\(id).\(stored.upload).1"
                let found = try #require(try await test.jetStream.lastMessage("INK_ASSETS", subject: part))
                if damage == 0 {
                    try await test.jetStream.deleteMessage("INK_ASSETS", found.sequence)
                } else {
                    _ = try await test.jetStream.publish(found.payload.map { $0 ^ 1 }, to: part)
                }
                #expect(try await test.store.bytes(of: id) == nil)
            }
        }
    }

    @Test func `A missing part is stored again by the next upload`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(700_000)
            try await test.store.save(asset.bytes, asset.manifest)
            try await test.jetStream.deleteMessage("INK_ASSETS", 2)
            #expect(try await test.store.bytes(of: asset.id) == nil)
            try await test.store.save(asset.bytes, asset.manifest)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            try await test.store.sweep(at: day(1))
            #expect(try await test.messages() == 4)
        }
    }

    @Test func `A damaged manifest is none`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(1000)
            let subject = asset.manifestSubject
            let stored = StoredAssetManifest(asset: asset.manifest, upload: "abc", parts: 1)
            let other = StoredAssetManifest(asset: try SampleAsset(5).manifest, upload: "abc", parts: 1)
            var newer = stored
            newer.version = 2
            for body in [[], Array("{}".utf8), Array(stored.encoded().dropLast()), other.encoded(), newer.encoded()] {
                _ = try await test.jetStream.publish(body, to: subject)
                #expect(try await test.store.manifest(of: asset.id) == nil)
                #expect(try await test.store.bytes(of: asset.id) == nil)
            }
            try await test.store.save(asset.bytes, asset.manifest)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
        }
    }

    @Test func `Without its stream the store says so`() async throws {
        try await TestStore.with { test, _ in
            let asset = try SampleAsset(5)
            do throws(AssetStoreError) {
                try await test.store.save(asset.bytes, asset.manifest)
                Issue.record("there is no stream")
            } catch {
                guard case .stream(name: "INK_ASSETS", let cause) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(cause.isStreamMissing)
            }
        }
    }

    @Test func `A restart of the server loses no stored asset`() async throws {
        try await TestStore.provisioned { test, server in
            let asset = try SampleAsset(600_000)
            try await test.store.save(asset.bytes, asset.manifest)
            await server.kill()
            try await server.restart()
            let bytes = try await eventually("the server answers") { try await test.store.bytes(of: asset.id) }
            #expect(bytes == asset.bytes)
        }
    }
}
