internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import Metrics
public import NATSClient
internal import NIOCore
public import ServiceLifecycle
internal import StrokeWire

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The HTTP side of Lectern: pictures and states of rooms, health, metrics, `lectern.js`, and pages for browsers.
///
/// It keeps no state and asks the service over NATS subjects only. Any number of gateways may run, in the service's
/// process or in their own.
///
/// All that clients may take of it is bounded; `GatewayLimits` has the bounds, and what happens at each.
public struct Gateway: Service {
    private let configuration: GatewayConfiguration
    private let connection: NATSConnection
    private let registry: PrometheusRegistry
    private let logger: Logger
    private let obstacle: @Sendable () -> String?
    private let onListening: @Sendable (Int) -> Void
    private let live: LiveSettings
    /// Nil where no token is needed.
    private let revocations: RevocationWatch?
    /// Nil beside the service.
    private let partitions: PartitionWatch?
    var limits = GatewayLimits()

    /// - Parameters:
    ///   - connection: used for requests only; the caller connects and closes it. While it is not connected, requests
    ///     that need the service are answered 503.
    ///   - registry: what `GET /metrics` shows; the gateway records its own metrics there too.
    ///   - obstacle: why the rest of this process is not ready, one sentence for `GET /readyz`; nil when it is ready.
    ///     Called for every such request, on any thread.
    ///   - onListening: called once, with the port, when the gateway listens.
    public init(
        _ configuration: GatewayConfiguration, connection: NATSConnection, registry: PrometheusRegistry,
        logger: Logger, obstacle: @escaping @Sendable () -> String? = { nil },
        onListening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        self.configuration = configuration
        live = LiveSettings(configuration)
        self.connection = connection
        self.registry = registry
        self.logger = logger
        self.onListening = onListening
        let partitions = configuration.isAlone ? PartitionWatch(configuration, connection, logger) : nil
        self.partitions = partitions
        let revocations: RevocationWatch?
        if case .tokens = configuration.access {
            revocations = RevocationWatch(
                root: configuration.root, connection: connection, registry: registry, logger: logger)
        } else {
            RevocationWatch.metrics(in: registry)
            revocations = nil
        }
        self.revocations = revocations
        self.obstacle = { obstacle() ?? partitions?.obstacle ?? revocations?.obstacle }
    }

    /// Why the gateway would answer no request that needs a token, or none about most rooms, one sentence; nil where it would.
    /// Any thread.
    public var readinessObstacle: String? { obstacle() }

    /// Changes what may change while the gateway runs: origins, proxies, the alarm on skew, and the key of tokens where there
    /// was one. Tokens of the key before no longer count. Any thread.
    ///
    /// - Returns: whether the key of tokens is another one. Then event streams end, and begin anew with tokens of the new key.
    @discardableResult
    public func update(_ configuration: GatewayConfiguration) -> Bool {
        let isNewKey = live.update(configuration)
        if isNewKey { revocations?.endStreams(beforeKey: live.values.keyNumber) }
        return isNewKey
    }

