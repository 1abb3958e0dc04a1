internal import Hummingbird
internal import Metrics

/// Counts and times requests by route, never by path: clients could make up any number of those.
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
