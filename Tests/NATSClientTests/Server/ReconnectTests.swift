import NATSClient
import NATSTestServer
import Testing

@Suite struct ReconnectTests {
    /// Publishes until the echo is back: what is lost around a reconnect is lost.
    private func expectEcho(_ nats: NATSConnection, _ seen: Recorder<[UInt8]>, _ value: UInt8) async throws {
        try nats.publish([value], to: "echo")
        _ = try await seen.values(seen.values.count + (seen.values.contains([value]) ? 0 : 1))
        #expect(seen.values.contains([value]))
    }

    @Test(arguments: [false, true])
    func `After the server is back every subscription lives again`(sendAsap: Bool) async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.sendAsap = sendAsap }) { nats in
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                _ = try nats.subscribe("ask") { message in
                    if let reply = message.reply { try? nats.publish([42], to: reply) }
                }
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
            }
        }
    }

    @Test func `While there is no connection everything fails at once, and nothing is kept for later`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { nats in
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                await server.stop()
                _ = try await states.values(1)
                #expect(throws: NATSError.disconnected) { try nats.publish([1], to: "echo") }
                await #expect(throws: NATSError.disconnected) {
                    try await nats.request(to: "ask", timeout: .seconds(600))
                }
                await #expect(throws: NATSError.disconnected) { try await nats.flush(timeout: .seconds(600)) }
                try await server.restart()
                _ = try await states.values(2)
                try nats.publish([2], to: "echo")
                #expect(try await seen.values(1) == [[2]])
            }
        }
    }

    @Test func `Requests under way fail when the connection is lost`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { nats in
                let asked = Recorder<Void>()
                _ = try nats.subscribe("mute") { _ in asked.append(()) }
                let task = Task { try await nats.request(to: "mute", timeout: .seconds(600)) }
                _ = try await asked.values(1)
                await server.kill()
                await #expect(throws: NATSError.disconnected) { try await task.value }
            }
        }
    }

    @Test func `A subscription made during an outage lives after it, one ended during it does not`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { nats in
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
    }

    @Test func `A server that stands still counts as lost, and comes back`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.pingInterval = .milliseconds(50) }) { nats in
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                await server.pause()
                _ = try await states.values(1)
                await server.resume()
                _ = try await states.values(2)
                try await expectEcho(nats, seen, 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `When the server takes nothing any more the publisher learns it, and the stream is begun anew`(
        sendAsap: Bool
    ) async throws {
        try await NATSTestServer.with { server in
            let settings: (inout NATSSettings) -> Void = { settings in
                settings.sendAsap = sendAsap
                settings.writeDeadline = .milliseconds(20)
                settings.pingInterval = .seconds(600)
            }
            try await NATSConnection.with(server, settings) { nats in
                let states = nats.recordStates()
                let seen = Recorder<[UInt8]>()
                _ = try nats.subscribe("echo") { seen.append($0.copyPayload()) }
                await server.pause()
                let megabyte = [UInt8](repeating: 1, count: 1 << 20)
                #expect(throws: NATSError.disconnected) {
                    for _ in 0..<1000 { try nats.publish(megabyte, to: "heavy") }
                }
                await server.resume()
                _ = try await states.values(2)
                try await expectEcho(nats, seen, 1)
            }
        }
    }

    @Test func `Crash after crash under traffic, with subscriptions that come and go, harms nothing`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { nats in
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
}
