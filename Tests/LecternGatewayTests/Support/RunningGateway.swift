import Hummingbird
import HummingbirdTesting
import NATSClient
import NATSTestServer
import ServiceLifecycle

@testable import LecternGateway

/// A gateway on a free port, a nats-server of its own, and a service to answer behind it.
struct RunningGateway: Sendable {
    let port: Int
    let http: TestClient
    let registry: PrometheusRegistry
    let server: NATSTestServer
    let service: TestService
    /// The gateway's own connection.
    let connection: NATSConnection

    /// Runs a body and takes everything down again, also when the body throws.
    static func with(
        partitions: Int = 1, limits: GatewayLimits = .quick,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { service in
                try await NATSConnection.with(server) { connection in
                    let registry = PrometheusRegistry(help: GatewayMetrics.help)
                    try await run(
                        GatewayConfiguration(port: 0, partitions: partitions), limits, connection, registry
                    ) { port, http in
                        try await body(
                            RunningGateway(
                                port: port, http: http, registry: registry, server: server,
                                service: TestService(connection: service), connection: connection))
                    }
                }
            }
        }
    }

    private static func run(
        _ configuration: GatewayConfiguration, _ limits: GatewayLimits, _ connection: NATSConnection,
        _ registry: PrometheusRegistry, _ body: @escaping @Sendable (Int, TestClient) async throws -> Void
    ) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        var gateway = Gateway(configuration, connection: connection, registry: registry, logger: .silent) { port in
            listening.yield(port)
        }
        gateway.limits = limits
        let services = ServiceGroup(
            configuration: .init(
                services: [.init(service: gateway, successTerminationBehavior: .ignore)], logger: .silent))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await services.run()
            }
            group.addTask {
                // No port means that it could not listen; the other task throws why.
                guard let port = await ports.first(where: { _ in true }) else { return }
                do {
                    try await TestClient.withClient(host: "127.0.0.1", port: port) { try await body(port, $0) }
                } catch {
                    await services.triggerGracefulShutdown()
                    throw error
                }
                await services.triggerGracefulShutdown()
            }
            try await group.waitForAll()
        }
    }
}

extension GatewayLimits {
    /// As short as a test can afford where the whole of a time has to pass.
    static var quick: GatewayLimits {
        var limits = GatewayLimits()
        limits.listing = .milliseconds(300)
        return limits
    }
}
