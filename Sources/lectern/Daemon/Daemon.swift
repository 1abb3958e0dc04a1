import LecternConfiguration
import LecternGateway
import LecternServer
import Logging
import Metrics
import NATSClient
import ServiceLifecycle
import UnixSignals

/// The service graph: a NATS server of its own where one is asked for, the whiteboard service, the HTTP side.
struct Daemon {
    private let configuration: DaemonConfiguration

    init(_ configuration: DaemonConfiguration) {
        self.configuration = configuration
    }

    /// Runs until SIGTERM or SIGINT; then everything under way is finished.
    func run() async throws {
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        let registry = PrometheusRegistry(help: GatewayMetrics.help.merging(MetricHelp.texts) { gateway, _ in gateway })
        MetricsSystem.bootstrap(registry)
        var logger = Logger(label: "lectern")
        logger.logLevel = configuration.logLevel
        let (url, embedded) = try await natsServer(logger)
        do {
            try await serve(url: url, embedded, registry, logger)
        } catch {
            await embedded?.stop()
            throw error
        }
        await embedded?.stop()
        logger.info("stopped")
    }

    private func natsServer(_ logger: Logger) async throws -> (url: String, embedded: EmbeddedServer?) {
        switch configuration.nats.url {
        case .servers(let url):
            return (url, nil)
        case .embedded:
            var settings = EmbeddedServer.Settings()
            settings.program = configuration.nats.server
            settings.port = 4222
            if configuration.journal.mode == .jetstream { settings.storeDirectory = configuration.nats.storeDirectory }
            let server = try await EmbeddedServer.start(settings)
            logger.info("started a NATS server", metadata: ["url": "\(server.url)"])
            return (server.url, server)
        }
    }

    private func serve(
        url: String, _ embedded: EmbeddedServer?, _ registry: PrometheusRegistry, _ logger: Logger
    ) async throws {
        let serviceConnection = NATSConnection(
            configuration.natsSettings(url: url, name: "lectern service"), logger: logger)
        let server = Server(
            configuration: configuration.serverConfiguration, connection: serviceConnection, logger: logger,
            onScrape: registry.onScrape)
        // Stopped in reverse: the HTTP side before the service it asks.
        var services: [any Service] = []
        if let embedded { services.append(EmbeddedServerWatch(server: embedded)) }
        if let gatewayConfiguration = configuration.gatewayConfiguration {
            let connection = NATSConnection(
                configuration.natsSettings(url: url, name: "lectern gateway"), logger: logger)
            let isListening = Promise<Void>()
            let gateway = Gateway(
                gatewayConfiguration, connection: connection, registry: registry, logger: logger
            ) { _ in isListening.fulfil(.success(())) }
            let link = GatewayLink(connection: connection, logger: logger)
            services.append(AfterListening(service: server, isListening: isListening))
            services.append(AfterListening(service: link, isListening: isListening))
            services.append(gateway)
        } else {
            services.append(server)
        }
        try await ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}

/// Ends the daemon when the NATS server that it started ends: what supervises the daemon starts both again.
private struct EmbeddedServerWatch: Service {
    struct Ended: Error, CustomStringConvertible {
        let description = "the NATS server that was started with the daemon has ended"
    }

    let server: EmbeddedServer

    func run() async throws {
        let hasEnded = await cancelWhenGracefulShutdown { [server] in await server.waitForExit() }
        if hasEnded { throw Ended() }
    }
}

/// The connection that the HTTP side asks over, open as long as it runs.
private struct GatewayLink: Service {
    let connection: NATSConnection
    let logger: Logger

    func run() async throws {
        do {
            try await connection.connect(keepTrying: true)
        } catch {
            logger.warning("the gateway has no NATS server yet, trying on", metadata: ["error": "\(error)"])
        }
        try? await gracefulShutdown()
        await connection.close()
    }
}
