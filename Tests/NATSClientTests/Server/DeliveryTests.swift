import Dispatch
import Logging
import NATSClient
import NATSTestServer
import TestSupport
import Testing

@Suite struct OrderTests {
    @Test(arguments: TestSeed.choose(3))
    func `Handlers run in the order of arrival, whatever their subscriptions`(seed: UInt64) async throws {
        let count = 20_000
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { nats in
                let arrivals = Recorder<Int>()
                for subject in ["a", "b.>", "c.*", "d"] {
                    _ = try nats.subscribe(subject) { message in
                        arrivals.append(message.withUnsafeBytes { $0.loadUnaligned(as: Int.self) })
                    }
                }
                var random = SeededGenerator(seed: seed)
                for number in 0..<count {
                    let subject = ["a", "b.x.y", "c.z", "d"].randomElement(using: &random) ?? "a"
                    try withUnsafeBytes(of: number) { try nats.publish($0, to: subject) }
                }
                let order = try await arrivals.values(count)
                #expect(order == Array(0..<count), "seed \(seed)")
            }
        }
    }

    @Test func `A hundred thousand messages pass from one connection to another`() async throws {
        let count = 100_000
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { sender in
                try await NATSConnection.with(server, { $0.maxPendingMessages = count }) { receiver in
                    let arrivals = Recorder<Int>()
                    _ = try receiver.subscribe("flood") { message in
                        arrivals.append(message.withUnsafeBytes { $0.loadUnaligned(as: Int.self) })
                    }
                    try await receiver.flush(timeout: .seconds(30))
                    let body = [UInt8](repeating: 7, count: 512)
                    for number in 0..<count {
                        var body = body
                        body.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
                        try sender.publish(body, to: "flood")
                    }
                    let order = try await arrivals.values(count, within: .seconds(120))
                    #expect(order == Array(0..<count))
                    #expect(receiver.droppedMessages == 0)
                }
            }
        }
    }
}

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

@Suite struct DroppedMessageReportTests {
    /// Blocks the reporting thread, once.
    private struct SlowLog: LogHandler {
        let subjects: Recorder<String>
        let gate: DispatchSemaphore
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard "\(event.message)".contains("dropped") else { return }
            let isFirst = subjects.values.isEmpty
            subjects.append(event.metadata?["subject"].map { "\($0)" } ?? "")
            if isFirst { gate.wait() }
        }
    }

    @Test func `A report that comes after the end of its connection is survived, one before names the subject`()
        async throws
    {
        try await NATSTestServer.with { server in
            let subjects = Recorder<String>()
            let gate = DispatchSemaphore(value: 0)
            let logger = Logger(label: "test") { _ in SlowLog(subjects: subjects, gate: gate) }
            var settings = NATSSettings(server)
            settings.maxPendingMessages = 1
            try await flooded(settings, logger, ["first", "late"]) { _ = try await subjects.values(1) }
            gate.signal()
            // Reports are made one after the other: the late one comes before this one.
            try await flooded(settings, logger, ["last"]) { _ = try await subjects.values(2) }
            #expect(Set(subjects.values) == ["first", "last"])
        }
    }

    /// Makes a connection that drops messages on these subjects, one after the other, and closes it after the body.
    private func flooded(
        _ settings: NATSSettings, _ logger: Logger, _ subjects: [String], _ body: () async throws -> Void
    ) async throws {
        let nats = NATSConnection(settings, logger: logger)
        try await nats.connect(within: .seconds(30))
        let slow = DispatchSemaphore(value: 0)
        for subject in subjects {
            _ = try nats.subscribe(subject) { _ in slow.wait() }
            for _ in 0..<5 { try nats.publish([0], to: subject) }
            try await nats.flush(timeout: .seconds(30))
        }
        try await body()
        for _ in 0..<5 * subjects.count { slow.signal() }
        await nats.close()
    }
}
