internal import Foundation
internal import Hummingbird
internal import StrokeWire

/// What a request needs, by its path: a route that is not named here is for operators only.
enum AccessNeed: Equatable {
    /// Nothing: pages, scripts, health.
    case nothing
    /// Any token; the route shows what the token is for.
    case token
    /// Any token for the room.
    case room(RoomID)
    /// To read a cohort's feed, or the head's.
    case read(RoomID, String?)
    /// To write as an author.
    case write(RoomID, String?)
    /// To bring files into a room.
    case upload(RoomID)
    /// To set a cohort's clock.
    case clock(RoomID, String?)
    /// To mute authors of a room, and to make links for its students.
    case moderate(RoomID)
    case `operator`

    private static let openPaths: Set = [
        "", "healthz", "readyz", "monitor", "language.json", "languages.json", "api/time", "api/session",
        "api/openapi.json",
    ]

    init(_ request: Request) {
        let parts = request.uri.path.split(separator: "/").map(String.init)
        let path = parts.joined(separator: "/")
        let isPage =
            parts.first == "rooms" && (parts.count == 2 || parts.count == 3 && ["teach", "clock"].contains(parts[2]))
        if isPage || parts.first == "assets" || Self.openPaths.contains(path) || SiteRoutes.files[path] != nil {
            self = .nothing
            return
        }
        if path == "api/rooms" {
            self = .token
            return
        }
        let names = parts.first == "api" ? parts.dropFirst()[...] : parts[...]
        guard names.count >= 2, names.first == "rooms" else {
            self = .operator
            return
        }
        let text = names[names.startIndex + 1]
        guard let room = RoomID(pathPart: text) else {
            // The route says what is wrong with the name.
            self = .token
            return
        }
        let (cohort, author) = (request.text("cohort"), request.text("author"))
        let form = Self.form(ofRoomPath: names.dropFirst(2))
        switch form {
        case "": self = .room(room)
        case "events", "replay", "observations", "assets/*": self = .read(room, cohort)
        case _ where form.hasPrefix("board.") && names.count == 3: self = .read(room, cohort)
        // The route of copies looks for a token that is for the other room, too.
        case "strokes", "wet", "import", "pages/*/copy", "pages/*/rotate": self = .write(room, author)
        case "readers", "authors/*/mute", "links", "links/*": self = .moderate(room)
        case "assets": self = .upload(room)
        case "clock": self = .clock(room, cohort)
        default: self = .operator
        }
    }

    /// What stands behind a room in a path, with `*` for a name: `pages/*/copy`.
    static func form(ofRoomPath parts: some Sequence<String>) -> String {
        parts.enumerated().map { $0.offset == 1 ? "*" : $0.element }.joined(separator: "/")
    }

    /// Whether the claims meet the need.
    /// - Throws: `forbidden` when they do not.
    func check(_ claims: TokenClaims) throws(GatewayError) {
        guard claims.role != .operator else { return }
        switch self {
        case .nothing, .token:
            return
        case .operator:
            throw .forbidden("This is for operators.")
        case .room(let room), .read(let room, _), .write(let room, _), .upload(let room), .clock(let room, _),
            .moderate(let room):
            guard claims.rooms.contains(room) else { throw .forbidden("The token is for another room.") }
        }
        switch (self, claims.role) {
        case (.read, .teacher):
            return
        case (.upload, .teacher), (.moderate, .teacher):
            // Without a name the author could not be muted.
            guard claims.author != nil else { throw .forbidden("The token names no author.") }
        case (.read(_, let cohort), .student):
            guard cohort ?? claims.cohort.text == claims.cohort.text else {
                throw .forbidden("The token is for another cohort.")
            }
        case (.write(_, let author), .teacher):
            guard let own = claims.author else { throw .forbidden("The token names no author.") }
            guard author ?? own.text == own.text else { throw .forbidden("The token is for another author.") }
        case (.clock(_, let cohort), .clock):
            guard cohort ?? claims.cohort.text == claims.cohort.text else {
                throw .forbidden("The token is for another cohort.")
            }
        case (.read, _), (.write, _), (.upload, _), (.clock, _), (.moderate, _):
            throw .forbidden("The token's role does not allow this.")
        case (.room, _), (.nothing, _), (.token, _), (.operator, _):
            return
        }
    }

    /// What the query is completed with where it leaves out the cohort or the author.
    func defaults(_ claims: TokenClaims) -> (name: String, value: String)? {
        switch self {
        case .read(_, nil) where claims.role == .student: ("cohort", claims.cohort.text)
        case .clock(_, nil) where claims.role == .clock: ("cohort", claims.cohort.text)
        case .write(_, nil): claims.author.map { ("author", $0.text) }
        default: nil
        }
    }
}

/// Refuses requests whose token does not allow them, and gives their routes the token's claims.
struct Authorization: RouterMiddleware {
    typealias Context = GatewayContext

    let live: LiveSettings
    /// Nil where everybody may do everything.
    let revocations: RevocationWatch?
    /// Whether only requests to a loopback address are taken.
    let needsLoopbackHost: Bool

    /// The cookie of a token. Those of one room have the same path: a link for students must not take a teacher's place.
    static func cookie(of role: TokenRole) -> String {
        switch role {
        case .student, .clock: "lectern-\(role.rawValue)"
        case .teacher, .operator: "lectern"
        }
    }

