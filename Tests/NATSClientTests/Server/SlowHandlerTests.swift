import Dispatch
import NATSClient
import NATSTestServer
import Testing

@Suite struct SlowHandlerTests {
    @Test func `What a slow handler has no room for is dropped and counted, the rest arrives`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.maxPendingMessages = 10 }) { nats in
                let seen = Recorder<UInt8>()
                let started = Recorder<Void>()
                let gate = DispatchSemaphore(value: 0)
                let subscription = try nats.subscribe("flood") { message in
                    started.append(())
                    if seen.values.isEmpty { gate.wait() }
                    seen.append(message.withUnsafeBytes { $0[0] })
                }
                try nats.publish([0], to: "flood")
                _ = try await started.values(1)
                for value in 1...30 as ClosedRange<UInt8> { try nats.publish([value], to: "flood") }
                try await nats.flush(timeout: .seconds(30))
                #expect(nats.droppedMessages == 20)
                gate.signal()
                #expect(try await seen.values(11) == Array(0...10))
                subscription.unsubscribe()
                #expect(nats.droppedMessages == 20)
            }
        }
    }

    @Test func `Bytes are bounded, too, and what an ended subscription dropped stays counted`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server, { $0.maxPendingBytes = 10_000 }) { nats in
                let started = Recorder<Void>()
                let gate = DispatchSemaphore(value: 0)
                let subscription = try nats.subscribe("flood") { _ in
                    started.append(())
                    if started.values.count == 1 { gate.wait() }
                }
                try nats.publish([0], to: "flood")
                _ = try await started.values(1)
                for _ in 0..<30 { try nats.publish([UInt8](repeating: 0, count: 1000), to: "flood") }
                try await nats.flush(timeout: .seconds(30))
                subscription.unsubscribe()
                #expect(nats.droppedMessages == 20)
                gate.signal()
            }
        }
    }
}
