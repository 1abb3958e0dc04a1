internal import Hummingbird
internal import HummingbirdCore
internal import Locking
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
        guard case .tokens = configuration.access else {
            RevocationWatch.metrics(in: registry)
            revocations = nil
            self.obstacle = { obstacle() ?? partitions?.obstacle }
            return
        }
        let revocations = RevocationWatch(
            root: configuration.root, connection: connection, registry: registry, logger: logger)
        self.revocations = revocations
        self.obstacle = { obstacle() ?? partitions?.obstacle ?? revocations.obstacle }
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
                socket: socket, channel: channel, responder: router.buildResponder(), onServerRunning: onServerRunning,
                logger: quiet
            ).run()
        }
        let application = Application(
            router: router, server: .http1(configuration: channel),
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
            additionalChannelHandlers: [RequestDeadlinesInstaller(limits, connections)])
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
            connection: connection, timeout: limits.outcomeTimeout, refused: refused)
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
            logger.warning("erased rooms are not heard of", metadata: ["error": "\(error)"])
        }
    }
}

/// Where the gateway listens, where it finds the rooms, and who may use it.
public struct GatewayConfiguration: Sendable {
    /// A name or address, and a TCP port, 0 … 65535; 0 takes any free one.
    public struct Address: Sendable, Equatable {
        public var host: String
        public var port: Int

        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Access to it.
    public enum Access: Sendable {
        /// Everybody, by requests to a loopback address; by any requests when said so.
        case open(anyHost: Bool)
        /// Holders of a token of this key.
        case tokens(TokenKey)
    }

    /// The name or address to listen on.
    public var host: String
    /// The TCP port, 0 … 65535; 0 takes any free one.
    public var port: Int
    /// Where health and metrics are served beside, without tokens; nil for nowhere.
    public var admin: Address?
    /// A TCP socket that listens at `host` and `port`, bound by another process; nil to bind one. The gateway closes it when it
    /// ends; as long as the other process has it open, what connects waits for the next gateway.
    public var socket: CInt?
    /// The same for `admin`.
    public var adminSocket: CInt?
    /// First token of all subjects of the service.
    public var root: String
    /// Number of partitions of the rooms, at least 1; the same as in the service.
    public var partitions: Int
    /// Whether the service runs in other processes, whose number of partitions may be another one: then it is asked for.
    public var isAlone = false
    public var access = Access.open(anyHost: false)
    /// The path of the gateway for browsers, from `/` to `/`: where a proxy serves it below a path, such as `/board/`, and takes that
    /// off its requests.
    public var basePath = "/"
    /// Origins whose pages may use the API: `https://school.example`.
    public var allowedOrigins: [String] = []
    /// Proxies that name the address of their client in `X-Forwarded-For`.
    public var trustedProxies: [AddressRange] = []
    /// Origins of videos that the pages may load.
    public var mediaOrigins: [String] = []
    /// The translations of the pages.
    public var languages = SiteLanguages()
    /// Bytes of events that may wait to be sent to one reader.
    public var readerBuffer = 1 << 20
    /// Where ink of a room is later than this for a minute, the log says so.
    public var skewAlarm = Duration.milliseconds(500)
    /// How much an author may post, so that the service does not have to refuse what it would then have settled.
    public var posts = PostLimits()
    /// Whether rooms are served; otherwise health and metrics only.
    public var servesRooms = true

    /// The defaults: port 8080 on the loopback address, root `ink`, one partition.
    public init(host: String = "127.0.0.1", port: Int = 8080, root: String = "ink", partitions: Int = 1) {
        self.host = host
        self.port = port
        self.root = root
        self.partitions = partitions
    }

    fileprivate var needsLoopbackHost: Bool {
        if case .open(anyHost: false) = access { true } else { false }
    }
}

/// The settings of a gateway that may change while it runs. Any thread.
final class LiveSettings: Sendable {
    struct Values: Sendable {
        /// In lower case.
        var allowedOrigins: Set<String>
        var trustedProxies: [AddressRange]
        var mediaOrigins: [String]
        var languages: SiteLanguages
        var skewAlarm: Duration
        /// Nil where everybody may do everything.
        var tokenKey: TokenKey?
        /// The number of that key, counted since the start.
        fileprivate(set) var keyNumber = 0

