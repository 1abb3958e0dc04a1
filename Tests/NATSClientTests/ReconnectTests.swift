import NATSTestServer
import Testing

@testable import NATSClient

@Suite struct ReconnectTests {
    /// With the words of libnats 3.4 for its status codes, and of nats-server.
    @Test(arguments: [
        ("IO Error", ConnectionLoss.closed), ("Connection Closed", .closed), ("Connection Disconnected", .closed),
        ("Not Connected", .closed), ("recv error: 104", .closed), ("send error: 32", .closed),
        ("closed by the server", .closed), ("Stale Connection", .unanswered), ("no answer to a PING", .unanswered),
        ("Authorization Violation", .refused), ("User Authentication Expired", .refused), ("Protocol Error", .failed),
    ]) func `A lost connection is counted by the reason that is given`(reason: String, loss: ConnectionLoss) {
        #expect(ConnectionLoss(reason: reason) == loss)
    }

    /// Publishes a value and waits until it has come back.
    private func expectEcho(_ nats: NATSConnection, _ seen: Recorder<[UInt8]>, _ value: UInt8) async throws {
        try nats.publish([value], to: "echo")
        _ = try await seen.values(seen.values.count + (seen.values.contains([value]) ? 0 : 1))
        #expect(seen.values.contains([value]))
    }

    @Test func `After the server is back every subscription lives again`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let states = nats.recordStates()
            let seen = Recorder<[UInt8]>()
            _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
            try nats.answer("ask") { _ in [42] }
            for round in 1...3 as ClosedRange<UInt8> {
                await server.kill()
                _ = try await states.values(2 * Int(round) - 1)
                #expect(nats.state == .disconnected)
                try await server.restart()
                _ = try await states.values(2 * Int(round))
                try await expectEcho(nats, seen, round)
                #expect(try await nats.request([], to: "ask", timeout: .seconds(30)).payload == [42])
            }
            #expect(Array(states.values.prefix(4)) == [.disconnected, .connected, .disconnected, .connected])
            // Libnats does not always say why.
            #expect(nats.losses.values.reduce(0, +) == 3)
            #expect(nats.losses.keys.allSatisfy { $0 == .closed || $0 == .failed })
        }
    }

    @Test func `While there is no connection everything fails at once, and nothing is kept for later`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let states = nats.recordStates()
            let seen = Recorder<[UInt8]>()
            _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
            await server.stop()
            _ = try await states.values(1)
            #expect(throws: NATSError.disconnected) { try nats.publish([1], to: "echo") }
            await #expect(throws: NATSError.disconnected) { try await nats.request(to: "ask", timeout: .seconds(600)) }
            await #expect(throws: NATSError.disconnected) { try await nats.flush(timeout: .seconds(600)) }
            try await server.restart()
            _ = try await states.values(2)
            try nats.publish([2], to: "echo")
            #expect(try await seen.values(1) == [[2]])
        }
    }

    @Test func `Requests under way fail when the connection is lost`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let asked = Recorder<Void>()
            _ = try nats.subscribe("mute") { _ in asked.append(()) }
            let task = Task { try await nats.request(to: "mute", timeout: .seconds(600)) }
            _ = try await asked.values(1)
            await server.kill()
            await #expect(throws: NATSError.disconnected) { try await task.value }
        }
    }

    @Test func `A subscription made during an outage lives after it, one ended during it does not`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let states = nats.recordStates()
            let (old, new) = (Recorder<[UInt8]>(), Recorder<[UInt8]>())
            let subscription = try nats.subscribe("echo") { old.append($0.copyPayload()) }
            await server.stop()
            _ = try await states.values(1)
            subscription.unsubscribe()
            _ = try nats.subscribe("echo") { new.append($0.copyPayload()) }
            try await server.restart()
            _ = try await states.values(2)
            try nats.publish([1], to: "echo")
            #expect(try await new.values(1) == [[1]])
            #expect(old.values.isEmpty)
        }
    }

    @Test func `A server that stands still counts as lost, and comes back`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.pingInterval = .milliseconds(50) }) { nats in
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                await server.pause()
                _ = try await states.values(1)
                #expect(nats.losses == [.unanswered: 1])
                await server.resume()
                _ = try await states.values(2)
                try await expectEcho(nats, seen, 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `When the server takes nothing any more publishing fails at once, and the stream is begun anew`(
        afterDenial: Bool
    ) async throws {
        // An earlier violation must not hide later events of the connection.
        let account = NATSTestServer.account(of: "ada", permissions: "publish: { deny: yours }")
        try await NATSTestServer.with(configuration: account) { server in
            let settings: (inout NATSSettings) -> Void = { settings in
                settings = NATSSettings(server, user: "ada")
                settings.writeDeadline = .milliseconds(200)
                settings.pingInterval = .seconds(600)
                settings.maxBufferedBytes = 8 << 20
            }
            try await NATSConnection.with(server, settings) { nats in
                let violations = Recorder<PermissionViolation>()
                nats.onPermissionViolation { violations.append($0) }
                if afterDenial {
                    try nats.publish([], to: "yours")
                    _ = try await violations.values(1)
                }
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                try await nats.confirmPublished(timeout: .seconds(30))
                await server.pause()
                let megabyte = [UInt8](repeating: 1, count: 1 << 20)
                #expect(throws: NATSError.backlogged(limit: 8 << 20)) {
                    for _ in 0..<1000 { try nats.publish(megabyte, to: "heavy") }
                }
                await #expect(throws: NATSError.disconnected) { try await nats.confirmPublished(timeout: .seconds(30)) }
                await server.resume()
                _ = try await states.values(2)
                try await expectEcho(nats, seen, 1)
            }
        }
    }

    @Test func `Crash after crash under traffic, with subscriptions that come and go, harms nothing`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            let states = nats.recordStates()
            let seen = Recorder<[UInt8]>()
            try nats.subscribe("echo") { seen.append($0.copyPayload()) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for publisher in 0..<2 as Range<UInt8> {
                    group.addTask {
                        while !Task.isCancelled {
                            for _ in 0..<100 {
                                try? nats.publish([publisher], to: "traffic.\(publisher)", headers: ["A": "b"])
                            }
                            await Task.yield()
                        }
                    }
                }
                group.addTask {
                    while !Task.isCancelled {
                        let subscriptions = try (0..<5).map { _ in try nats.subscribe("traffic.*") { _ in } }
                        _ = try? await nats.request([], to: "nobody", timeout: .milliseconds(5))
                        for subscription in subscriptions { subscription.unsubscribe() }
                    }
                }
                for round in 1...5 {
                    await server.kill()
                    _ = try await states.values(2 * round - 1)
                    try await server.restart()
                    _ = try await states.values(2 * round)
                }
                group.cancelAll()
            }
            try await expectEcho(nats, seen, 7)
        }
    }
}

