import LecternServer
import Logging
import NATSClient
import ServiceLifecycle

/// The service, in this process.
struct BenchService {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Returns when it serves.
    /// - Throws: why it could not.
    init(_ configuration: ServerConfiguration, url: String) async throws {
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        let server = Server(
            configuration: configuration, connection: NATSConnection(NATSSettings(url: url), logger: Self.logger),
            logger: Self.logger, onServing: { isServing.finish() })
        let group = ServiceGroup(services: [server], logger: Self.logger)
        self.group = group
        running = Task {
            defer { isServing.finish() }
            try await group.run()
        }
        for await _ in serving {}
    }

    /// Ends it in an orderly way: everything is saved.
    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }

    /// Standard output is for the figures.
    static var logger: Logger {
        var logger = Logger(label: "lectern-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return logger
    }
}
