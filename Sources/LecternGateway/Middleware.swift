internal import Hummingbird
internal import Logging
internal import Metrics

/// The gateway's own metrics.
public enum GatewayMetrics {
    static let requests = "lectern_http_requests_total"
    static let closedConnections = "lectern_http_connections_closed_total"
    static let seconds = "lectern_http_request_seconds"

    /// Help texts by metric name, for ``PrometheusRegistry``.
    public static let help = [
        requests: "HTTP requests answered, by route and status.",
        seconds: "Time from the head of an HTTP request to its answer, by route, without sending the body.",
        closedConnections: "HTTP connections that the gateway closed at one of its bounds, by reason.",
        MetricTable.refused: "Metrics or series asked for that had no room, or were of another kind than before.",
    ]
}

/// Counts and times requests by route. Not by path: clients could send any number of different ones.
struct RequestMetrics: RouterMiddleware {
    typealias Context = BasicRequestContext
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

/// Turns every error of a route into a JSON error.
struct JSONErrors: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let failure: GatewayError
        do {
            return try await next(request, context)
        } catch let error as GatewayError {
            failure = error
        } catch let error as any HTTPResponseError {
            failure = Self.translated(error.status)
        } catch {
            context.logger.error("request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            failure = .internalError
        }
        var response = Response.body(
            ErrorBody(failure).encoded(), type: "application/json", status: failure.status)
        if failure.status == .methodNotAllowed { response.headers[.allow] = "GET, HEAD" }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// The error for a request that the router itself refuses.
    private static func translated(_ status: HTTPResponse.Status) -> GatewayError {
        switch status.kind {
        case .clientError where status == .notFound: .notFound
        case .clientError: GatewayError(status, "bad-request", "\(status.reasonPhrase).")
        default: .internalError
        }
    }
}

/// Refuses every method but GET and HEAD, on every path: nothing is changed over HTTP.
struct ReadOnly: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get || request.method == .head else { throw GatewayError.methodNotAllowed }
        return try await next(request, context)
    }
}
