import NATSTestServer
import TestSupport
import Testing

@testable import NATSClient

@Suite struct OrderedConsumerTests {
    private static let origin = ContinuousClock.now

    private static func now() -> Int64 { origin.duration(to: .now).wholeNanoseconds }

    private func read(
        _ nats: NATSConnection, _ settings: OrderedConsumerSettings
    ) throws -> (consumer: OrderedConsumer, messages: Recorder<String>, events: Recorder<String>) {
        let (messages, events) = (Recorder<String>(), Recorder<String>())
        let consumer = try JetStream(nats).read(
            settings, logger: .silent, clock: Self.now,
            onEvent: { event in
                switch event {
                case .began(let start): events.append("began \(start.requested) \(start.first)")
                case .caughtUp: events.append("caught up")
                case .level, .interrupted: break
                case .barrier(let barrier): barrier.pass()
                case .rewound(let last): events.append("rewound \(last)")
                }
            }, onMessage: { message, metadata in messages.append("\(metadata.streamSequence) \(message.subject)") })
        return (consumer, messages, events)
    }

    private func withStream(_ body: @Sendable (NATSConnection, JetStream) async throws -> Void) async throws {
        try await NATSTestServer.withConnection(jetStream: true) { server, nats in
            let jetStream = JetStream(nats)
            _ = try await jetStream.provision(StreamConfiguration(name: "S", subjects: ["s.*"]))
            try await body(nats, jetStream)
        }
    }

    @Test func `A filter lets through what matches`() async throws {
        try await withStream { nats, jetStream in
            for subject in ["s.a", "s.b", "s.a"] { _ = try await jetStream.publish([], to: subject) }
            var settings = OrderedConsumerSettings(stream: "S", start: 1)
            settings.filterSubject = "s.a"
            let (consumer, messages, _) = try read(nats, settings)
            #expect(try await messages.values(2) == ["1 s.a", "3 s.a"])
            consumer.cancel()
        }
    }

    @Test func `A stream that was replaced by a shorter one is told of, and nothing of it is delivered`() async throws {
        try await withStream { nats, jetStream in
            for _ in 1...20 { _ = try await jetStream.publish([], to: "s.a") }
            var settings = OrderedConsumerSettings(stream: "S", start: 1)
            settings.heartbeat = .milliseconds(100)
            settings.rewindTimeout = .milliseconds(200)
            let (consumer, messages, events) = try read(nats, settings)
            _ = try await messages.values(20)
            _ = try await nats.request(to: "$JS.API.STREAM.DELETE.S")
            _ = try await jetStream.provision(StreamConfiguration(name: "S", subjects: ["s.*"]))
            _ = try await jetStream.publish([], to: "s.a")
            #expect(try await events.values(3).last == "rewound 20")
            #expect(messages.values.count == 20)
            consumer.cancel()
        }
    }

    @Test func `A consumer that is gone, and barriers that nobody passes, count as stalls`() async throws {
        try await withStream { nats, jetStream in
            var settings = OrderedConsumerSettings(stream: "S", start: 1)
            settings.heartbeat = .milliseconds(100)
            let (messages, stalls) = (Recorder<UInt64>(), Recorder<DeliveryStall>())
            let consumer = try jetStream.read(
                settings, logger: .silent, clock: Self.now,
                onEvent: { _ in }, onMessage: { messages.append($1.streamSequence) }, onStall: { stalls.append($0) })
            _ = try await jetStream.publish([], to: "s.a")
            _ = try await messages.values(1)
            let names = try await nats.request(Array("{}".utf8), to: "$JS.API.CONSUMER.NAMES.S")
            let text = String(decoding: names.payload, as: UTF8.self)
            let name = try #require(text.firstMatch(of: /"consumers":\["([^"]+)"\]/)?.1)
            _ = try await nats.request(to: "$JS.API.CONSUMER.DELETE.S.\(name)")
            #expect(try await stalls.values(1) == [.silence])
            consumer.cancel()

            let stuck = try jetStream.read(
                settings, logger: .silent, clock: Self.now,
                onEvent: { _ in }, onMessage: { _, _ in }, onStall: { stalls.append($0) })
            for _ in 0..<64 { _ = try await jetStream.publish([UInt8](repeating: 0, count: 1 << 16), to: "s.a") }
            #expect(try await stalls.values(2)[1] == .flowControl)
            stuck.cancel()
        }
    }

    @Test func `Cancelled, it leaves no consumer behind`() async throws {
        try await withStream { nats, jetStream in
            let (consumer, _, events) = try read(nats, OrderedConsumerSettings(stream: "S", start: 1))
            _ = try await events.values(2)
            consumer.cancel()
            consumer.cancel()
            let reply = try await nats.request(Array("{}".utf8), to: "$JS.API.CONSUMER.NAMES.S")
            #expect(String(decoding: reply.payload, as: UTF8.self).contains("\"total\":0"))
            _ = try await jetStream.publish([], to: "s.a")
            #expect(events.values.count == 2)
        }
    }
}
