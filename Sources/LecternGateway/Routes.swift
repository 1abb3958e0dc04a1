internal import Foundation
internal import Hummingbird
internal import NATSClient
internal import NIOCore

/// `GET /api/rooms`: all rooms. `GET /api/rooms/ROOM`: the state of one; an error has the room's address too.
struct RoomRoutes {
    let rooms: RoomService

    func add(to router: Router<GatewayContext>) {
        router.get("api/rooms") { [rooms] request, context in
            let filter = RoomFilter(
                prefix: request.text("prefix") ?? "", after: request.text("after"),
                limit: try request.number("limit", 1...1000), claims: context.claims)
            return Response.body(try await rooms.list().json(filter), type: "application/json")
        }
        router.get("api/rooms/:room") { [rooms] _, context in
            let room = try context.room()
            if context.claims?.seesAddressesOnly == true {
                let body = "{\"room\":\"\(room)\",\"address\":\"\(rooms.address(of: room))\"}"
                return Response.body(body.utf8, type: "application/json")
            }
            do throws(GatewayError) {
                return Response.body(try await rooms.state(of: room), type: "application/json")
            } catch {
                throw error.about(rooms.address(of: room))
            }
        }
    }
}

/// `GET /healthz`: this process runs. `GET /readyz`: it is connected and serves. Both answer at once, from
/// what this process knows.
struct HealthRoutes {
    let connection: NATSConnection
    /// Why the rest of the process is not ready; nil when it is.
    let obstacle: @Sendable () -> String?

    private static let paths: Set = ["/healthz", "/readyz"]

    /// Whether a request's target, with its query, is one of these paths.
    static func serve(_ target: String) -> Bool {
        paths.contains(String(target.prefix { $0 != "?" }))
    }

    func add(to router: Router<GatewayContext>) {
        router.get("healthz") { _, _ in Response.text("ok") }
        router.get("readyz") { [connection, obstacle] _, _ in
            guard connection.state == .connected else {
                throw GatewayError.notReady("There is no connection to NATS.")
            }
            if let obstacle = obstacle() { throw GatewayError.notReady(obstacle) }
            return Response.text("ready")
        }
    }
}

/// `GET /metrics` for Prometheus.
struct MetricsRoute {
    let registry: PrometheusRegistry

    func add(to router: Router<GatewayContext>) {
        router.get("metrics") { [registry] _, _ in
            Response.body(registry.text().utf8, type: ExpositionWriter.contentType)
        }
    }
}

extension JSONEncoder {
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

/// What routes know of a request beside the request itself.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// What the request's token allows; nil where everybody may do everything.
    var claims: TokenClaims?
    /// What each of the request's tokens allows that meet its need, ``claims`` first.
    var allClaims: [TokenClaims] = []

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// What the first of the request's tokens allows that meets a second need as well; nil where everybody may do everything.
    /// - Parameter refusal: why it is refused where none does.
    func claims(
        alsoFor need: AccessNeed, _ refusal: @autoclosure () -> String
    ) throws(GatewayError) -> TokenClaims? {
        guard claims != nil else { return nil }
        guard let both = allClaims.first(where: { (try? need.check($0)) != nil }) else { throw .forbidden(refusal()) }
        return both
    }
}

extension Response {
    /// A response with a body, whose media type browsers must not guess (`nosniff`), and which no cache keeps: some would keep
    /// an error such as 410 for ever, and the state of a room for whoever asks next.
    static func body(
        _ bytes: some Sequence<UInt8>, type: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.cacheControl] = "no-store"
        headers[.contentType] = type
        headers[.xContentTypeOptions] = "nosniff"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func json(_ value: some Encodable) throws -> Response {
        body(try JSONEncoder.sorted.encode(value), type: "application/json")
    }

    /// A short plain text.
    static func text(_ text: String) -> Response {
        body(text.utf8, type: "text/plain; charset=utf-8")
    }
}