@Suite struct SupervisorTests {
    private func connection(_ server: NATSTestServer, user: String) -> NATSConnection {
        NATSConnection(NATSSettings(server, user: user), logger: .silent)
    }

    @Test func `Credentials refused over and over do not end the attempts`() async throws {
        try await NATSTestServer.with(configuration: NATSTestServer.account(of: "ada")) { server in
            let nats = connection(server, user: "ada")
            let states = nats.recordStates()
            let seen = Recorder<[UInt8]>()
            _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
            try await nats.connect(within: .seconds(30))
            // libnats gives up after the second refusal with the same text.
            for stranger in ["eve", "mallory"] {
                try await server.restart(configuration: NATSTestServer.account(of: stranger))
                _ = try await states.values(2)
                let own = connection(server, user: "ada")
                await #expect(throws: NATSError.self) { try await own.connect(within: .milliseconds(200)) }
                #expect(nats.state == .disconnected)
            }
            try await server.restart(configuration: NATSTestServer.account(of: "ada"))
            _ = try await states.values(3)
            try nats.publish([1], to: "echo")
            #expect(try await seen.values(1) == [[1]])
            await nats.close()
            #expect(states.values == [.connected, .disconnected, .connected, .closed])
        }
    }

    @Test func `A protocol error, after which libnats closes for good, is survived`() async throws {
        // The server sends a generic -ERR for a control line that is too long, and closes.
        try await NATSTestServer.withConnection(configuration: "max_control_line: 256") { server, nats in
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

    @Test func `A violation of permissions leaves the connection as it is`() async throws {
        let permissions = #"publish: { allow: [ "mine.>" ] }, subscribe: { allow: [ ">" ] }"#
        try await NATSTestServer.withUser(permissions: permissions) { nats in
            let seen = Recorder<String>()
            _ = try nats.subscribe(">") { seen.append($0.subject) }
            try nats.publish([], to: "yours.a")
            try nats.publish([], to: "mine.a")
            #expect(try await seen.values(1) == ["mine.a"])
            #expect(nats.state == .connected)
        }
    }

    @Test func `The first connection is waited for, and the reason given when it does not come`() async throws {
        try await NATSTestServer.with(configuration: NATSTestServer.account(of: "ada")) { server in
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
