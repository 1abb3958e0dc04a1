import Foundation
import Hummingbird
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

/// A browser sends the cookie of a room, which a student's link has set, before that of all rooms.
@Suite("Several cookies", .timeLimit(.minutes(4))) struct CookieTests {
    /// Cookies of one person in a browser.
    private struct Cookies: Sendable {
        /// A link for students of the room r, and one that is revoked.
        let student, revoked: String
        /// Of a teacher of all rooms, of one of the room r, and of an operator.
        let teacher, roomTeacher, operating: String

        init(_ key: TokenKey) async throws {
            guard let room = RoomID("r") else { throw Unexpected("no room") }
            func sign(
                _ role: TokenRole, _ rooms: TokenRooms, id: String? = nil, author name: String = "anna"
            ) async throws -> String {
                let author = role == .teacher ? AuthorID(name) : nil
                return try await key.sign(
                    TokenClaims(rooms: rooms, role: role, author: author, expires: Date() + 600, id: id))
            }
            student = try await sign(.student, .some([room]))
            revoked = try await sign(.student, .some([room]), id: "gone")
            teacher = try await sign(.teacher, .all)
            roomTeacher = try await sign(.teacher, .some([room]), author: "bob")
            operating = try await sign(.operator, .all)
        }
    }

    private static func with(
        _ body: @escaping @Sendable (RunningGateway, Cookies) async throws -> Void
    ) async throws {
        let key = try await TokenKey.test()
        let cookies = try await Cookies(key)
        let gone = try #require(Revocation.token("gone", expires: nil))
        try await RunningGateway.with(key) { gateway in
            try await gateway.service.answer("ink.0.*.info") { _ in [.text(#"{"index":7}"#)] }
            try await gateway.service.answer("ink.0.*.image.*") { _ in [Answer(payload: picture(bytes: 100))] }
            try await gateway.service.answer("ink.revocations") { _ in
                [Answer(payload: RevocationPage(list: "l", through: 1, hasMore: false, revocations: [gone]).encoded())]
            }
            try await gateway.waitUntilReady()
            try await body(gateway, cookies)
        }
    }

    private static func get(
        _ gateway: RunningGateway, _ path: String, _ cookies: [String]
    ) async throws -> HTTPClient.Response {
        try await send(gateway, "GET", path, cookies)
    }

    private static func send(
        _ gateway: RunningGateway, _ method: String, _ path: String, _ cookies: [String], body: String? = nil
    ) async throws -> HTTPClient.Response {
        let field = "theme=dark; " + cookies.map { "lectern=\($0)" }.joined(separator: "; ")
        return try await gateway.http.send(method, path, headers: [("Cookie", field)], body: body)
    }

    @Test func `the first cookie that allows a request counts, whatever stands before it`() async throws {
        try await Self.with { gateway, cookies in
            let (student, teacher) = (cookies.student, cookies.teacher)
            for (sent, path) in [
                ([student, teacher], "/api/rooms/r/readers"), ([student, cookies.operating], "/metrics"),
                ([cookies.revoked, teacher], "/api/rooms/r/board.png"), (["x", teacher], "/api/rooms/r/board.png"),
                ([student, teacher], "/api/rooms/s/board.png"),
            ] {
                let response = try await Self.get(gateway, path, sent)
                #expect(response.status == .ok, "\(path): \(response.text)")
            }
            #expect(gateway.registry.text().contains("lectern_revoked_requests_total 0\n"))
        }
    }

    @Test func `a token that may see a room's state counts although a student's cookie stands first`() async throws {
        try await Self.with { gateway, cookies in
            let both = try await Self.get(gateway, "/api/rooms/r", [cookies.student, cookies.teacher])
            #expect(both.text == #"{"index":7}"#)
            let alone = try await Self.get(gateway, "/api/rooms/r", [cookies.student])
            #expect(alone.text == #"{"room":"r","address":"ink.0.r"}"#)
        }
    }

    @Test func `a page is copied where one cookie allows both rooms, and not where each is for one of them`()
        async throws
    {
        try await Self.with { gateway, cookies in
            let (student, own, teacher) = (cookies.student, cookies.roomTeacher, cookies.teacher)
            // Where it is allowed, the state of the rooms, which says who is muted, is none that can be read.
            for (sent, author, status) in [
                ([own, teacher], "", .badGateway), ([student, own, teacher], "", .badGateway),
                ([own], "", .forbidden), ([student, own], "", .forbidden),
                // The token for both rooms is another author's.
                ([own, teacher], "?author=bob", .forbidden),
            ] as [([String], String, HTTPResponse.Status)] {
                let path = "/api/rooms/r/pages/0/copy\(author)"
                let response = try await Self.send(gateway, "POST", path, sent, body: #"{"to":"s"}"#)
                #expect(response.status == status, "\(sent.count) cookies: \(response.text)")
            }
        }
    }

    @Test func `the error is that of the best cookie where none allows a request`() async throws {
        try await Self.with { gateway, cookies in
            for (sent, code) in [
                ([cookies.student], "forbidden"), ([cookies.student, cookies.revoked], "forbidden"),
                ([cookies.revoked, cookies.student], "forbidden"), (["x", cookies.revoked], "revoked"),
                ([cookies.revoked, "x"], "revoked"), (["x", "y"], "unauthorized"), ([], "unauthorized"),
            ] {
                let response = try await Self.get(gateway, "/api/rooms/r/readers", sent)
                #expect(try response.errorCode == code, "\(response.text)")
            }
            #expect(gateway.registry.text().contains("lectern_revoked_requests_total 2\n"))
        }
    }

    @Test(arguments: [(7, HTTPResponse.Status.ok), (8, .unauthorized)])
    func `only the first eight cookies are tried`(before: Int, status: HTTPResponse.Status) async throws {
        try await Self.with { gateway, cookies in
            let sent = Array(repeating: "x", count: before) + [cookies.teacher]
            let response = try await Self.get(gateway, "/api/rooms/r/readers", sent)
            #expect(response.status == status)
        }
    }
}
