import Foundation
import Hummingbird
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Tokens", .timeLimit(.minutes(4))) struct AuthTests {
    private static func room(_ name: String) throws -> RoomID {
        guard let room = RoomID(name) else { throw Unexpected("no room") }
        return room
    }

    private static func claims(
        _ role: TokenRole, rooms: TokenRooms? = nil, cohort: String = "main", author: String? = nil,
        seconds: Double = 600
    ) throws -> TokenClaims {
        TokenClaims(
            rooms: try rooms ?? .some([room("r")]), role: role, cohort: CohortName(cohort) ?? .main,
            author: author.flatMap { AuthorID($0) }, expires: Date() + seconds)
    }

    /// A gateway that takes tokens of a key, before a service that answers joins, states and pictures.
    private static func with(
        _ key: TokenKey, limits: GatewayLimits = .quick, basePath: String = "/",
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let adjust: @Sendable (inout GatewayConfiguration) -> Void = {
            $0.access = .tokens(key)
            $0.basePath = basePath
        }
        try await RunningGateway.with(limits: limits, configured: adjust) { gateway in
            try await gateway.service.answer("ink.0.*.info") { _ in [.text(#"{"index":7}"#)] }
            for kind in ["image.*", "asset.*", "asset-head"] {
                try await gateway.service.answer("ink.0.*.\(kind)") { _ in [Answer(payload: picture(bytes: 100))] }
            }
            try await gateway.revokeNothing()
            try await body(gateway)
        }
    }

    private static func with(_ body: @escaping @Sendable (TokenKey, RunningGateway) async throws -> Void) async throws {
        let key = try await TokenKey.test()
        try await with(key) { try await body(key, $0) }
    }

    private static func send(
        _ gateway: RunningGateway, _ method: String, _ path: String, token: String?, body: String? = nil
    ) async throws -> HTTPClient.Response {
        try await gateway.http.send(
            method, path, headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [], body: body)
    }

    @Test func `the pages have their language without a token, as they have their scripts`() async throws {
        try await Self.with { key, gateway in
            let student = try await key.sign(try Self.claims(.student))
            for token in [nil, student] {
                let answer = try await Self.send(gateway, "GET", "/language.json?language=zh", token: token)
                #expect(answer.status == .ok)
                #expect(try answer.json["language"] as? String == "zh")
                let list = try await Self.send(gateway, "GET", "/languages.json", token: token)
                #expect(try list.json["languages"] as? [String] == ["en", "zh"])
            }
        }
    }

    @Test func `each role may do what is its own, and nothing else`() async throws {
        let key = try await TokenKey.test()
        let tokens = [
            "none": nil, "student": try await key.sign(try Self.claims(.student, cohort: "hls")),
            "teacher": try await key.sign(try Self.claims(.teacher, author: "anna")),
            "clock": try await key.sign(try Self.claims(.clock, cohort: "hls")),
            "operator": try await key.sign(try Self.claims(.operator, rooms: .all)),
            "other": try await key.sign(try Self.claims(.teacher, rooms: .some([Self.room("s")]), author: "anna")),
        ]
        let clock = #"{"m":1}"#
        let stroke = #"{"n":1,"a":4}"#
        let givenUp = #"{"n":1,"u":1,"x":true}"#
        let asset = "/api/rooms/r/assets/\(String(repeating: "a", count: 64))"
        // For each request, who gets what; all others get 403, and who has no token 401.
        let cases: [(String, String, String?, [String: Int])] = [
            ("GET", "/api/rooms/r/board.png", nil, ["student": 200, "teacher": 200, "operator": 200]),
            ("GET", "/api/rooms/r/board.png?cohort=hls", nil, ["student": 200, "teacher": 200, "operator": 200]),
            ("GET", "/api/rooms/r/board.png?cohort=main", nil, ["teacher": 200, "operator": 200]),
            ("GET", "/api/rooms/r/events?cohort=head", nil, ["teacher": 503, "operator": 503]),
            ("GET", "/api/rooms/r", nil, ["student": 200, "teacher": 200, "clock": 200, "operator": 200]),
            ("POST", "/api/rooms/r/strokes?author=anna", stroke, ["teacher": 200, "operator": 200]),
            ("POST", "/api/rooms/r/strokes?author=bob", stroke, ["operator": 200]),
            ("POST", "/api/rooms/r/strokes", stroke, ["teacher": 200, "operator": 400]),
            ("GET", asset, nil, ["student": 200, "teacher": 200, "operator": 200]),
            ("GET", "\(asset)?cohort=hls", nil, ["student": 200, "teacher": 200, "operator": 200]),
            ("GET", "\(asset)?cohort=main", nil, ["teacher": 200, "operator": 200]),
            ("GET", "\(asset)?cohort=head", nil, ["teacher": 200, "operator": 200]),
            ("GET", "/api/rooms/r/assets/no-name", nil, ["student": 400, "teacher": 400, "operator": 400]),
            // Nobody takes files here.
            ("POST", "/api/rooms/r/assets", "no file", ["teacher": 502, "operator": 503]),
            ("POST", "/api/rooms/r/pages/0/copy", #"{"to":"s"}"#, ["operator": 503]),
            // The state of the room, which says who is muted, is none that can be read.
            ("POST", "/api/rooms/r/import?author=anna", "no file", ["teacher": 502, "operator": 502]),
            ("POST", "/api/rooms/r/import?author=bob", "no file", ["operator": 502]),
            ("POST", "/api/rooms/r/pages/0/copy?author=anna", "{}", ["teacher": 502, "operator": 502]),
            ("POST", "/api/rooms/r/pages/0/rotate?author=anna", "{}", ["teacher": 502, "operator": 502]),
            ("GET", "/api/rooms/r/readers", nil, ["teacher": 200, "operator": 200]),
            ("POST", "/api/rooms/r/links", nil, ["teacher": 200, "operator": 200]),
            ("DELETE", "/api/rooms/r/links/none", nil, ["teacher": 400, "operator": 400]),
            ("PUT", "/api/rooms/r/authors/bob/mute", nil, ["teacher": 502, "operator": 502]),
            ("DELETE", "/api/rooms/r/authors/bob/mute", nil, ["teacher": 502, "operator": 502]),
            ("POST", "/api/rooms/r/wet?author=anna", givenUp, ["teacher": 202, "operator": 202]),
            ("POST", "/api/rooms/r/wet?author=bob", givenUp, ["operator": 202]),
            ("POST", "/api/rooms/r/wet", givenUp, ["teacher": 202, "operator": 400]),
            ("POST", "/api/rooms/r/clock?cohort=hls", clock, ["clock": 202, "operator": 202]),
            ("POST", "/api/rooms/r/clock", clock, ["clock": 202, "operator": 202]),
            ("POST", "/api/rooms/r/clock?cohort=main", clock, ["operator": 202]),
            (
                "POST", "/api/rooms/r/observations?cohort=hls", #"{"index":1,"skew":2}"#,
                ["student": 202, "teacher": 202, "operator": 202]
            ),
            ("POST", "/api/rooms/r/observations?cohort=main", "{}", ["teacher": 400, "operator": 400]),
            ("GET", "/metrics", nil, ["operator": 200]),
            ("GET", "/api/rooms/r/anything", nil, ["operator": 404]),
            // A path that goes on is another one.
            ("GET", "/api/rooms/r/board.png/x", nil, ["operator": 404]),
            ("GET", "/api/rooms/r/events/x", nil, ["operator": 404]),
            ("GET", "/api/rooms/r/assets/x/y", nil, ["operator": 404]),
            ("GET", "/api/anything", nil, ["operator": 404]),
        ]
        try await Self.with(key, limits: .quick { $0.outcomeTimeout = .milliseconds(20) }) { gateway in
            for (method, path, body, expected) in cases {
                for (who, token) in tokens {
                    let response = try await Self.send(gateway, method, path, token: token, body: body)
                    let status = who == "none" ? 401 : expected[who] ?? 403
                    #expect(response.statusCode == status, "\(who): \(method) \(path): \(response.text)")
                    if status == 401 { #expect(try response.errorCode == "unauthorized") }
                    if status == 403 { #expect(try response.errorCode == "forbidden") }
                }
            }
            for path in [
                "/", "/healthz", "/readyz", "/rooms/r", "/rooms/r/teach", "/rooms/r/clock", "/api/time", "/lectern.js",
                "/assets/\(SiteRoutes.release)/bundles/start.js",
            ] {
                #expect(try await Self.send(gateway, "GET", path, token: nil).status == .ok, "\(path)")
            }
            // The cohort of a student's token is one; nobody follows it here.
            let counted = gateway.registry.text()
            #expect(counted.contains("lectern_skew_seconds_count{cohort=\"hls\"} 1\n"))
            #expect(counted.contains("lectern_skew_seconds_count{cohort=\"other\"} 2\n"))
            let address = try await Self.send(gateway, "GET", "/api/rooms/r", token: tokens["student"] ?? nil)
            #expect(address.text == #"{"room":"r","address":"ink.0.r"}"#)
        }
    }

    @Test func `a token that has ended, is of another key or is none is refused, and so is a key that is none`()
        async throws
    {
        try await Self.with { key, gateway in
            let foreign = try await TokenKey.test("another secret, of 32 bytes or more too")
            for (token, status) in [
                (try await key.sign(Self.claims(.student)), HTTPResponse.Status.ok),
                (try await key.sign(Self.claims(.student, seconds: -1)), .unauthorized),
                (try await foreign.sign(Self.claims(.student)), .unauthorized), ("x", .unauthorized),
                ("", .unauthorized),
            ] {
                let response = try await Self.send(gateway, "GET", "/api/rooms/r/board.png", token: token)
                #expect(response.status == status, "\(token)")
            }
        }
        for file in [try TokenKey.testFile("short"), "/no/such/file"] {
            await #expect(throws: TokenKey.Unusable.self) { try await TokenKey.secret(file: file) }
        }
    }

    @Test func `a session's cookie opens the paths of its room`() async throws {
        try await Self.with { key, gateway in
            let token = try await key.sign(try Self.claims(.student))
            let session = try await gateway.http.post("/api/session", body: token + "\n")
            #expect(session.status == .noContent)
            let cookie = session.fields["set-cookie"] ?? ""
            for attribute in ["Path=/api/rooms/r", "Path=/rooms/r", "HttpOnly", "SameSite=Strict"] {
                #expect(cookie.contains(attribute), "\(cookie)")
            }
            let cookies = [("Cookie", "theme=dark; lectern=\(token)")]
            #expect(try await gateway.http.send("GET", "/api/rooms/r/board.png", headers: cookies).status == .ok)
            #expect(try await gateway.http.send("GET", "/api/rooms/s/board.png", headers: cookies).status == .forbidden)
            #expect(try await gateway.http.post("/api/session", body: "x").status == .unauthorized)
        }
    }

    @Test func `links for students and clocks take nothing from a teacher of the room whose browser opens them`()
        async throws
    {
        try await Self.with { key, gateway in
            var jar: [String: String] = [:]
            for role in [TokenRole.teacher, .student, .clock] {
                let claims = try Self.claims(role, author: role == .teacher ? "anna" : nil)
                let session = try await gateway.http.post("/api/session", body: try await key.sign(claims))
                let cookie = try #require(session.fields["set-cookie"]).prefix { $0 != ";" }
                let parts = cookie.split(separator: "=", maxSplits: 1).map(String.init)
                jar[parts[0]] = parts[1]
            }
            let cookies = [("Cookie", jar.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))]
            #expect(try await gateway.http.send("GET", "/api/rooms/r/readers", headers: cookies).status == .ok)
            #expect(try await gateway.http.send("GET", "/api/rooms/r/board.png", headers: cookies).status == .ok)
        }
    }

    @Test func `behind a proxy that serves the gateway below a path, cookies are for that path`() async throws {
        let key = try await TokenKey.test()
        try await Self.with(key, basePath: "/board/") { gateway in
            for (role, paths) in [
                (TokenRole.student, ["Path=/board/api/rooms/r;", "Path=/board/rooms/r;"]),
                (.operator, ["Path=/board/;"]),
            ] {
                let token = try await key.sign(try Self.claims(role))
                let session = try await gateway.http.post("/api/session", body: token)
                let cookie = session.fields["set-cookie"] ?? ""
                for path in paths { #expect(cookie.contains(path), "\(cookie)") }
            }
        }
    }

    @Test("a session's cookie is for all paths where the token is for many rooms or an operator's, however late")
    func wideSessions() async throws {
        try await Self.with { key, gateway in
            var far = try Self.claims(.student)
            far.expires = Date(timeIntervalSince1970: 1e300)
            let rooms = try (1...9).map { try Self.room("r\($0)") }
            let long = try (1...5).map { try Self.room("a-room-with-a-long-name-\($0)") }
            for (claims, path) in [
                (far, "Path=/rooms/r; Max-Age=31536000;"),
                (try Self.claims(.teacher, rooms: .some(Array(rooms.prefix(2))), author: "anna"), "Path=/rooms/r2;"),
                (try Self.claims(.teacher, rooms: .some(rooms), author: "anna"), "Path=/;"),
                (try Self.claims(.teacher, rooms: .some(long), author: "anna"), "Path=/;"),
                (try Self.claims(.operator), "Path=/;"),
            ] {
                let session = try await gateway.http.post("/api/session", body: try await key.sign(claims))
                #expect(session.status == .noContent)
                let cookies = session.fields["set-cookie"] ?? ""
                #expect(cookies.contains(path), "\(session.fields)")
                // nginx takes 4 KiB of headers.
                #expect(cookies.utf8.count < 3500)
            }
        }
    }

    @Test func `a stream ends with its token`() async throws {
        try await Self.with { key, gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let token = try await key.sign(try Self.claims(.student, seconds: 2))
            let reader = try gateway.read(headers: ["Authorization": "Bearer \(token)"])
            #expect(try await reader.next().name == "board")
            try await reader.ended()
        }
    }

    @Test func `without tokens only requests to a loopback address are taken`() async throws {
        let adjust: @Sendable (inout GatewayConfiguration) -> Void = { _ in }
        try await RunningGateway.with(configured: adjust) { gateway in
            #expect(try await gateway.http.get("/healthz").status == .ok)
            for (host, status) in [
                ("localhost", "200"), ("[::1]:80", "200"), ("evil.example", "403"), ("127.0.0.1.evil.example", "403"),
            ] {
                let client = try RawConnection(port: gateway.port)
                #expect(client.send("GET /healthz HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"))
                #expect(await client.readToEnd().hasPrefix("HTTP/1.1 \(status)"), "\(host)")
            }
        }
    }

    @Test func `a page without an origin does not write by a request without a host`() async throws {
        try await RunningGateway.with { gateway in
            for (origin, status) in [("Origin: null\r\n", "403"), ("", "202")] {
                let client = try RawConnection(port: gateway.port)
                let head = "POST /api/rooms/r/clock HTTP/1.0\r\nConnection: close\r\n\(origin)Content-Length: 7\r\n\r\n"
                #expect(client.send(head + #"{"m":1}"#))
                #expect(await client.readToEnd().contains(" \(status) "))
            }
        }
    }

    @Test func `configured origins may read and write, and others may not write`() async throws {
        let adjust: @Sendable (inout GatewayConfiguration) -> Void = { configuration in
            configuration.access = .open(anyHost: true)
            configuration.allowedOrigins = ["https://school.example"]
        }
        try await RunningGateway.with(configured: adjust) { gateway in
            let origin = [("Origin", "https://school.example")]
            let preflight = try await gateway.http.send("OPTIONS", "/api/rooms/r/events", headers: origin)
            #expect(preflight.status == .noContent)
            #expect(preflight.fields["access-control-allow-origin"] == "https://school.example")
            #expect(preflight.fields["access-control-allow-credentials"] == nil)
            let time = try await gateway.http.send("GET", "/api/time", headers: origin)
            #expect(time.fields["access-control-allow-origin"] == "https://school.example")
            let readable = time.fields["access-control-expose-headers"]?.split(separator: ", ").map(String.init) ?? []
            #expect(Set(readable).isSuperset(of: [HeaderName.room, HeaderName.index, HeaderName.incomplete]))
            // A cache must not give a page of that origin what was answered without it.
            let plain = try await gateway.http.send("GET", "/api/time")
            #expect(plain.fields["access-control-allow-origin"] == nil && plain.fields["vary"] == "Origin")
            let error = try await gateway.http.send("GET", "/api/rooms/R", headers: origin)
            #expect(error.status == .badRequest)
            #expect(error.fields["access-control-allow-origin"] == "https://school.example")
            let clock = try await gateway.http.send("POST", "/api/rooms/r/clock", headers: origin, body: #"{"m":1}"#)
            #expect(clock.status == .accepted)
            let other = [("Origin", "https://other.example")]
            #expect(
                try await gateway.http.send("GET", "/api/time", headers: other).fields["access-control-allow-origin"]
                    == nil)
            #expect(
                try await gateway.http.send("POST", "/api/rooms/r/clock", headers: other, body: #"{"m":1}"#).status
                    == .forbidden)
        }
    }
}
