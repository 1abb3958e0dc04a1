import Hummingbird
import Locking
import Logging
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

/// A gateway whose service runs elsewhere, and may have another number of partitions.
@Suite(.timeLimit(.minutes(4))) struct PartitionTests {
    /// Daemons that refuse addresses with the wrong partition.
    private struct Daemons: Sendable {
        /// Their number of partitions; nil where they do not tell it.
        let partitions = Locked<Int?>(nil)
        let questions = Recorder<String>()

        func answer(on service: TestService) async throws {
            try await service.answer("ink.*.*.info") { question in
                questions.append(question.subject)
                let error = RequestError(.badRequest, "No.", partitions: partitions.withLock { $0 })
                return [Answer(payload: error.encoded())]
            }
        }

        /// Waits until a question that comes after this call has been answered, and its answer taken.
        func isAskedAgain() async throws { _ = try await questions.values(questions.values.count + 3) }
    }

    private static func with(
        _ lines: Recorder<String> = Recorder(), _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let logger = Logger.recording(lines)
        try await RunningGateway.with(
            partitions: 5, logger: logger,
            configured: {
                $0.access = .open(anyHost: true)
                $0.isAlone = true
            }, body)
    }

    private static func refuses(_ gateway: RunningGateway, _ sentence: String) async throws {
        try await eventually("the gateway is not ready: \(sentence)") {
            let response = try await gateway.http.get("/readyz")
            return response.status == .serviceUnavailable && response.text.contains(sentence) ? () : nil
        }
    }

    @Test func `it is not ready while the service has another number of partitions, and logs each change once`()
        async throws
    {
        let lines = Recorder<String>()
        try await Self.with(lines) { gateway in
            let daemons = Daemons()
            daemons.partitions.withLock { $0 = 3 }
            try await daemons.answer(on: gateway.service)
            try await Self.refuses(gateway, "The service has 3 partitions; subjects.partitions is 5 here.")
            try await daemons.isAskedAgain()
            daemons.partitions.withLock { $0 = 1 }
            try await Self.refuses(gateway, "The service has 1 partition; subjects.partitions is 5 here.")
            daemons.partitions.withLock { $0 = 5 }
            try await gateway.waitUntilReady()
            try await daemons.isAskedAgain()
            let problem = "error: most rooms cannot be reached: the service has another number of partitions"
            #expect(
                lines.values.filter { $0.contains("partitions") } == [
                    "\(problem) service=3 subjects.partitions=5", "\(problem) service=1 subjects.partitions=5",
                    "notice: rooms can be reached: the number of partitions no longer differs ",
                ])
        }
    }

    @Test func `it is ready without a daemon, and with daemons that do not tell their number`() async throws {
        let lines = Recorder<String>()
        try await Self.with(lines) { gateway in
            try await gateway.waitUntilReady()
            let daemons = Daemons()
            try await daemons.answer(on: gateway.service)
            try await daemons.isAskedAgain()
            #expect(try await gateway.http.get("/readyz").status == .ok)
            #expect(lines.values.allSatisfy { !$0.contains("partitions") })
        }
    }
}