        /// Checks a token.
        /// - Returns: nil for one that does not count, and where none is needed.
        func verify(_ token: String) async -> TokenClaims? {
            var claims = await tokenKey?.verify(token)
            claims?.keyNumber = keyNumber
            return claims
        }
    }

    private let locked: Locked<Values>

    init(_ configuration: GatewayConfiguration) {
        locked = Locked(Values(configuration))
    }

    var values: Values { locked.withLock { $0 } }

    /// Whether tokens are needed stays as it is.
    /// - Returns: whether the key of tokens is another one.
    func update(_ configuration: GatewayConfiguration) -> Bool {
        var new = Values(configuration)
        return locked.withLock { values in
            if (new.tokenKey == nil) != (values.tokenKey == nil) { new.tokenKey = values.tokenKey }
            defer { values = new }
            new.keyNumber = values.keyNumber
            guard let before = values.tokenKey, let key = new.tokenKey, key.differs(from: before) else { return false }
            new.keyNumber += 1
            return true
        }
    }
}

extension LiveSettings.Values {
    fileprivate init(_ configuration: GatewayConfiguration) {
        allowedOrigins = Set(configuration.allowedOrigins.map { $0.lowercased() })
        trustedProxies = configuration.trustedProxies
        mediaOrigins = configuration.mediaOrigins
        languages = configuration.languages
        skewAlarm = configuration.skewAlarm
        if case .tokens(let key) = configuration.access { tokenKey = key }
    }
}

/// The bounds of the gateway, and what happens at each.
struct GatewayLimits: Sendable {
    /// Open connections. One more closes the connection that has waited longest for the head of a request; when none
    /// waits, the new one is closed.
    var connections = 2048
    /// Connections with a request under way, not counting `/healthz` and `/readyz`. A request on one more is answered
    /// 503, and its connection closed.
    var busyConnections = 1984
    /// Bytes of a request's headers in all; a longer head is answered 400, and its connection closed.
    var headerBytes = 16 << 10
    /// Time for the head of a request, from the opening of the connection or from the answer before; then the connection
    /// is closed.
    var headTimeout = Duration.seconds(10)
    /// Time for a whole request, from its head to the last byte of its answer; then the connection is closed.
    var requestTimeout = Duration.seconds(30)
    /// Time for a request that brings a file; then the connection is closed.
    var uploadTimeout = Duration.seconds(300)
    /// Files that are being uploaded at a time, half of them to one room at most; a request with one more is answered 503.
    var uploads = 8
    /// Imports and copies of pages at a time, half of them of one room at most, waiting ones too; a request for one more is
    /// answered 503.
    var pageWork = 8
    /// Time for the service to open and store a file; then 504.
    var openingTimeout = Duration.seconds(120)
    /// Requests to NATS at a time, half of them about one room at most; an HTTP request that needs one more is answered 503.
    var natsRequests = 256
    /// Time for the service to answer with the state of a room; then 504.
    var stateTimeout = Duration.seconds(2)
    /// Time between two questions how many partitions the service has.
    var partitionsInterval = Duration.seconds(5)
    /// Time for the service to answer with a picture; then 504.
    var pictureTimeout = Duration.seconds(5)
    /// Time for the service to answer with a picture of a page of an asset, which may wait for others; then 504.
    var assetTimeout = Duration.seconds(20)
    /// Pictures that are being drawn for clients at a time, and as many of pages of assets for one feed of a room; a request
    /// for one more is answered 503.
    var drawings = 4
    /// Pictures of pages of assets that are being drawn at a time; a request for one more is answered 503.
    var assetDrawings = 16
    /// Bytes of pictures that are kept for the next client, and as many of pages of assets.
    var pictureBytes = 32 << 20
    /// Bytes of boards and pictures that are being sent, half of them of one room at most; a request for one more is answered
    /// 503.
    var replyBytes = 256 << 20
    /// Time for all daemons to answer with their rooms; then the list goes without the missing ones, and says so.
    /// Requests in this time, and in the second after it, share one list.
    var listingWindow = Duration.seconds(1)
    /// Time for the service to say what has become of a stroke; then it counts as held.
    var outcomeTimeout = Duration.seconds(2)
    /// Bytes of a body at most.
    var bodyBytes = 1 << 20
    /// Messages of a body at most.
    var messages = 400
    /// Those of event streams, whose connections do not count above.
    var events = EventLimits()
    /// Those of readers that report how far ink and picture are apart.
    var skews = SkewTable.Limits()
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
