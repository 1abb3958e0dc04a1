import Foundation
import Hummingbird
import Locking
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

/// A service's list of revocations, as a test fills it.
private final class ScriptedList: Sendable {
    private let table = Locked(RevocationTable())
    private let name: String
    let pages = Locked(0)

    init(_ name: String = "list") { self.name = name }

    func removeExpired(at now: Int64) { table.withLock { _ = $0.removeExpired(at: now) } }

    func add(_ revocation: Revocation) { table.withLock { _ = $0.insert(revocation, at: $0.last + 1) } }

    func answer(on service: TestService) async throws {
        try await service.answer("ink.revocations") { [self] question in
            guard let request = try? RevocationRequest(decoding: question.payload) else { return [.error(.badRequest)] }
            pages.withLock { $0 += 1 }
            let after = request.list == name ? request.after : 0
            return [Answer(payload: table.withLock { $0.page(after: after, of: name) }.encoded())]
        }
    }
}

@Suite("Revoked tokens", .timeLimit(.minutes(4))) struct RevocationTests {
    private static func token(
        _ key: TokenKey, id: String? = nil, author: String = "anna", issued: Date? = Date()
    ) async throws -> String {
        guard let room = RoomID("r"), let author = AuthorID(author) else { throw Unexpected("no name") }
        return try await key.sign(
            TokenClaims(
                rooms: .some([room]), role: .teacher, author: author, expires: Date() + 600, id: id, issued: issued))
    }

    private static func with(
        _ key: TokenKey, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        try await RunningGateway.with(key) { gateway in
            try await gateway.service.answer("ink.0.*.info") { _ in [.text(#"{"index":7}"#)] }
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            try await body(gateway)
        }
    }

    private static func with(_ body: @escaping @Sendable (TokenKey, RunningGateway) async throws -> Void) async throws {
        let key = try await TokenKey.test()
        try await with(key) { try await body(key, $0) }
    }

    private static func get(_ gateway: RunningGateway, _ token: String) async throws -> HTTPClient.Response {
        try await gateway.http.send("GET", "/api/rooms/r", headers: [("Authorization", "Bearer \(token)")])
    }

    private static func follow(_ gateway: RunningGateway, _ token: String) throws -> EventStreamClient {
        try gateway.read(headers: ["Authorization": "Bearer \(token)"])
    }

    private static func news(_ gateway: RunningGateway, _ revocations: Revocation?...) throws {
        let page = RevocationPage(list: "list", through: 1, hasMore: false, revocations: revocations.compactMap(\.self))
        try gateway.service.connection.publish(page.encoded(), to: "ink.revoked")
    }

    @Test func `no token counts before the list has been read, and the gateway is not ready`() async throws {
        try await Self.with { key, gateway in
            let token = try await Self.token(key, id: "a")
            let early = try await Self.get(gateway, token)
            #expect(early.status == .serviceUnavailable)
            #expect(try early.errorCode == "not-ready")
            #expect(try await gateway.http.get("/readyz").status == .serviceUnavailable)
            // Who has no token at all is told so.
            #expect(try await gateway.http.get("/api/rooms/r").status == .unauthorized)
            try await ScriptedList().answer(on: gateway.service)
            try await gateway.waitUntilReady()
            #expect(try await Self.get(gateway, token).status == .ok)
        }
    }

    @Test func `a revoked token is refused at once, its streams end, and other tokens go on`() async throws {
        try await Self.with { key, gateway in
            try await ScriptedList().answer(on: gateway.service)
            try await gateway.waitUntilReady()
            let (doomed, other, unnamed) = (
                try await Self.token(key, id: "a"), try await Self.token(key, id: "b", author: "bob"),
                try await Self.token(key, author: "cleo", issued: nil)
            )
            let readers = try [doomed, other, unnamed].map { try Self.follow(gateway, $0) }
            for reader in readers { #expect(try await reader.next().name == "board") }
            let start = ContinuousClock.now
            try Self.news(gateway, .token("a", expires: nil))
            try await readers[0].ended()
            #expect(start.duration(to: .now) < .seconds(1))
            let refused = try await Self.get(gateway, doomed)
            #expect(refused.status == .unauthorized)
            #expect(try refused.errorCode == "revoked")
            let session = try await gateway.http.post("/api/session", body: doomed)
            #expect(session.status == .unauthorized)
            let cookie = [("Cookie", "lectern=\(doomed)")]
            #expect(try await gateway.http.send("GET", "/api/rooms/r", headers: cookie).status == .unauthorized)
            for token in [other, unnamed] { #expect(try await Self.get(gateway, token).status == .ok) }

            // A subject: what was issued before, or at no known time.
            let (old, new) = (
                try await Self.token(key, author: "bob", issued: Date() - 60),
                try await Self.token(key, author: "bob", issued: Date() + 60)
            )
            try Self.news(
                gateway, .subject("bob", issuedThrough: Int64(Date().timeIntervalSince1970) + 1),
                .subject("cleo", issuedThrough: 0))
            try await readers[1].ended()
            try await readers[2].ended()
            for token in [other, unnamed, old] { #expect(try await Self.get(gateway, token).errorCode == "revoked") }
            #expect(try await Self.get(gateway, new).status == .ok)
            let metrics = gateway.registry.text()
            #expect(metrics.contains("lectern_revoked_tokens 3\n"))
            #expect(metrics.contains("lectern_revoked_requests_total 9\n"))
        }
    }

    @Test func `revocations made while NATS was away are known when it is back, and earlier ones hold meanwhile`()
        async throws
    {
        try await Self.with { key, gateway in
            let list = ScriptedList()
            list.add(try #require(Revocation.token("a", expires: nil)))
            try await list.answer(on: gateway.service)
            try await gateway.waitUntilReady()
            let (first, second) = (try await Self.token(key, id: "a"), try await Self.token(key, id: "b"))
            #expect(try await Self.get(gateway, first).errorCode == "revoked")
            #expect(try await Self.get(gateway, second).status == .ok)
            await gateway.server.stop()
            try await eventually("the gateway has noticed", is: gateway.connection.state != .connected)
            #expect(try await Self.get(gateway, first).errorCode == "revoked")
            list.add(try #require(Revocation.token("b", expires: nil)))
            try await gateway.server.restart()
            try await eventually("it has asked again", is: await Self.get(gateway, second).errorCode == "revoked")
        }
    }

    @Test func `a gateway whose clock is ahead keeps what has not ended for the service`() async throws {
        try await Self.with { key, gateway in
            let (list, now) = (ScriptedList(), Int64(Date().timeIntervalSince1970))
            list.add(try #require(Revocation.token("a", expires: now - 10)))
            try await list.answer(on: gateway.service)
            try await gateway.waitUntilReady()
            let token = try await Self.token(key, id: "a")
            #expect(try await Self.get(gateway, token).errorCode == "revoked")
            list.removeExpired(at: now)
            try await eventually("it has ended", is: await Self.get(gateway, token).status == .ok)
        }
    }

    @Test func `a gateway that waits asks once each interval, also after a reconnect`() async throws {
        try await Self.with { key, gateway in
            let list = ScriptedList()
            try await list.answer(on: gateway.service)
            try await gateway.waitUntilReady()
            try await gateway.server.restart()
            try await eventually("it is connected again", is: gateway.connection.state == .connected)
            let before = list.pages.withLock { $0 }
            // The interval is what is measured.
            try await Task.sleep(for: RevocationWatch.interval)
            #expect(list.pages.withLock { $0 } - before <= 3)
        }
    }

    @Test func `another key ends the streams of tokens of the one before, the same key none`() async throws {
        let (key, other) = (
            try await TokenKey.test("\(TokenKey.testSecret) of the class"),
            try await TokenKey.test("\(TokenKey.testSecret) of another class")
        )
        try await Self.with(key) { gateway in
            try await ScriptedList().answer(on: gateway.service)
            try await gateway.waitUntilReady()
            let token = try await Self.token(key)
            let reader = try Self.follow(gateway, token)
            #expect(try await reader.next().name == "board")
            var configuration = GatewayConfiguration()
            configuration.access = .tokens(try await TokenKey.test("\(TokenKey.testSecret) of the class"))
            #expect(!gateway.gateway.update(configuration))
            #expect(try await Self.get(gateway, token).status == .ok)
            configuration.access = .tokens(other)
            #expect(gateway.gateway.update(configuration))
            try await reader.ended()
            #expect(try await Self.get(gateway, token).status == .unauthorized)
            let new = try await Self.token(other)
            #expect(try await Self.get(gateway, new).status == .ok)
            for (text, status) in [(new, HTTPResponse.Status.noContent), (token, .unauthorized)] {
                #expect(try await gateway.http.send("POST", "/api/session", body: text).status == status)
            }
            let next = try Self.follow(gateway, new)
            #expect(try await next.next().name == "board")
        }
    }

    @Test func `a teacher's token without a name mutes nobody and brings no files, for nobody could mute it`() throws {
        let room = try #require(RoomID("r"))
        let anna = AuthorID("anna")
        for need in [AccessNeed.moderate(room), .upload(room)] {
            func check(_ role: TokenRole, _ author: AuthorID?) throws {
                try need.check(TokenClaims(rooms: .some([room]), role: role, author: author, expires: Date() + 600))
            }
            try check(.teacher, anna)
            try check(.operator, nil)
            #expect(throws: GatewayError.self) { try check(.teacher, nil) }
            #expect(throws: GatewayError.self) { try check(.student, nil) }
        }
    }

    @Test func `a token that was verified with the key before is refused once there is another one`() async throws {
        try await Self.with { key, gateway in
            try await ScriptedList().answer(on: gateway.service)
            let watch = RevocationWatch(
                root: "ink", connection: gateway.connection, registry: PrometheusRegistry(), logger: .silent)
            let watching = Task { await watch.run() }
            defer { watching.cancel() }
            try await eventually("the list is read", is: watch.obstacle == nil)
            var claims = try #require(await key.verify(try await Self.token(key)))
            try watch.check(claims)
            watch.endStreams(beforeKey: 1)
            #expect(throws: GatewayError.revoked) { try watch.check(claims) }
            claims.keyNumber = 1
            try watch.check(claims)
        }
    }

    @Test
    func `a list as long as can be is read in pages, and one of another stream from its beginning`() async throws {
        try await Self.with { key, gateway in
            let list = ScriptedList()
            for number in 1...RevocationTable.limit {
                if let one = Revocation.token("t\(number)", expires: nil) { list.add(one) }
            }
            try await list.answer(on: gateway.service)
            try await gateway.waitUntilReady()
            #expect(list.pages.withLock { $0 } == RevocationTable.limit / RevocationPage.limit)
            #expect(gateway.registry.text().contains("lectern_revoked_tokens \(RevocationTable.limit)\n"))
            for number in [1, 777, RevocationTable.limit] {
                let token = try await Self.token(key, id: "t\(number)")
                #expect(try await Self.get(gateway, token).errorCode == "revoked")
            }
            #expect(try await Self.get(gateway, try await Self.token(key, id: "t0")).status == .ok)
        }
    }
}
