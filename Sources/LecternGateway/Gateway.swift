internal import Hummingbird
internal import HummingbirdCore
public import Logging
public import NATSClient
internal import NIOCore
public import ServiceLifecycle

/// The HTTP side of Lectern: pictures and states of rooms, health, metrics, and a page that links them.
///
/// It keeps no state and asks the service through NATS subjects alone, so any number of gateways may run, in the
/// service's process or in their own.
///
/// Bounds (all in `GatewayLimits`): 512 connections, further ones wait in the kernel's backlog; 256 requests to NATS at
/// a time, further ones are answered 503; every wait for the service ends within 5 s; a connection on which nothing
/// moves for 30 s is closed, also one whose client does not read.
public struct Gateway: Service {
    private let configuration: GatewayConfiguration
    private let connection: NATSConnection
    private let registry: PrometheusRegistry
    private let logger: Logger
    private let onListening: @Sendable (Int) -> Void
    var limits = GatewayLimits()

    /// - Parameters:
    ///   - connection: for requests alone; the caller connects and closes it. While it is not connected, what needs
    ///     the service is answered 503.
    ///   - registry: what `GET /metrics` shows; the gateway's own metrics are recorded there, too.
    ///   - onListening: called once with the port, when requests are taken.
    public init(
        _ configuration: GatewayConfiguration, connection: NATSConnection, registry: PrometheusRegistry,
        logger: Logger, onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.connection = connection
        self.registry = registry
        self.logger = logger
        self.onListening = onListening
    }

    /// Listens until the service group shuts down gracefully, then finishes the requests under way.
    ///
    /// - Throws: ``ListenError`` when it cannot listen on the configured address.
    public func run() async throws {
        // The framework's own lines repeat what is logged here.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let application = Application(
            router: router(),
            server: .http1(configuration: channel),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: .maximum(limits.connections, logger: quiet)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? configuration.port
                logger.info("gateway listens", metadata: ["host": "\(configuration.host)", "port": "\(port)"])
                onListening(port)
            },
            logger: quiet)
        do {
            try await application.run()
        } catch {
            throw ListenError(error, host: configuration.host, port: configuration.port) ?? error
        }
    }

    private var channel: HTTP1Channel.Configuration {
        var channel = HTTP1Channel.Configuration(additionalChannelHandlers: stallHandlers(limits.stall))
        channel.httpDecoder = .init(maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes)
        return channel
    }

    private func router() -> Router<BasicRequestContext> {
        let rooms = RoomService(configuration, limits, connection: connection, logger: logger)
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestMetrics(registry: registry))
        router.add(middleware: JSONErrors())
        router.add(middleware: ReadOnly())
        HealthRoutes(rooms: rooms).add(to: router)
        MetricsRoute(registry: registry).add(to: router)
        RoomRoutes(rooms: rooms).add(to: router)
        PictureRoute(rooms: rooms).add(to: router)
        PageRoute(rooms: rooms).add(to: router)
        return router
    }
}
