import Hosting
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import Journal

@Suite struct StoredRoomDeletionTests {
    private static let configuration = RoomConfiguration()

    /// The state of a room that shows a file.
    private static func state(showing asset: AssetID) throws -> [UInt8] {
        let now = Instant(nanoseconds: 0)
        var room = Room(configuration: configuration, at: now)
        var effects = RoomEffects()
        let image = #"{"n":1,"e":5,"i":"\#(asset)","w":400,"h":300,"d":[{"x":1,"y":2},{"x":30,"y":40}]}"#
        room.receive(
            IncomingMessage(
                author: try #require(AuthorID("anna")), session: nil, bytes: Array(image.utf8), loggedAt: now),
            incarnation: { "abc-1" }, at: now, into: &effects)
        try #require(room.checkpoint().assets == [asset])
        return room.checkpoint().encoded()
    }

    @Test func `a file stays that a room shows in an older checkpoint, where the newest cannot be read`() async throws {
        try await TestJournal.provisioned { test, _ in
            let asset = try SampleAsset(10).id
            let room = try RoomID.physics
            let log = try await test.journal.log(of: room)
            let older = try await test.store.save(state: try Self.state(showing: asset), room: room, beside: nil)
            var manifest = CheckpointManifest(
                room: room, log: log, incarnation: "abc-1", sequence: 3, handled: 3, cursors: [:], isQuiet: true,
                state: older)
            try await test.store.save(manifest)
            let newer = try await test.store.save(state: [1, 2, 3], room: room, beside: manifest)
            (manifest.state, manifest.sequence, manifest.handled) = (newer, 5, 5)
            try await test.store.save(manifest)
            try await test.connection.deleteMessage("INK_CHECKPOINT_0", try #require(newer.parts.first))
            let deletion = StoredRoomDeletion(
                root: "ink", partitions: 1, settings: JournalSettings(), connection: test.connection, logger: .silent)
            let decision = StoredRoomDeletion.Decision(room: try .chemistry, sequence: 9, time: 0, assetsBefore: 0)
            let named = try await deletion.named([asset], elsewhereThan: decision, Self.configuration) { _ in }
            #expect(named == [asset])
        }
    }
}
