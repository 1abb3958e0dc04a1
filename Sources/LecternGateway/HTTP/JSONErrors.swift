internal import Hummingbird
internal import Logging

/// Turns whatever a route throws into a JSON error, so that no client has to read anything else.
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
        var response = try Response.json(ErrorBody(failure), status: failure.status)
        if failure.status == .methodNotAllowed { response.headers[.allow] = "GET, HEAD" }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// What the router itself refuses.
    private static func translated(_ status: HTTPResponse.Status) -> GatewayError {
        switch status.kind {
        case .clientError where status == .notFound: .notFound
        case .clientError: GatewayError(status, "bad-request", "\(status.reasonPhrase).")
        default: .internalError
        }
    }
}
