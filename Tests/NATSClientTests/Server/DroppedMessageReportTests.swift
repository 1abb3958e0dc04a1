import Dispatch
import Logging
import NATSClient
import NATSTestServer
import Testing

@Suite struct DroppedMessageReportTests {
    /// Holds up the thread that reports, once.
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
            // Reports come one after the other: the late one has been made when this one is.
            try await flooded(settings, logger, ["last"]) { _ = try await subjects.values(2) }
            #expect(Set(subjects.values) == ["first", "last"])
        }
    }

    /// Makes a connection that drops messages on some subjects, one after the other, and ends it after the body.
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
