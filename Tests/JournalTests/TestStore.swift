import Assets
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import Journal

/// A store on a test's own server.
struct TestStore: Sendable {
    let store: AssetStore
    let jetStream: JetStream

    static func with(
        maxAge: Duration = .seconds(30 * 86_400), maxBytes: Int64 = 64 << 20, roomBytes: Int64 = -1,
        configuration: String? = nil, _ body: @Sendable (TestStore, NATSTestServer) async throws -> Void
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
        configuration: String? = nil, _ body: @Sendable (TestStore, NATSTestServer) async throws -> Void
    ) async throws {
        try await with(maxAge: maxAge, maxBytes: maxBytes, roomBytes: roomBytes, configuration: configuration) {
            test, server in
            try await test.store.provision()
            try await body(test, server)
        }
    }

    /// Stores an asset, which a room has brought if one is given.
    @discardableResult
    func save(_ asset: SampleAsset, for room: RoomID? = nil) async throws(AssetStoreError) -> SampleAsset {
        if let room {
            try await store.save(asset.bytes, asset.manifest, for: room)
        } else {
            try await store.save(asset.bytes, asset.manifest)
        }
        return asset
    }

    /// Until now, by a log whose server is behind in time.
    func boundary() async throws -> AssetBoundary {
        let now = try await store.lastSequence()
        return AssetBoundary(before: now, after: now, decidedAt: 0)
    }

    /// Sweeps as when both the server's clock and this process's are at that time.
    @discardableResult
    func sweep(at now: Int64) async throws(AssetStoreError) -> Int {
        try await store.sweep(try await store.messages("ink.assets.>"), at: now)
    }

    /// The number of messages of the stream.
    func messages() async throws -> UInt64 { try await jetStream.streamInfo("INK_ASSETS").messages }
}

/// A file of any bytes, and its manifest.
struct SampleAsset: Sendable {
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

func day(_ days: Int64) -> Int64 { WallClock.now() + days * 86_400 * 1_000_000_000 }
