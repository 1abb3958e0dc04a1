import Assets
import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Journal

/// What the store keeps of an asset, through damage and restarts, and for how long.
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
                try await test.save(asset)
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
            let asset = try await test.save(SampleAsset(200_000))
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            #expect(try await test.messages() == 5)
        }
    }

    @Test func `Uploads of one file at the same time leave one asset`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(1_000_000)
            try await concurrently(0..<6) { _ in try await test.save(asset) }
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            // Of uploads that ended at the same instant, the parts of one alone are named.
            try await test.sweep(at: day(1))
            #expect(try await test.messages() == 5)
            try await test.save(asset)
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
            try await test.save(asset)
            #expect(try await test.sweep(at: day(1)) == 2)
            #expect(try await test.messages() == 4)
            #expect(try await test.store.bytes(of: id) == asset.bytes)
        }
    }

    @Test func `Assets that were not used for the journal's age and a quarter go, others stay`() async throws {
        try await TestStore.provisioned(maxAge: .seconds(8 * 86_400)) { test, _ in
            let (old, used) = (try SampleAsset(300_000, 1), try SampleAsset(300_000, 2))
            try await test.save(old)
            try await test.save(used)
            #expect(try await test.sweep(at: day(9)) == 0)
            #expect(try await test.sweep(at: day(11)) == 6)
            #expect(try await test.store.manifest(of: old.id) == nil)
            try await test.save(old)
            #expect(try await test.store.bytes(of: old.id) == old.bytes)
            #expect(try await test.messages() == 3)
        }
    }

    @Test func `An asset that is used is written again, so that it stays`() async throws {
        // An eighth of this age passes during the test.
        try await TestStore.provisioned(maxAge: .seconds(2)) { test, _ in
            let asset = try await test.save(SampleAsset(300_000))
            let subject = asset.manifestSubject
            let first = try #require(try await test.jetStream.lastMessage("INK_ASSETS", subject: subject))
            let second = try await eventually("the manifest is written again") {
                try await test.store.touch([asset.id])
                let message = try await test.jetStream.lastMessage("INK_ASSETS", subject: subject)
                return message.flatMap { $0.sequence > first.sequence ? $0 : nil }
            }
            #expect(second.payload == first.payload)
            #expect(try await test.sweep(at: second.time + 2_499_999_999) == 0)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            #expect(try await test.sweep(at: second.time + 2_500_000_001) == 3)
        }
    }

    @Test func `A daemon whose clock is ahead sweeps nothing that the server's clock keeps`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try await test.save(SampleAsset(300_000))
            _ = try await test.jetStream.publish([0], to: "ink.assets.\(try SampleAsset(5).id).going-on.0")
            for days: Int64 in [1, 38, 10_000] { #expect(try await test.store.sweep(at: day(days)) == 0) }
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
        }
    }

    @Test func `A daemon whose clock is behind writes an asset that it uses again all the same`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try await test.save(SampleAsset(5))
            let before = try await test.store.lastSequence()
            _ = try await test.store.touch(asset.id, at: day(-3))
            #expect(try await test.store.lastSequence() == before)
            _ = try await test.store.touch(asset.id, at: day(-38))
            #expect(try await test.store.lastSequence() == before + 1)
        }
    }

    @Test func `An unknown asset can be touched`() async throws {
        try await TestStore.provisioned { test, _ in try await test.store.touch([try SampleAsset(5).id]) }
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
            try await test.save(asset)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
            // Nothing is left of the first attempt.
            #expect(try await test.messages() == 33)
        }
    }

    @Test func `A full store refuses an asset and keeps nothing of it`() async throws {
        try await TestStore.provisioned(maxBytes: 4 << 20) { test, _ in
            let (small, large) = (try SampleAsset(3 << 20, 1), try SampleAsset(1 << 20, 2))
            try await test.save(small)
            let before = try await test.messages()
            await #expect(throws: AssetStoreError.full) { try await test.save(large) }
            #expect(try await test.messages() == before)
            // What is there can be used, and read.
            try await test.save(small)
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
                try await test.save(asset)
                #expect(try await test.store.bytes(of: id) == asset.bytes)
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
            try await test.save(asset)
            #expect(try await test.store.bytes(of: asset.id) == asset.bytes)
        }
    }

    @Test func `The sweep spares files of a newer release and takes those of a damaged manifest`() async throws {
        try await TestStore.provisioned { test, _ in
            let asset = try SampleAsset(1000)
            var newer = StoredAssetManifest(asset: asset.manifest, upload: "abc", parts: 1)
            newer.version = 2
            _ = try await test.jetStream.publish(asset.bytes, to: "ink.assets.\(asset.id).abc.0")
            for (manifest, deleted) in [(newer.encoded(), 0), (Array(newer.encoded().dropLast()), 1)] {
                _ = try await test.jetStream.publish(manifest, to: asset.manifestSubject)
                #expect(try await test.sweep(at: day(1)) == deleted)
            }
        }
    }

    @Test func `Without its stream the store says so`() async throws {
        try await TestStore.with { test, _ in
            let asset = try SampleAsset(5)
            let error = await #expect(throws: AssetStoreError.self) { try await test.save(asset) }
            guard case .stream(name: "INK_ASSETS", let cause)? = error else {
                throw Unexpected("\(String(describing: error))")
            }
            #expect(cause.isStreamMissing)
        }
    }
}
