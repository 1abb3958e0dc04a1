internal import Hummingbird
internal import Logging
internal import Metrics
internal import NIOCore
internal import NIOHTTP1

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
