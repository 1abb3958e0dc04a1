internal import Hummingbird
internal import Logging
internal import Metrics
internal import NIOCore
internal import NIOHTTP1

/// The gateway's own metrics.
public enum GatewayMetrics {
    static let requests = "lectern_http_requests_total"
    static let readers = "lectern_http_readers"
    static let events = "lectern_http_events_total"
    static let wet = "lectern_http_wet_events_total"
    static let joins = "lectern_http_joins_total"
    static let malformed = "lectern_http_malformed_total"
    static let skew = "lectern_skew_seconds"
    static let earlySkew = "lectern_skew_early_total"
    static let skewReaders = "lectern_skew_readers"
    static let badSkewRooms = "lectern_skew_bad_rooms"
    static let ignoredSkews = "lectern_skew_ignored_total"
    static let coreFailures = "lectern_http_core_failures_total"
    static let closedConnections = "lectern_http_connections_closed_total"
    static let seconds = "lectern_http_request_seconds"
    static let refusedPublishes = "lectern_publishes_refused_total"
    static let revokedTokens = "lectern_revoked_tokens"
    static let revokedRequests = "lectern_revoked_requests_total"

    /// Help texts by metric name, for ``PrometheusRegistry``.
    public static let help = [
        requests: "HTTP requests answered, by route and status.",
        seconds: "Time from the head of an HTTP request to its answer, by route, without sending the body.",
        closedConnections: "HTTP connections that the gateway closed at one of its bounds, by reason.",
        refusedPublishes:
            "Messages that JetStream refused for lack of space, by stream, as far as this process sent them.",
        readers: "Event streams that are open, or being opened.",
        events: "Operations sent as events, each counted once, whatever the number of its readers.",
        wet: "Messages with points of strokes being drawn sent as events, each counted once.",
        joins: "Joins of feeds for event streams, by outcome.",
        malformed: "Messages on the subjects of feeds that could not be read.",
        skew: "How far ink and picture are apart at readers, as they report, by cohort.",
        earlySkew: "Observations of ink drawn more than 40 ms before its picture, by cohort.",
        skewReaders: "Readers that reported in the last minute, by cohort.",
        badSkewRooms: "Rooms whose ink is later than http.skew_alarm, or early, in the last minute, by cohort.",
        ignoredSkews: "Observations that did not count: beyond one a second a reader, or of too many readers.",
        coreFailures: "Boards and teachers in browsers whose core failed and was replaced, as their pages report.",
        revokedTokens: "Revocations of tokens that this gateway knows.",
        revokedRequests: "Requests and event streams refused or ended because their token has been revoked.",
        MetricTable.refused: "Metrics or series asked for that had no room, or were of another kind than before.",
    ]
}

/// Counts and times requests by route. Not by path: clients could send any number of different ones.
struct RequestMetrics: RouterMiddleware {
    typealias Context = GatewayContext
    let registry: PrometheusRegistry

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let route = ("route", context.endpointPath ?? "unknown")
        let status = ("status", String(response.status.code))
        Counter(label: GatewayMetrics.requests, dimensions: [route, status], factory: registry).increment()
        Timer(label: GatewayMetrics.seconds, dimensions: [route], factory: registry)
            .record(duration: ContinuousClock.now - start)
        return response
    }
}

/// Turns every error of a route into a JSON error; where a browser has gone to the address, into a page.
struct JSONErrors: RouterMiddleware {
    typealias Context = GatewayContext
    /// For paths that there are not.
    let notFound: GatewayError

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let failure: GatewayError
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            failure = translated(error.status)
        } catch let error as HTTPParserError {
            failure = .badRequest("The request is no HTTP: \(error).")
        } catch is IOError, is ChannelError, is ChannelPipelineError {
            // The client has gone, and nobody hears the answer.
            failure = .badRequest("The connection has ended within the request.")
        } catch {
            let known = GatewayError(thrown: error)
            if known == nil {
                context.logger.error(
                    "request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            }
            failure = known ?? .internalError
        }
        var response =
            ErrorPage.isAsked(by: request)
            ? SiteRoutes.page(ErrorPage(failure: failure).html(root: request.pathToRoot), status: failure.status)
            : Response.body(ErrorBody(failure).encoded(), type: "application/json", status: failure.status)
        if let seconds = failure.retryAfter { response.headers[.retryAfter] = String(seconds) }
        if failure.status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        if failure.status == .methodNotAllowed {
            response.headers[.allow] = AllowedMethods.of(request.uri.path).map(\.rawValue).joined(separator: ", ")
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// The error for a request that the router itself refuses.
    private func translated(_ status: HTTPResponse.Status) -> GatewayError {
        switch status.kind {
        case .clientError where status == .notFound: notFound
        case .clientError: GatewayError(status, "bad-request", "\(status.reasonPhrase).")
        default: .internalError
        }
    }
}

/// Refuses methods that a path does not have: POST where something is published, PUT and DELETE for what is so or not, GET
/// and HEAD elsewhere.
struct AllowedMethods: RouterMiddleware {
    typealias Context = GatewayContext

    /// The methods of a path.
    static func of(_ path: String) -> [HTTPRequest.Method] {
        let parts = path.split(separator: "/").map(String.init)
        if parts == ["api", "session"] { return [.post] }
        guard parts.starts(with: ["api", "rooms"]) else { return [.get, .head] }
        return switch AccessNeed.form(ofRoomPath: parts.dropFirst(3)) {
        case "strokes", "wet", "clock", "observations", "assets", "import", "links", "pages/*/copy", "pages/*/rotate":
            [.post]
        case "authors/*/mute": [.put, .delete]
        case "links/*": [.delete]
        default: [.get, .head]
        }
    }

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let methods = Self.of(request.uri.path)
        guard methods.contains(request.method) else {
            throw GatewayError.methodNotAllowed(methods.map(\.rawValue).joined(separator: " and "))
        }
        return try await next(request, context)
    }
}
