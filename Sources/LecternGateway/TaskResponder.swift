internal import Hummingbird

/// Answers each request in a task of its own, which ends when the answer's body begins.
///
/// A task keeps the stacks of all that it has ever awaited until it ends. That of a connection lasts as long as the connection:
/// for each of its event streams, hours. Middleware and routes are deep, and took two thirds of a reader's memory.
struct TaskResponder: HTTPResponder {
    private let router: RouterResponder<GatewayContext>

    init(_ router: Router<GatewayContext>) {
        self.router = router.buildResponder()
    }

    @concurrent @Sendable func respond(to request: Request, context: GatewayContext) async throws -> Response {
        async let response = router.respond(to: request, context: context)
        return try await response
    }
}
