import Hosting
import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct ClusterTests {
    /// Without a leader the cluster refuses requests or does not answer.
    private static let election = Duration.seconds(60)

    /// A journal with three replicas on a ready cluster, over a connection with the URLs of all servers.
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

    /// Writes until the record is acknowledged; safe because it has a `Nats-Msg-Id`.
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
                // Two of three, one of which has not caught up, may elect no leader (nats-server 2.9.10).
                try await waitForReplicas(test, servers)
            }
            let records = try await book.records.values(written)
            #expect(records.map(body) == (1...written).map { "\($0)" })
            #expect(book.sequences == (1...written).map { UInt64($0) })
            #expect(try await book.besides.values(1) == [.caughtUp])
            reader.cancel()
        }
    }

    /// nats-server keeps a copy that is longer than the leader's for ever, and draws by lot which copy a consumer
    /// reads.
    @Test(.timeLimit(.minutes(4)))
    func `The leader's copy is read where copies differ after a power cut, and the others are made anew from it`()
        async throws
    {
        try await withJournal { test, servers in
            for number in 1...60 { try await write(test, number) }
            for server in servers { await server.kill() }
            for (server, share) in zip(servers, [0.4, 0.6, 1]) {
                try PowerCut(server.store ?? "").cut("INK_LOG_", marked: ".in.", keeping: share)
            }
            for server in servers[..<2] { try await server.restart() }
            // Acknowledged by two: the third has others in their place.
            for number in 101...110 { try await write(test, number) }
            try await servers[2].restart()
            let log = try await test.jetStream.streamInfo("INK_LOG_0")
            #expect(log.lastSequence < 60)
            try await eventually(
                "the third server is there", within: Self.election,
                is: await test.jetStream.streamInfo("INK_LOG_0").reachableCopies == 2)
            #expect(try await sizesOfCopies(test).count > 1)
            for _ in 1...8 { #expect(try await last(test) == "110") }
            await test.journal.renewCopies(of: 0)
            try await eventually("the copies are equal", is: await sizesOfCopies(test) == [log.messages])
            #expect(try await last(test) == "110")
            // As a daemon leaves it that ends meanwhile.
            try await test.jetStream.setReplicas(1, of: "INK_CHECKPOINT_0")
            #expect(try await test.journal.provision(0).lacksCopies)
            await test.journal.renewCopies(of: 0)
            try await eventually(
                "it is copied", within: Self.election, is: await !test.journal.provision(0).lacksCopies)
        }
    }

    /// How many messages consumers would be given, each of which reads a copy that is drawn by lot.
    private func sizesOfCopies(_ test: TestJournal) async throws -> Set<UInt64> {
        var sizes: Set<UInt64> = []
        for number in 1...16 {
            let configuration = """
                {"deliver_subject":"copy.\(number)","ack_policy":"none","mem_storage":true,"num_replicas":1,\
                "inactive_threshold":1000000000}
                """
            let body = #"{"stream_name":"INK_LOG_0","config":\#(configuration)}"#
            let reply = try await test.connection.request(Array(body.utf8), to: "$JS.API.CONSUMER.CREATE.INK_LOG_0")
            let text = String(decoding: reply.payload, as: UTF8.self)
            guard let size = text.firstMatch(of: /"num_pending": ?([0-9]+)/).flatMap({ UInt64($0.1) }) else {
                throw Unexpected(text)
            }
            sizes.insert(size)
        }
        return sizes
    }

    private func body(of record: JournalRecord) -> String {
        guard case .message(_, _, let bytes) = record.content else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The body of the last record that a new reader is given.
    private func last(_ test: TestJournal) async throws -> String? {
        let (reader, book) = test.read()
        defer { reader.cancel() }
        _ = try await book.besides.values(1)
        return book.records.values.last.map(body)
    }

    @Test(.timeLimit(.minutes(4)))
    func `Daemons that create streams at the same moment agree on their identities, whichever server leads later`()
        async throws
    {
        try await NATSTestServer.withCluster(of: 3) { servers in
            let connections = servers.map { NATSConnection(NATSSettings($0), logger: .silent) }
            for connection in connections { try await connection.connect(within: .seconds(30)) }
            try await connections[0].waitForLeader(within: Self.election)
            var settings = JournalSettings()
            settings.replicas = 3
            let journals = connections.map { connection in
                JetStreamJournal(
                    root: "ink", partitions: 4, settings: settings, connection: connection, logger: .silent)
            }
            let stores = connections.map {
                RevocationStore(root: "ink", settings: settings, connection: $0, logger: .silent)
            }
            typealias Create = @Sendable (_ daemon: Int) async throws -> String
            var streams: [(name: String, create: Create)] = (0..<4).map { partition in
                ("INK_LOG_\(partition)", { try await journals[$0].provision(partition).incarnationPrefix })
            }
            streams.append(("INK_REVOKED", { try await stores[$0].provision() }))
            for (name, create) in streams {
                let identities = Set(
                    try await concurrently(connections.indices) { daemon in
                        try await eventually("\(name) is there", within: Self.election) { try await create(daemon) }
                    })
                #expect(identities.count == 1)
                try await leadInTurn(name, connections[0]) { leader in
                    let other = try await create(0)
                    #expect(identities == [other], "\(name) with the leader \(leader)")
                }
            }
            for connection in connections { await connection.close() }
        }
    }

    /// Has each server lead a stream in turn.
    private func leadInTurn(
        _ stream: String, _ connection: NATSConnection, _ body: (String) async throws -> Void
    ) async throws {
        var leaders: Set<String> = []
        try await eventually("each server has led \(stream)", within: Self.election, every: .milliseconds(100)) {
            () -> Void? in
            let reply = try await connection.request(to: "$JS.API.STREAM.INFO.\(stream)")
            let text = String(decoding: reply.payload, as: UTF8.self)
            guard let leader = text.firstMatch(of: /"leader": ?"(node[0-9])"/)?.1 else { return nil }
            try await body(String(leader))
            leaders.insert(String(leader))
            _ = try await connection.request(to: "$JS.API.STREAM.LEADER.STEPDOWN.\(stream)")
            return leaders.count == 3 ? () : nil
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `A checkpoint that was acknowledged is there after any server is killed`() async throws {
        try await withJournal { test, servers in
            let bytes = [UInt8](repeating: 5, count: 700_000)
            let state = try await eventually("the state is saved", within: Self.election) {
                try await test.store.save(state: bytes, room: .physics, beside: nil)
            }
            let manifest = CheckpointManifest(
                room: try .physics, log: "abc", incarnation: "a-1", sequence: 9, handled: 9, cursors: [.main: 3],
                isQuiet: false, state: state)
            _ = try await eventually("the manifest is saved", within: Self.election) {
                try await test.store.save(manifest)
            }
            await servers[0].kill()
            let catalogue = try await eventually("the manifest is found", within: Self.election) {
                try await test.store.catalogue(of: 0, log: "abc", timeout: .seconds(5))
            }
            #expect(catalogue.rooms == [try .physics: manifest])
            let restored = try await eventually("the state is read", within: Self.election) {
                try await test.store.bytes(of: state, room: .physics)
            }
            #expect(restored == bytes)
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `Space that was given back while a server was away is given back there, too, and nothing else`() async throws {
        try await withJournal { test, servers in
            for number in 1...60 { try await write(test, number) }
            await servers[2].kill()
            try await eventually("the records are gone", within: Self.election) {
                try await test.journal.trim(0, before: 41)
            }
            for number in 61...80 { try await write(test, number) }
            try await servers[2].restart()
            // Each server is killed in turn, so that each may become the leader.
            for server in servers {
                // The next leader must have all records.
                try await waitForReplicas(test, servers)
                await server.kill()
                let log = try await eventually("the log is there", within: Self.election) {
                    let log = try await test.jetStream.streamInfo("INK_LOG_0")
                    guard log.firstSequence == 41, log.lastSequence == 80 else { throw Unexpected("\(log)") }
                    return log
                }
                #expect(log.messages == 40)
                try await server.restart()
            }
        }
    }

    /// Waits until all servers have the log. nats-server 2.9.10 now and then leaves one behind that was killed and came
    /// back: it is started again, as an operator would.
    private func waitForReplicas(_ test: TestJournal, _ servers: [NATSTestServer]) async throws {
        var asked = ContinuousClock.now
        try await eventually("all servers have the log", every: .milliseconds(100)) {
            if try await test.jetStream.streamInfo("INK_LOG_0").currentCopies == 2 { return }
            let reply = try await test.connection.request(to: "$JS.API.STREAM.INFO.INK_LOG_0")
            let state = String(decoding: reply.payload, as: UTF8.self)
            if asked.duration(to: .now) > .seconds(20) {
                asked = .now
                for (number, server) in servers.enumerated() {
                    guard state.contains(try Regex(#""name": ?"node\#(number)","current": ?false"#)) else { continue }
                    print("node\(number) is left behind and is started again: \(state)")
                    await server.stop()
                    try await server.restart()
                }
            }
            throw Unexpected(state)
        }
    }
}