    /// Listens until the service group shuts down gracefully, then finishes open requests.
    ///
    /// - Throws: ``ListenError`` when it cannot listen on the configured address.
    public func run() async throws {
        let watching = revocations.map { revocations in Task { await revocations.run() } }
        defer { watching?.cancel() }
        let comparing = partitions.map { partitions in
            Task { await partitions.run(every: limits.partitionsInterval) }
        }
        defer { comparing?.cancel() }
        let address = GatewayConfiguration.Address(host: configuration.host, port: configuration.port)
        guard let admin = configuration.admin else {
            return try await serve(router(), address, configuration.socket, onListening)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve(router(), address, configuration.socket, onListening) }
            group.addTask { try await serve(adminRouter(), admin, configuration.adminSocket) { _ in } }
            // One that cannot listen ends the other.
            while try await group.next() != nil {}
        }
    }

    func serve(
        _ router: Router<GatewayContext>, _ address: GatewayConfiguration.Address, _ socket: CInt?,
        _ onListening: @escaping @Sendable (Int) -> Void
    ) async throws {
        // Hummingbird's own log lines repeat this one.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let onServerRunning: @Sendable (any Channel) async -> Void = { channel in
            let port = channel.localAddress?.port ?? address.port
            logger.info("gateway listens", metadata: ["host": "\(address.host)", "port": "\(port)"])
            onListening(port)
        }
        if let socket {
            return try await InheritedSocketServer(
                socket: socket, channel: channel, responder: TaskResponder(router), onServerRunning: onServerRunning,
                logger: quiet
            ).run()
        }
        let application = Application(
            responder: TaskResponder(router), server: .http1(configuration: channel),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: onServerRunning, logger: quiet)
        do {
            try await application.run()
        } catch {
            throw ListenError(error, host: address.host, port: address.port) ?? error
        }
    }

    private var channel: HTTP1Channel.Configuration {
        let connections = ConnectionTable(limits, registry: registry)
        var channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestDeadlinesInstaller(connections)])
        channel.httpDecoder = .init(maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes)
        return channel
    }

    /// Health and metrics, for an address that only operators reach.
    private func adminRouter() -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: JSONErrors(notFound: .notFoundBesideHealth))
        router.add(middleware: AllowedMethods())
        HealthRoutes(connection: connection, obstacle: obstacle).add(to: router)
        MetricsRoute(registry: registry).add(to: router)
        return router
    }

    private func router() -> Router<GatewayContext> {
        let rooms = RoomService(configuration, limits, connection: connection, logger: logger)
        let router = Router(context: GatewayContext.self, options: .autoGenerateHeadEndpoints)
        let errors = JSONErrors(notFound: configuration.servesRooms ? .notFound : .notFoundBesideHealth)
        router.add(middleware: RequestMetrics(registry: registry))
        router.add(middleware: errors)
        router.add(middleware: OriginPolicy(live: live))
        // Pages of other origins must be able to read errors, too.
        router.add(middleware: errors)
        router.add(
            middleware: Authorization(
                live: live, revocations: revocations, needsLoopbackHost: configuration.needsLoopbackHost))
        router.add(middleware: AllowedMethods())
        HealthRoutes(connection: connection, obstacle: obstacle).add(to: router)
        MetricsRoute(registry: registry).add(to: router)
        guard configuration.servesRooms else { return router }
        SessionRoute(basePath: configuration.basePath, live: live, revocations: revocations).add(to: router)
        RoomRoutes(rooms: rooms).add(to: router)
        let replies = ReplyMemory(limits.replyBytes)
        let boards = BoardRoutes(rooms: rooms, replies: replies, limits: limits)
        boards.add(to: router)
        forgetErasedRooms(in: boards.caches)
        let refused = RefusedPublishes(connection)
        registry.onScrape(RefusalMetrics(refused, registry: registry).report)
        let publisher = StrokePublisher(
            connection: connection, timeout: limits.outcomeTimeout, refused: refused,
            messageBytes: configuration.posts.messageBytes)
        PostRoutes(
            rooms: rooms, connection: connection, publisher: publisher, rates: AuthorRates(configuration.posts),
            wetRates: AuthorRates(configuration.posts), limits: limits
        ).add(to: router)
        let uploads = FileUploads(connection: connection, limits: limits)
        AssetRoute(rooms: rooms, uploads: uploads).add(to: router)
        let writers = RoomWriters(connection: connection, limit: limits.pageWork, logger: logger)
        PageRoutes(
            rooms: rooms, connection: connection, writers: writers, uploads: uploads, replies: replies
        ).add(to: router)
        ModerationRoutes(rooms: rooms, connection: connection, root: configuration.root, live: live).add(to: router)
        TimeRoute().add(to: router)
        var events = limits.events
        events.readerBuffer = configuration.readerBuffer
        let hub = EventHub(
            connection, events, revocations: revocations, registry: registry, logger: logger)
        EventRoute(rooms: rooms, hub: hub, live: live).add(to: router)
        let skews = SkewTable(
            limits.skews, alarm: { [live] in live.values.skewAlarm }, registry: registry, logger: logger)
        ObservationRoute(
            rooms: rooms, hub: hub, skews: skews, live: live, limits: limits,
            failures: Counter(label: GatewayMetrics.coreFailures, factory: registry)
        ).add(to: router)
        SiteRoutes(live: live).add(to: router)
        return router
    }
}

extension Gateway {
    /// Drops pictures when a room is erased, and after a time without NATS, in which one may have been. All of them: they
    /// are few, and made again when they are asked for.
    private func forgetErasedRooms(in caches: [PictureCache]) {
        let forget: @Sendable () -> Void = { Task { for cache in caches { await cache.removeAll() } } }
        connection.onStateChange { state in if state == .connected { forget() } }
        do throws(NATSError) {
            try connection.subscribe(ErasedRoom.subject(root: configuration.root)) { _ in forget() }
        } catch {
            logger.warning("cannot subscribe to erased rooms", metadata: ["error": "\(error)"])
        }
    }
}

/// The gateway cannot listen on its address.
public struct ListenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name or address that was asked for.
    public let host: String
    /// The port that was asked for.
    public let port: Int
    /// The cause, in a few words.
    public let reason: String

    /// - Returns: nil for an error of another kind.
    init?(_ error: any Error, host: String, port: Int) {
        switch error {
        case let error as IOError:
            guard let reason = Self.reason(error.errnoCode) else { return nil }
            self.reason = reason
        case is SocketAddressError.UnknownHost:
            reason = "the name has no address"
        default:
            return nil
        }
        self.host = host
        self.port = port
    }

    /// One line for a person.
    public var description: String {
        "cannot listen on \(host.contains(":") ? "[\(host)]" : host):\(port): \(reason)"
    }

    /// The cause of an error that only binding a socket has; nil for any other.
    private static func reason(_ code: Int32) -> String? {
        switch code {
        case EADDRINUSE: "the port is taken"
        case EADDRNOTAVAIL: "this machine has no such address"
        case EACCES: "permission denied"
        default: nil
        }
    }
}