    private static let cookies = Set(TokenRole.allCases.map { cookie(of: $0) })
    /// Cookies of a request that are tried; each costs a check of a signature.
    private static let mostCookies = 8

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        if needsLoopbackHost, !Self.isLoopback(request.head.authority ?? "") {
            // A page may resolve a name of its own to this machine (DNS rebinding); then Host has that name.
            throw GatewayError.forbidden("Without tokens, requests go to localhost or a loopback address.")
        }
        let settings = live.values
        guard settings.tokenKey != nil, request.method != .options else {
            return try await next(request, context)
        }
        let need = AccessNeed(request)
        guard need != .nothing else { return try await next(request, context) }
        let all = try await claims(of: request, for: need, settings)
        let claims = all[0]
        var context = context
        (context.claims, context.allClaims) = (claims, all)
        guard let (name, value) = need.defaults(claims) else { return try await next(request, context) }
        var head = request.head
        let path = head.path ?? ""
        // First in the query: nothing that stands behind it can take it away.
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        head.path = "\(parts[0])?\(name)=\(value)" + (parts.count == 2 ? "&\(parts[1])" : "")
        return try await next(Request(head: head, body: request.body), context)
    }

    /// The claims of the request's tokens that meet the need, of which the first counts: browsers send the cookie of a room before that of all
    /// rooms, and a student's link must not hide what else the person may do there.
    /// - Throws: where none does, why the best of them does not.
    private func claims(
        of request: Request, for need: AccessNeed, _ settings: LiveSettings.Values
    ) async throws(GatewayError) -> [TokenClaims] {
        var known: [TokenClaims] = []
        for token in Self.tokens(of: request) {
            if let claims = await settings.verify(token) { known.append(claims) }
        }
        let valid = known.filter { revocations?.revokes($0) != true }
        let allowed = valid.filter { (try? need.check($0)) != nil }
        // The state of a room is for some; to others the same request tells the address alone.
        let full = if case .room = need { allowed.first { !$0.seesAddressesOnly } } else { TokenClaims?.none }
        guard let claims = full ?? allowed.first ?? valid.first ?? known.first else { throw .unauthorized }
        try revocations?.check(claims)
        try need.check(claims)
        // A revocation may have expired meanwhile.
        return full.map { [$0] } ?? (allowed.isEmpty ? [claims] : allowed)
    }

    /// The token in the header, else those in cookies. Another scheme in the header is for a proxy.
    private static func tokens(of request: Request) -> [String] {
        if let header = request.headers[.authorization] {
            let parts = header.split(separator: " ", maxSplits: 1)
            if parts.first?.lowercased() == "bearer" { return parts.dropFirst().map(String.init) }
        }
        let pairs = request.headers[values: .cookie].joined(separator: ";").split(separator: ";")
        let parts = pairs.map { $0.drop { $0 == " " }.split(separator: "=", maxSplits: 1).map(String.init) }
        return parts.filter { $0.count == 2 && cookies.contains($0[0]) }.prefix(mostCookies).map { $0[1] }
    }

    /// Whether a Host header names this machine alone.
    static func isLoopback(_ authority: String) -> Bool {
        let host: Substring
        if authority.hasPrefix("[") {
            host = authority.dropFirst().prefix { $0 != "]" }
        } else {
            host = authority.prefix { $0 != ":" }
        }
        return host.lowercased() == "localhost" || AddressRange.loopback.contains { $0.contains(String(host)) }
    }
}

/// `POST /api/session`: a token in the body → a cookie for the paths of its room, for pages whose script cannot send a
/// header with everything that the browser loads.
struct SessionRoute {
    /// Bytes of cookies in an answer: of all its headers nginx takes 4 KiB.
    private static let cookieBytes = 3400

    /// The path of the gateway for browsers: `/`, or `/board/`.
    let basePath: String
    let live: LiveSettings
    let revocations: RevocationWatch?

    func add(to router: Router<GatewayContext>) {
        router.post("api/session") { [basePath, live, revocations] request, context in
            let body = try await request.bytes(atMost: 4096)
            let settings = live.values
            guard settings.tokenKey != nil else { return Response(status: .noContent) }
            let text = String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let claims = await settings.verify(text) else { throw GatewayError.unauthorized }
            try revocations?.check(claims)
            // A year at most; `exp` may be any number.
            let seconds = Int(min(max(1, claims.expires.timeIntervalSinceNow), 365 * 86_400))
            let secure = Authorization.isLoopback(request.head.authority ?? "") ? "" : "; Secure"
            func cookie(_ path: String) -> String {
                "\(Authorization.cookie(of: claims.role))=\(text); Path=\(path); Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
            }
            var cookies = [cookie(basePath)]
            // Operators see more than their rooms.
            if case .some(let rooms) = claims.rooms, claims.role != .operator {
                let own = rooms.flatMap { [cookie("\(basePath)api/rooms/\($0)"), cookie("\(basePath)rooms/\($0)")] }
                if own.reduce(0, { $0 + $1.utf8.count }) <= Self.cookieBytes { cookies = own }
            }
            var headers: HTTPFields = [.cacheControl: "no-store"]
            for cookie in cookies { headers.append(.init(name: .setCookie, value: cookie)) }
            return Response(status: .noContent, headers: headers)
        }
    }
}
