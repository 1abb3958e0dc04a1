internal import Hummingbird

/// Which pages may use the API: those of the gateway itself, and of the origins that are configured.
///
/// Refuses requests that change something and come from a page of another origin: a page that a user visits must not
/// write to a board behind the user's back. Lets configured origins read what they ask for without credentials (Fetch,
/// "CORS protocol").
struct OriginPolicy: RouterMiddleware {
    typealias Context = GatewayContext

    let live: LiveSettings

    private static let origin = HTTPFields.Element.Name("Origin")!
    private static let allowHeaders =
        "Authorization, Content-Type, Ink-Password, Ink-Session, Last-Event-ID, If-None-Match"

    /// What pages of those origins may read of answers, beside the usual.
    private static let exposedHeaders = "ETag, Ink-Incomplete, Ink-Index, Ink-Room, Retry-After"

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let allowed = live.values.allowedOrigins
        guard let origin = request.headers[Self.origin]?.lowercased() else {
            var response = try await next(request, context)
            // Else a browser's cache would answer an allowed page with a response that lacks the headers below.
            if !allowed.isEmpty { response.headers.append(.init(name: .vary, value: "Origin")) }
            return response
        }
        let isAllowed = allowed.contains(origin)
        if request.method == .options, isAllowed {
            return Response(
                status: .noContent,
                headers: [
                    .accessControlAllowOrigin: origin, .vary: "Origin",
                    .accessControlAllowMethods: "GET, HEAD, POST, PUT, DELETE",
                    .accessControlAllowHeaders: Self.allowHeaders, .accessControlMaxAge: "600",
                ])
        }
        let isReading = [.get, .head, .options].contains(request.method)
        let isOwn = Self.host(of: origin).map { $0 == request.head.authority?.lowercased() } ?? false
        guard isReading || isAllowed || isOwn else {
            throw GatewayError.forbidden("The request comes from a page of another origin.")
        }
        var response = try await next(request, context)
        if isAllowed {
            response.headers[.accessControlAllowOrigin] = origin
            response.headers[.accessControlExposeHeaders] = Self.exposedHeaders
        }
        if !allowed.isEmpty { response.headers.append(.init(name: .vary, value: "Origin")) }
        return response
    }

    /// Host and port of an origin, as in the header Host; nil for `null` and for what is none.
    private static func host(of origin: String) -> String? {
        let parts = origin.split(separator: "://", omittingEmptySubsequences: false)
        return parts.count == 2 && ["http", "https"].contains(parts[0]) ? String(parts[1]) : nil
    }
}
