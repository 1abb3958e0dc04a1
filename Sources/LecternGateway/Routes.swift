internal import Foundation
internal import Hummingbird
internal import NATSClient
internal import NIOCore
internal import StrokeWire

/// `GET /api/rooms`: all rooms. `GET /api/rooms/ROOM`: the state of one; an error has the room's address too.
struct RoomRoutes {
    let rooms: RoomService

    func add(to router: Router<GatewayContext>) {
        router.get("api/rooms") { [rooms] _, _ in
            Response.body(try await rooms.list().json, type: "application/json")
        }
        router.get("api/rooms/:room") { [rooms] _, context in
            let room = try context.room()
            do throws(GatewayError) {
                return Response.body(try await rooms.state(of: room), type: "application/json")
            } catch {
                throw error.about(rooms.address(of: room))
            }
        }
    }
}

/// `GET /rooms/ROOM/board.png?cohort=C&width=W`: the board as released to a cohort.
///
/// Clients may store a picture but must validate it each time (`no-cache`): the entity tag saves sending the picture,
/// not drawing it.
struct PictureRoute {
    let rooms: RoomService

    func add(to router: Router<GatewayContext>) {
        router.get("rooms/:room/board.png") { [rooms] request, context in
            let room = try context.room()
            let (cohort, width) = (try request.cohort(), try request.width())
            let picture = try await rooms.picture(of: room, cohort: cohort, width: width)
            let tag = EntityTag(of: picture)
            let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "no-cache"]
            if let known = request.headers[.ifNoneMatch], tag.matches(known) {
                return Response(status: .notModified, headers: headers)
            }
            return Response.body(picture, type: "image/png", headers: headers)
        }
    }
}

/// An entity tag made from the content of a body (RFC 9110, 8.8.3).
struct EntityTag: Equatable {
    /// The header's value, with its quotation marks.
    let text: String

    /// The tag of a body: its length and its 64-bit FNV-1a hash.
    init(of body: [UInt8]) {
        text = "\"\(String(body.count, radix: 16))-\(String(FNV1a64.hash(body), radix: 16))\""
    }

    /// Whether an If-None-Match header has this tag or `*`. Weak tags are compared like strong ones (RFC 9110, 13.1.2).
    func matches(_ header: String) -> Bool {
        header.split(separator: ",").contains { candidate in
            var candidate = candidate.drop { $0 == " " || $0 == "\t" }
            while let last = candidate.last, last == " " || last == "\t" { candidate.removeLast() }
            return candidate == "*" || candidate == text || candidate == "W/" + text
        }
    }
}

/// `GET /healthz`: this process runs. `GET /readyz`: it is connected and serves. Both answer at once and from this
/// process alone, whatever the rest of the cluster does.
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

extension RequestContext {
    /// The room in the path.
    func room() throws(GatewayError) -> RoomID {
        let text = parameters.get("room") ?? ""
        guard let room = RoomID(text.removingPercentEncoding ?? text) else {
            throw .badRequest("The name of a room is 1 to 64 characters of a to z, 0 to 9, _ and -.")
        }
        return room
    }
}

extension Request {
    /// The cohort in the query; `main` by default.
    func cohort() throws(GatewayError) -> CohortName {
        guard let text = uri.queryParameters["cohort"] else { return .main }
        guard let cohort = CohortName(text) else {
            throw .badRequest(
                "The name of a cohort is 1 to 64 characters of a to z, 0 to 9, _ and -, but not open or default.")
        }
        return cohort
    }

    /// The width in the query, in pixels; nil when there is none.
    func width() throws(GatewayError) -> Int? {
        guard let text = uri.queryParameters["width"] else { return nil }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let width = Int(text),
            1...4096 ~= width
        else {
            throw .badRequest("The width of a picture is a whole number of pixels from 1 to 4096.")
        }
        return width
    }
}

extension Response {
    /// A response with a body, whose media type browsers must not guess (`nosniff`).
    static func body(
        _ bytes: some Sequence<UInt8>, type: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.xContentTypeOptions] = "nosniff"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// A short plain text.
    static func text(_ text: String) -> Response {
        body(text.utf8, type: "text/plain; charset=utf-8")
    }
}
