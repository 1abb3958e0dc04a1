internal import Locking

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

    var needsLoopbackHost: Bool {
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
    /// Bytes of a request's headers in all; a longer head is answered 431, and its connection closed.
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
    /// Time for the service to answer with an SVG or a PDF, for whose images it waits longer; then 504. A third of the
    /// request's time is left for sending it, at least.
    var documentTimeout = Duration.seconds(15)
    /// Time for the service to answer with a picture of a page of an asset, which may wait for others; then 504.
    var assetTimeout = Duration.seconds(20)
    /// Pictures that are being drawn for clients at a time, as many SVGs and PDFs, and as many of pages of assets for one feed of a
    /// room; a request for one more is answered 503.
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
