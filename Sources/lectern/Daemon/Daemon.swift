import Foundation
import LecternConfiguration
import LecternGateway
import LecternServer
import Logging
import Metrics
import NATSClient
import ServiceLifecycle
import UnixSignals

/// The service graph: an embedded NATS server when one is configured, the whiteboard service, and the HTTP side.
struct Daemon {
    private let settings: SettingsSource
    private let loaded: LoadedConfiguration
    private let sockets: PassedSockets
    private var configuration: DaemonConfiguration { loaded.configuration }

    /// - Parameters:
    ///   - settings: where they are read again.
    ///   - loaded: what they are at the start.
    ///   - sockets: what systemd has bound for it.
    init(_ settings: SettingsSource, _ loaded: LoadedConfiguration, _ sockets: PassedSockets) {
        self.settings = settings
        self.loaded = loaded
        self.sockets = sockets
    }

    /// Runs until SIGTERM or SIGINT, then shuts down gracefully. SIGHUP reads the settings again.
    func run() async throws {
        OpenFiles.raiseLimit()
        let log = DaemonLog(configuration.logFormat, level: configuration.logLevel)
        LoggingSystem.bootstrap { log.handler(label: $0) }
        let registry = PrometheusRegistry(help: GatewayMetrics.help.merging(MetricHelp.texts) { gateway, _ in gateway })
        MetricsSystem.bootstrap(registry)
        let process = ProcessMetrics()
        registry.onScrape(process.report)
        let logger = Logger(label: "lectern")
        let reload = await SettingsReload(settings, loaded, log, logger)
        logger.info("starting", metadata: loaded.summary)
        if let fonts = configuration.missingFonts {
            logger.notice("\(fonts.what)", metadata: ["hint": "\(fonts.hint)"])
        }
        let (url, embedded) = try await natsServer(logger)
        do {
            try await serve(url: url, embedded, registry, reload, logger)
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
            if configuration.journal.mode == .jetstream, configuration.journal.replicas == 1 {
                logger.notice(
                    """
                    streams have one replica: a power cut of the NATS server takes what it acknowledged and did not sync yet, \
                    up to its sync_interval of 2 minutes by default; this daemon cannot read that setting
                    """,
                    metadata: [
                        "hint":
                            "set sync_interval: always in the jetstream block of nats-server 2.10 or later, or journal.replicas: 3"
                    ])
            }
            return (url, nil)
        case .embedded:
            var settings = EmbeddedServer.Settings()
            settings.program = configuration.nats.server
            settings.port = 4222
            if configuration.journal.mode == .jetstream { settings.storeDirectory = configuration.nats.storeDirectory }
            let payload = configuration.serverConfiguration.neededPayload
            // The server's default is enough for most.
            if payload > 1 << 20 { settings.configuration = "max_payload: \(payload)" }
            settings.syncsAlways = true
            let server = try await EmbeddedServer.start(settings)
            if settings.storeDirectory != nil, !server.syncsAlways {
                logger.warning(
                    """
                    this nats-server acknowledges a stroke before it is synced to disk: a power cut may take the last \
                    seconds, 2 minutes at most; a crash of the program takes nothing
                    """,
                    metadata: ["hint": "install nats-server 2.10 or later and name it in nats.server: it syncs first"])
            }
            var place: Logger.Metadata = ["url": "\(server.url)"]
            if let folder = settings.storeDirectory { place["store"] = "\(URL(filePath: folder).path)" }
            logger.info("started a NATS server", metadata: place)
            return (server.url, server)
        }
    }

    private func serve(
        url: String, _ embedded: EmbeddedServer?, _ registry: PrometheusRegistry, _ reload: SettingsReload,
        _ logger: Logger
    ) async throws {
        let server = configuration.node.roles.contains(.core) ? try server(url: url, registry, logger) : nil
        var connections = server?.connections ?? []
        // Stopped in reverse order: the HTTP side before the service that it asks.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        func add(_ service: any Service) { services.append(.init(service: service)) }
        // A server that refuses to start has drained its connections. Cancelled, the HTTP side would log errors of its own.
        func add(server: any Service) {
            services.append(.init(service: server, failureTerminationBehavior: .gracefullyShutdownGroup))
        }
        if let embedded { add(EmbeddedServerMonitor(server: embedded)) }
        var reload = reload
        if var gatewayConfiguration = try await configuration.gatewayConfiguration {
            gatewayConfiguration.socket = configuration.http.listen == nil ? sockets.admin : sockets.http
            gatewayConfiguration.adminSocket = sockets.admin
            let settings = configuration.gatewayConnection(to: url)
            try settings.check()
            let connection = NATSConnection(settings, logger: logger)
            connections.append(("gateway", connection))
            let isListening = Promise<Void>()
            let gateway = Gateway(
                gatewayConfiguration, connection: connection, registry: registry, logger: logger,
                obstacle: { [readiness = server?.readiness] in readiness?.obstacle },
                onListening: { _ in isListening.fulfil(.success(())) })
            let link = GatewayConnection(connection: connection, logger: logger)
            if let server { add(server: AfterListening(service: server, isListening: isListening)) }
            add(AfterListening(service: link, isListening: isListening))
            add(gateway)
            reload.gateway = gateway
        } else if let server {
            add(server: server)
        }
        registry.onScrape(ConnectionMetrics(connections).report)
        add(reload)
        if let notifier = ServiceNotifier(
            ProcessInfo.processInfo.environment,
            obstacle: { [readiness = server?.readiness, gateway = reload.gateway] in
                gateway.map(\.readinessObstacle) ?? readiness?.obstacle
            },
            stall: { [readiness = server?.readiness] in readiness?.stall ?? .zero }, logger: logger)
        {
            add(notifier)
        }
        // Its lines for debugging describe each service with all that is in it, passwords too.
        var quiet = logger
        quiet.logLevel = .notice
        try await ServiceGroup(
            configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        ).run()
    }

