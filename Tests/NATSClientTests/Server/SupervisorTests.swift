import NATSClient
import NATSTestServer
import Testing

@Suite struct SupervisorTests {
    /// One user who may do anything, the password being the name.
    private func accounts(_ user: String, permissions: String = "") -> String {
        """
        accounts: { CLASS: { users: [ { user: \(user), password: \(user) \(permissions) } ] } }
        """
    }

    private func connection(_ server: NATSTestServer, user: String) -> NATSConnection {
        NATSConnection(NATSSettings(server, user: user), logger: .silent)
    }

    @Test func `Credentials refused over and over do not end the attempts`() async throws {
        try await NATSTestServer.with(configuration: accounts("ada")) { server in
            let nats = connection(server, user: "ada")
            let states = nats.recordStates()
            let seen = Recorder<[UInt8]>()
            _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
            try await nats.connect(within: .seconds(30))
            // libnats gives up after the second refusal with the same words.
            for stranger in ["eve", "mallory"] {
                try await server.restart(configuration: accounts(stranger))
                _ = try await states.values(2)
                let own = connection(server, user: "ada")
                await #expect(throws: NATSError.self) { try await own.connect(within: .milliseconds(200)) }
                #expect(nats.state == .disconnected)
            }
            try await server.restart(configuration: accounts("ada"))
            _ = try await states.values(3)
            try nats.publish([1], to: "echo")
            #expect(try await seen.values(1) == [[1]])
            await nats.close()
            #expect(states.values == [.connected, .disconnected, .connected, .closed])
        }
    }

    @Test func `A protocol error, after which libnats closes for good, is survived`() async throws {
        // The server sends a generic -ERR for a control line that is too long, and closes.
        try await NATSTestServer.with(configuration: "max_control_line: 256") { server in
            try await NATSConnection.with(server) { nats in
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                try nats.publish([], to: String(repeating: "x", count: 900))
                _ = try await states.values(2)
                try nats.publish([1], to: "echo")
                #expect(try await seen.values(1) == [[1]])
                #expect(states.values == [.disconnected, .connected])
            }
        }
    }

    @Test func `A violation of permissions leaves the connection as it is`() async throws {
        let permissions = ", permissions: { publish: { allow: [ \"mine.>\" ] }, subscribe: { allow: [ \">\" ] } }"
        try await NATSTestServer.with(configuration: accounts("ada", permissions: permissions)) { server in
            let nats = connection(server, user: "ada")
            let seen = Recorder<String>()
            _ = try nats.subscribe(">") { seen.append($0.subject) }
            try await nats.connect(within: .seconds(30))
            try nats.publish([], to: "yours.a")
            try nats.publish([], to: "mine.a")
            #expect(try await seen.values(1) == ["mine.a"])
            #expect(nats.state == .connected)
            await nats.close()
        }
    }

    @Test func `The first connection is waited for, and the reason given when it does not come`() async throws {
        try await NATSTestServer.with(configuration: accounts("ada")) { server in
            let stranger = connection(server, user: "eve")
            do throws(NATSError) {
                try await stranger.connect(within: .milliseconds(300))
                Issue.record("connected with wrong credentials")
            } catch .status {
                #expect(stranger.state == .closed)
            }
            await #expect(throws: NATSError.closed) { try await stranger.connect() }

            await server.stop()
            let early = connection(server, user: "ada")
            let states = early.recordStates()
            await #expect(throws: NATSError.self) {
                try await early.connect(within: .milliseconds(50), keepTrying: true)
            }
            #expect(early.state == .connecting)
            try await server.restart()
            _ = try await states.values(1)
            #expect(early.state == .connected)
            await early.close()
        }
    }
}
