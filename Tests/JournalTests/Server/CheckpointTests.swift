import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

@Suite struct CheckpointTests {
    func manifest(
        _ room: String = "physics", at sequence: UInt64, state: CheckpointManifest.State?
    ) throws -> CheckpointManifest {
        CheckpointManifest(
            room: try #require(RoomID(room)), incarnation: "abc-1", sequence: sequence, handled: sequence,
            covered: sequence - 1, cursors: [.main: 7], isQuiet: true, state: state)
    }

    @Test func `A checkpoint comes back as it was saved, however many parts it has`() async throws {
        try await TestJournal.with { test, _ in
            _ = try await test.journal.provision(0)
            for size in [0, 1, 512 << 10, (512 << 10) + 1, 3 << 20] {
                let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                let state = try await test.store.save(state: bytes, room: try .physics)
                let saved = try manifest(at: UInt64(size) + 1, state: state)
                try await test.store.save(saved)
                let catalogue = try await test.store.catalogue(of: 0)
                #expect(catalogue.rooms == [try .physics: saved])
                #expect(catalogue.damaged.isEmpty)
                #expect(catalogue.covered == UInt64(size))
                #expect(try await test.store.state(of: saved) == bytes)
            }
        }
    }
}