    /// The whiteboard service.
    private func server(url: String, _ registry: PrometheusRegistry, _ logger: Logger) throws -> Server {
        let settings = configuration.serviceConnection(to: url)
        // Without this check, connecting would be retried with settings that can never work.
        try settings.check()
        return Server(
            configuration: configuration.serverConfiguration, connection: NATSConnection(settings, logger: logger),
            logger: logger, onScrape: registry.onScrape)
    }

    /// Tells of the error that ended the daemon: a line of the log where that is JSON, else a plain one.
    func report(_ error: any Error) {
        let reason = explanation(of: error)
        switch configuration.logFormat {
        case .text: StandardError.write("lectern stops: \(reason)")
        case .json: Logger(label: "lectern").error("lectern stops", metadata: ["error": "\(reason)"])
        }
    }

    /// The error that ended the daemon, with the setting to change when there is one.
    private func explanation(of error: any Error) -> String {
        switch error {
        case let error as ListenError where error.port == configuration.http.admin?.port:
            "\(error). Choose another address with --set http.admin=HOST:PORT, or off"
        case let error as ListenError:
            "\(error). Choose another address with --http (http.listen), or off"
        case EmbeddedServerError.portTaken(let port):
            """
            \(error), probably by a NATS server that runs already. If that is yours and has JetStream, use it with \
            --nats nats://127.0.0.1:\(port) (nats.url). Else stop it, or start one on another port: \
            nats-server -a 127.0.0.1 -p \(port + 1) -js -sd \(configuration.nats.storeDirectory), with \
            --nats nats://127.0.0.1:\(port + 1) here and for all commands
            """
        case EmbeddedServerError.storeInUse:
            """
            \(error). Use that one with --nats nats://127.0.0.1:4222 (nats.url), stop it, or choose another directory \
            (nats.store_dir)
            """
        case EmbeddedServerError.programMissing:
            """
            \(error). Install nats-server, say where it is with --set nats.server=FILE, or use a server that runs with \
            --nats (nats.url)
            """
        case let error as SettingsConflict:
            """
            \(error). Of the daemons of one root all need the same subjects.partitions and journal.mode, and with none \
            there can be just one; set these alike, stop the other daemon, or choose another subjects.root
            """
        case let error as PayloadLimitTooLow:
            """
            \(error). Raise max_payload in the NATS server's configuration\
            \(error.messageBytes.map { ", or lower limits.message_bytes to \($0)" } ?? "")
            """
        default:
            "\(error)"
        }
    }
}

/// Ends the daemon when its embedded NATS server ends; the daemon's supervisor starts both again.
private struct EmbeddedServerMonitor: Service {
    struct Ended: Error, CustomStringConvertible {
        let description = "the NATS server that was started with the daemon has ended"
    }

    let server: EmbeddedServer

    func run() async throws {
        let hasEnded = await cancelWhenGracefulShutdown { [server] in await server.waitForExit() }
        if hasEnded { throw Ended() }
    }
}

/// The NATS connection of the HTTP side, open as long as the HTTP side runs.
private struct GatewayConnection: Service {
    let connection: NATSConnection
    let logger: Logger

    func run() async throws {
        do {
            try await connection.connect(keepTrying: true)
        } catch {
            logger.warning(
                "the gateway has no NATS server yet, retrying",
                metadata: ["error": "\(error)", "servers": "\(connection.settings.place)"])
        }
        try? await gracefulShutdown()
        await connection.close()
    }
}

/// Starts a service when the HTTP side listens, so that a taken address fails the daemon before anything else starts.
private struct AfterListening: Service {
    let service: any Service
    let isListening: Promise<Void>

    func run() async throws {
        let outcome = await cancelWhenGracefulShutdown { [isListening] in await isListening.value() }
        if case .success = outcome { try await service.run() }
    }
}
