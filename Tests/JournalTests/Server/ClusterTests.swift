import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct ClusterTests {
    /// The cluster refuses or leaves unanswered what comes while it has no leader.
    private static let election = Duration.seconds(60)

    /// A journal with three replicas on a cluster that is ready, with a connection that knows all its servers.
    private func withJournal(
        _ body: @Sendable (TestJournal, [NATSTestServer]) async throws -> Void
    ) async throws {
        try await NATSTestServer.withCluster(of: 3) { servers in
            var settings = NATSSettings(servers[0])
            settings.url = servers.map(\.url).joined(separator: ",")
            settings.pingInterval = .milliseconds(500)
            let nats = NATSConnection(settings, logger: .silent)
            try await nats.connect(within: .seconds(30))
            var journal = JournalSettings()
            journal.replicas = 3
            let test = TestJournal(nats, settings: journal)
            _ = try await eventually("the cluster has a leader", within: Self.election) {
                try await test.journal.provision(0)
            }
            try await body(test, servers)
            await nats.close()
        }
    }

    /// Writes until it is acknowledged; safe, because it has a name.
    private func write(_ test: TestJournal, _ number: Int) async throws {
        try await eventually("record \(number) is acknowledged", within: Self.election) {
            _ = try await test.jetStream.publish(
                Array("\(number)".utf8), to: "ink.0.physics.in.anna", headers: ["Nats-Msg-Id": "\(number)"],
                timeout: .seconds(1))
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `With any one server killed, and back, each record comes once and in order`() async throws {
        try await withJournal { test, servers in
            #expect(try await test.jetStream.streamInfo("INK_LOG_0").configuration.replicas == 3)
            let (reader, book) = test.read()
            var written = 0
            for server in servers {
                for _ in 1...20 {
                    written += 1
                    try await write(test, written)
                }
                await server.kill()
                for _ in 1...20 {
                    written += 1
                    try await write(test, written)
                }
                try await server.restart()
            }
            let records = try await book.records.values(written, within: .seconds(60))
            let bodies = records.map { record in
                if case .message(_, _, let bytes) = record.content {
                    String(decoding: bytes, as: UTF8.self)
                } else {
                    ""
                }
            }
            #expect(bodies == (1...written).map { "\($0)" })
            #expect(book.sequences == (1...written).map { UInt64($0) })
            #expect(try await book.besides.values(1) == [.caughtUp])
            reader.cancel()
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `A checkpoint that was acknowledged is there after any server is killed`() async throws {
        try await withJournal { test, servers in
            let bytes = [UInt8](repeating: 5, count: 700_000)
            let state = try await eventually("the state is saved", within: Self.election) {
                try await test.store.save(state: bytes, room: .physics)
            }
            let manifest = CheckpointManifest(
                room: try .physics, log: "abc", incarnation: "a-1", sequence: 9, handled: 9, cursors: [.main: 3],
                isQuiet: false, state: state)
            try await eventually("the manifest is saved", within: Self.election) {
                try await test.store.save(manifest)
            }
            await servers[0].kill()
            let catalogue = try await eventually("the manifest is found", within: Self.election) {
                try await test.store.catalogue(of: 0, log: "abc", timeout: .seconds(5))
            }
            #expect(catalogue.rooms == [try .physics: manifest])
            let restored = try await eventually("the state is read", within: Self.election) {
                try await test.store.state(of: manifest)
            }
            #expect(restored == bytes)
        }
    }
}
