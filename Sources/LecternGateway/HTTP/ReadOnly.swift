internal import Hummingbird

/// Nothing is changed over HTTP: refuses every method but GET and HEAD, whatever the path.
struct ReadOnly: RouterMiddleware {
    typealias Context = BasicRequestContext

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get || request.method == .head else { throw GatewayError.methodNotAllowed }
        return try await next(request, context)
    }
}
