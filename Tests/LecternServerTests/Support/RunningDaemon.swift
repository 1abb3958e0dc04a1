import LecternServer
import NATSClient
import NATSTestServer
import ServiceLifecycle

/// A service in the test's process.
final class RunningDaemon: Sendable {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Returns when it serves.
    init(_ configuration: ServerConfiguration, _ nats: NATSTestServer) async throws {
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        let server = Server(
            configuration: configuration, connection: NATSConnection(NATSSettings(url: nats.url), logger: .silent),
            logger: .silent, onServing: { isServing.finish() })
        let group = ServiceGroup(services: [server], logger: .silent)
        self.group = group
        running = Task {
            defer { isServing.finish() }
            try await group.run()
        }
        for await _ in serving {}
    }

    /// Runs a service while `body` runs, then ends it in an orderly way.
    static func with<Result: Sendable>(
        _ configuration: ServerConfiguration, _ nats: NATSTestServer,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let daemon = try await RunningDaemon(configuration, nats)
        do {
            let result = try await body()
            try await daemon.stop()
            return result
        } catch {
            try? await daemon.stop()
            throw error
        }
    }

    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}
