import NATSClient
import NATSTestServer
import Testing

@Suite struct LifetimeTests {
    /// Captured by the handlers, and freed when libnats has released the last context.
    private final class Kept: Sendable {}

    private struct Weak: ~Copyable {
        weak var object: Kept?
    }

    @Test func `After close no handler's context is alive, however often the connection was made`() async throws {
        try await NATSTestServer.with { server in
            weak var kept: Kept?
            do {
                let object = Kept()
                kept = object
                try await NATSConnection.with(server) { nats in
                    let states = nats.recordStates()
                    for number in 0..<10 {
                        let subscription = try nats.subscribe("s.\(number)") { _ in _ = object }
                        if number.isMultiple(of: 2) { subscription.unsubscribe() }
                    }
                    try await server.restart()
                    _ = try await states.values(2)
                    for number in 0..<10 { try nats.publish([0], to: "s.\(number)") }
                    try await nats.flush(timeout: .seconds(30))
                }
            }
            #expect(kept == nil)
        }
    }

    @Test func `Closing stops everything, once and for good`() async throws {
        try await NATSTestServer.with { server in
            let nats = NATSConnection(NATSSettings(server), logger: .silent)
            let states = nats.recordStates()
            try await nats.connect(within: .seconds(30))
            let subscription = try nats.subscribe("a") { _ in }
            await nats.close()
            await nats.close()
            subscription.unsubscribe()
            #expect(nats.state == .closed)
            #expect(states.values == [.connected, .closed])
            #expect(throws: NATSError.closed) { try nats.publish([], to: "a") }
            #expect(throws: NATSError.closed) { _ = try nats.subscribe("a") { _ in } }
            await #expect(throws: NATSError.closed) { try await nats.flush() }
            await #expect(throws: NATSError.closed) { try await nats.request(to: "a") }
            await #expect(throws: NATSError.closed) { try await nats.connect() }
        }
    }

    @Test func `A connection that never was can be closed`() async {
        let nats = NATSConnection(NATSSettings(url: "nats://127.0.0.1:1"), logger: .silent)
        await nats.close()
        #expect(nats.state == .closed)
    }

    @Test func `Closing sends what was published before`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { receiver in
                let seen = Recorder<[UInt8]>()
                _ = try receiver.subscribe("last") { seen.append($0.copyPayload()) }
                try await receiver.flush(timeout: .seconds(30))
                try await NATSConnection.with(server) { sender in
                    for value in 0..<100 as Range<UInt8> { try sender.publish([value], to: "last") }
                }
                #expect(try await seen.values(100).map { $0[0] } == Array(0..<100))
            }
        }
    }

    @Test func `Draining lets handlers finish what has arrived, and answer it`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { client in
                let answers = Recorder<[UInt8]>()
                _ = try client.subscribe("answer") { answers.append($0.copyPayload()) }
                try await client.flush(timeout: .seconds(30))
                let nats = NATSConnection(NATSSettings(server), logger: .silent)
                try await nats.connect(within: .seconds(30))
                _ = try nats.subscribe("work") { try? nats.publish($0.copyPayload(), to: "answer") }
                for value in 0..<200 as Range<UInt8> { try nats.publish([value], to: "work") }
                try await nats.flush(timeout: .seconds(30))
                await nats.drain(timeout: .seconds(30))
                #expect(nats.state == .closed)
                #expect(try await answers.values(200).map { $0[0] } == Array(0..<200))
            }
        }
    }
}
