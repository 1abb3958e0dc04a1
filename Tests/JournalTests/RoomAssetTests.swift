import Assets
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Journal

/// Assets of rooms: how many bytes a room may bring, and what becomes of an asset that rooms share while it is erased or swept.
@Suite struct RoomAssetTests {
    @Test
    func `A room has its bytes of assets, each once, whoever takes the uploads; others have theirs`() async throws {
        try await TestStore.provisioned(roomBytes: 1_000_000) { test, server in
            let (physics, chemistry) = (try RoomID.physics, try RoomID.chemistry)
            let assets = try (1...3).map { try SampleAsset(400_000, $0) }
            for asset in assets.prefix(2) {
                for _ in 0..<2 { try await test.save(asset, for: physics) }
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
            let room = try RoomID.physics
            let areSaved = try await concurrently(1...6) { number in
                let asset = try SampleAsset(300_000, number)
                do {
                    try await test.save(asset, for: room)
                    return true
                } catch AssetStoreError.roomFull {
                    return false
                }
            }
            let saved = areSaved.count { $0 }
            #expect(saved <= 3)
            #expect(try await test.store.usedBytes(of: room) == Int64(300_000 * saved))
            let asset = try SampleAsset(100, 9)
            try await test.save(asset, for: room)
            // Small ones count for more than they have.
            #expect(try await test.store.usedBytes(of: room) == Int64(300_000 * saved + (16 << 10)))
        }
    }

    @Test func `The records of rooms stay and go with the asset`() async throws {
        try await TestStore.provisioned(maxAge: .seconds(8 * 86_400)) { test, _ in
            let (physics, chemistry) = (try RoomID.physics, try RoomID.chemistry)
            let asset = try SampleAsset(100)
            for room in [physics, chemistry] { try await test.save(asset, for: room) }
            #expect(try await test.messages() == 4)
            #expect(try await test.sweep(at: day(9)) == 0)
            #expect(try await test.sweep(at: day(11)) == 4)
            #expect(try await test.store.usedBytes(of: physics) == 0)
            // One of an upload that was cut off goes like its parts.
            let record = "ink.assets.\(asset.id).in-room.physics"
            _ = try await test.jetStream.publish(RoomAssetRecord(bytes: 100).encoded(), to: record)
            #expect(try await test.store.sweep() == 0)
            #expect(try await test.sweep(at: day(1)) == 1)
        }
    }

    @Test func `An asset that was noted in another room is not erased with the first; afterwards it is too late`()
        async throws
    {
        try await TestStore.provisioned(roomBytes: 10) { test, _ in
            let (physics, chemistry) = (try RoomID.physics, try RoomID.chemistry)
            let (copied, late) = (try SampleAsset(100, 1), try SampleAsset(100, 2))
            for asset in [copied, late] {
                try await test.save(asset)
                try await test.store.note(asset.id, in: physics)
            }
            // Beyond the room's limit: what it names it has.
            #expect(try await test.store.note(copied.id, in: chemistry) == copied.manifest)
            // The log's server is behind in time.
            let boundary = try await test.boundary()
            #expect(try await test.store.erase(copied.id, of: physics, boundary) == .inUse)
            #expect(try await test.store.bytes(of: copied.id) == copied.bytes)
            #expect(try await test.store.erase(late.id, of: physics, boundary) == .gone)
            #expect(try await test.store.note(late.id, in: chemistry) == nil)
            #expect(try await !test.store.wasUploaded(late.id, to: chemistry))
        }
    }

    @Test
    func `An asset that is erased while it is used is whole for a room that is told that it is there`() async throws {
        // Each use writes the manifest again.
        try await TestStore.provisioned(maxAge: .milliseconds(8)) { test, _ in
            let (physics, chemistry) = (try RoomID.physics, try RoomID.chemistry)
            let seed = TestSeed.choose()
            var random = SeededGenerator(seed: seed)
            for round in 0..<20 {
                let asset = try SampleAsset(100, round)
                try await test.save(asset, for: physics)
                let boundary = try await test.boundary()
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
            let room = try RoomID.physics
            let seed = TestSeed.choose()
            var random = SeededGenerator(seed: seed)
            for round in 0..<12 {
                let assets = try (0..<32).map { try SampleAsset(100, round * 32 + $0) }
                for asset in assets { try await test.save(asset) }
                let (uploaded, touched) = (assets.prefix(8), assets.dropFirst(8))
                // What was written until now is old, and nothing else.
                async let swept = test.sweep(at: WallClock.now() + 10_000_001)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for asset in assets {
                        let pause = random.int(0...60)
                        let isUpload = uploaded.contains { $0.id == asset.id }
                        group.addTask {
                            // Some moment of the sweep.
                            for _ in 0..<pause { _ = try await test.store.lastSequence() }
                            if isUpload {
                                try await test.save(asset, for: room)
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

    @Test func `An upload that names its parts while an erasure deletes them leaves no manifest without them`()
        async throws
    {
        // What is deleted goes by way of the test.
        let mappings = """
            mappings: {
              "$JS.API.STREAM.MSG.DELETE.INK_ASSETS": "deletions",
              "passed": "$JS.API.STREAM.MSG.DELETE.INK_ASSETS"
            }
            """
        try await TestStore.provisioned(configuration: mappings) { test, server in
            let physics = try RoomID.physics
            let asset = try SampleAsset(400_000)
            let stored = StoredAssetManifest(asset: asset.manifest, upload: "u", parts: 2).encoded()
            let (record, place) = (RoomAssetRecord(bytes: 400_000).encoded(), "ink.assets.\(asset.id).in-room.physics")
            _ = try await test.jetStream.publish(record, to: place)
            for (number, part) in [asset.bytes.prefix(200_000), asset.bytes.dropFirst(200_000)].enumerated() {
                _ = try await test.jetStream.publish(Array(part), to: "ink.assets.\(asset.id).u.\(number)")
            }
            let boundary = try await test.boundary()
            try await NATSConnection.with(server) { nats in
                let (deletions, inlet) = AsyncStream.makeStream(of: (body: [UInt8], reply: String).self)
                try nats.subscribe("deletions") { message in
                    if let reply = message.reply { inlet.yield((message.copyPayload(), reply)) }
                }
                try await nats.flush()
                let upload = Task {
                    var isNamed = false
                    for await deletion in deletions {
                        if !isNamed {
                            _ = try await test.jetStream.publish(stored, to: asset.manifestSubject)
                            _ = try await test.jetStream.publish(record, to: place)
                            isNamed = true
                        }
                        try nats.publish(deletion.body, to: "passed", reply: deletion.reply)
                    }
                }
                #expect(try await test.store.erase(asset.id, of: physics, boundary) == .gone)
                inlet.finish()
                try await upload.value
            }
            #expect(try await test.store.manifest(of: asset.id) == nil)
            try await test.save(asset, for: physics)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
        }
    }

    @Test func `An asset that is uploaded while it is erased is whole and the room's, or gone`() async throws {
        try await TestStore.provisioned { test, _ in
            let physics = try RoomID.physics
            let seed = TestSeed.choose()
            var random = SeededGenerator(seed: seed)
            for round in 0..<30 {
                let asset = try SampleAsset(400_000, round)
                let pause = random.int(0...12)
                async let upload = test.save(asset, for: physics)
                // Some moment of the upload.
                for _ in 0..<pause { _ = try await test.store.lastSequence() }
                let boundary = try await test.boundary()
                let outcome = try await test.store.erase(asset.id, of: physics, boundary)
                if outcome != .left { try await test.store.eraseRecord(of: asset.id, in: physics, boundary) }
                _ = try await upload
                let isThere = try await test.store.manifest(of: asset.id) != nil
                #expect(
                    try await test.store.bytes(of: asset.id) == (isThere ? asset.bytes : nil),
                    "seed \(seed), round \(round): \(outcome)")
                let isNoted = try await test.store.wasUploaded(asset.id, to: physics)
                #expect(!isThere || isNoted, "seed \(seed), round \(round): \(outcome)")
            }
        }
    }
}
