import Foundation
import Hummingbird
import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Muting over HTTP", .timeLimit(.minutes(4))) struct MuteRouteTests {
    private static let path = "/api/rooms/r/authors/anna/mute"

    private func strokes(_ number: Int, _ lesson: RunningClass) async throws -> String {
        try await lesson.gateway.http.post("/api/rooms/r/strokes?author=anna", body: RunningClass.stroke(number)).text
    }

    @Test func `an author is muted and heard again, and the room says who is`() async throws {
        try await RunningClass.with { lesson in
            let http = lesson.gateway.http
            #expect(try await strokes(1, lesson).contains(#""index":1"#))
            #expect(try await http.send("PUT", Self.path).statusCode == 204)
            #expect(try await strokes(2, lesson).contains(#""code":"muted""#))
            let room = try RoomSummary(decoding: Array(try await http.get("/api/rooms/r").bytes))
            #expect(room.muted == ["anna"] && room.writers == ["anna"] && room.index == 1)
            // Pages are written under a name of the gateway's.
            let copy = try await http.post("/api/rooms/r/pages/0/copy?author=anna", body: "{}")
            #expect(copy.statusCode == 403)
            #expect(try copy.errorCode == "muted")
            // Once more changes nothing.
            #expect(try await http.send("PUT", Self.path).statusCode == 204)
            #expect(try await http.send("DELETE", Self.path).statusCode == 204)
            #expect(try await strokes(3, lesson).contains(#""index":2"#))
            let after = try RoomSummary(decoding: Array(try await http.get("/api/rooms/r").bytes))
            #expect(after.muted == nil)
        }
    }

    @Test("a room that nobody has written to, a bad name, another method and another origin are refused")
    func refusals() async throws {
        try await RunningClass.with { lesson in
            let http = lesson.gateway.http
            let unknown = try await http.send("PUT", "/api/rooms/nothing/authors/anna/mute")
            #expect(unknown.statusCode == 404)
            #expect(try unknown.errorCode == "unknown-room")
            #expect(try await http.send("PUT", "/api/rooms/r/authors/Anna/mute").statusCode == 400)
            let get = try await http.get(Self.path)
            #expect(get.statusCode == 405 && get.fields["allow"] == "PUT, DELETE")
            #expect(try await strokes(1, lesson).contains(#""index":1"#))
            for method in ["PUT", "DELETE"] {
                let evil = try await http.send(method, Self.path, headers: [("Origin", "http://evil.example")])
                #expect(evil.statusCode == 403)
            }
            #expect(try await strokes(2, lesson).contains(#""index":2"#))
        }
    }

    @Test func `a room takes 20 commands at once, and then one each 10 seconds`() {
        let rates = CommandRates()
        let now = ContinuousClock.now
        guard let room = RoomID("r"), let other = RoomID("s") else { return }
        #expect((0..<25).map { _ in rates.take(in: room, at: now) == nil }.count { $0 } == 20)
        #expect(rates.take(in: other, at: now) == nil)
        #expect(rates.take(in: room, at: now + .milliseconds(10_001)) == nil)
        #expect(rates.take(in: room, at: now + .milliseconds(10_001)) == 10)
    }

    @Test func `a room that had a command gets the next one when there is no place for further rooms`() {
        let rates = CommandRates()
        let now = ContinuousClock.now
        let rooms = (0...CommandRates.bound).compactMap { RoomID("r\($0)") }
        #expect(rooms.dropLast().allSatisfy { rates.take(in: $0, at: now) == nil })
        #expect(rates.take(in: rooms[CommandRates.bound], at: now) == 10)
        #expect(rates.take(in: rooms[0], at: now) == nil)
    }
}

/// A gateway that takes tokens, before a room of whose authors some are muted.
@Suite("Teachers who mute", .timeLimit(.minutes(4))) struct TeacherMuteTests {
    /// - Parameter state: what the service says of each room.
    private static func with(
        _ state: Answer,
        _ body: @escaping @Sendable (RunningGateway, _ teacher: String, _ one: String) async throws -> Void
    ) async throws {
        let key = try await TokenKey.test()
        let room = try #require(RoomID("r"))
        func token(_ role: TokenRole, _ rooms: TokenRooms) async throws -> String {
            try await key.sign(
                TokenClaims(rooms: rooms, role: role, author: AuthorID("anna"), expires: Date() + 600))
        }
        let (teacher, one) = (try await token(.teacher, .some([room])), try await token(.operator, .all))
        try await RunningGateway.with(key) { gateway in
            try await gateway.service.answer("ink.0.*.info") { _ in [state] }
            try await gateway.service.answer("ink.command.gateway") { _ in [.text(#"{"done":true}"#)] }
            try await gateway.revokeNothing()
            try await body(gateway, teacher, one)
        }
    }

    private static func state(muted names: [String]) -> Answer {
        let muted = names.map { "\"\($0)\"" }.joined(separator: ",")
        return .text(
            #"{"room":"r","address":"ink.0.r","incarnation":"x","index":7,"muted":[\#(muted)],"cohorts":[]}"#)
    }

    private static func send(
        _ gateway: RunningGateway, _ method: String, _ path: String, _ token: String
    ) async throws -> HTTPClient.Response {
        try await gateway.http.send(
            method, "/api/rooms/r/\(path)", headers: [("Authorization", "Bearer \(token)")],
            body: method == "POST" ? "{}" : nil)
    }

    @Test func `a muted teacher mutes and unmutes nobody, itself included; an operator does`() async throws {
        try await Self.with(Self.state(muted: ["anna"])) { gateway, teacher, one in
            for (method, author) in [("DELETE", "anna"), ("PUT", "bob"), ("DELETE", "bob")] {
                let answer = try await Self.send(gateway, method, "authors/\(author)/mute", teacher)
                #expect(answer.status == .forbidden)
                #expect(try answer.errorCode == "muted")
            }
            #expect(try await Self.send(gateway, "PUT", "authors/anna/mute", one).status == .noContent)
        }
        try await Self.with(Self.state(muted: ["bob"])) { gateway, teacher, _ in
            let answer = try await Self.send(gateway, "PUT", "authors/bob/mute", teacher)
            #expect(answer.status == .noContent)
        }
    }

    @Test("a teacher of whom it is not known whether it is muted gives no command and brings no file")
    func unknownVoice() async throws {
        try await Self.with(.error(.notReady)) { gateway, teacher, _ in
            for (method, path) in [
                ("DELETE", "authors/anna/mute"), ("PUT", "authors/bob/mute"), ("POST", "assets"),
                ("POST", "import?author=anna"), ("POST", "pages/0/copy?author=anna"),
            ] {
                let answer = try await Self.send(gateway, method, path, teacher)
                #expect(answer.status == .serviceUnavailable, "\(path)")
                #expect(try answer.errorCode == "not-ready", "\(path)")
            }
        }
    }

    @Test func `a teacher cannot mute as many names as a room takes; an operator has place for more`() async throws {
        try await Self.with(Self.state(muted: (0..<192).map { "n\($0)" })) { gateway, teacher, one in
            let refused = try await Self.send(gateway, "PUT", "authors/bob/mute", teacher)
            #expect(refused.status == .conflict)
            #expect(try refused.errorCode == "too-many-muted")
            #expect(try await Self.send(gateway, "DELETE", "authors/bob/mute", teacher).status == .noContent)
            // The service of this test does not do it.
            #expect(try await Self.send(gateway, "PUT", "authors/bob/mute", one).status == .accepted)
        }
    }
}

@Suite("Links over HTTP", .timeLimit(.minutes(4))) struct LinkRouteTests {
    @Test func `a link that nobody can have made is not revoked, and one that has ended needs no command`() async throws
    {
        let key = try await TokenKey.test()
        try await RunningGateway.with(key) { gateway in
            let commands = Recorder<String>()
            try await gateway.service.answer("ink.command.gateway") { question in
                commands.append(question.text)
                return [.error(.listFull)]
            }
            try await gateway.revokeNothing()
            let room = try #require(RoomID("r"))
            let token = try await key.sign(
                TokenClaims(rooms: .some([room]), role: .teacher, author: AuthorID("anna"), expires: Date() + 600))
            func revoke(_ name: String, _ room: String = "r") async throws -> HTTPClient.Response {
                try await gateway.http.send(
                    "DELETE", "/api/rooms/r/links/link.\(room).\(name).abc",
                    headers: [("Authorization", "Bearer \(token)")])
            }
            let now = Int64(Date().timeIntervalSince1970)
            let day: Int64 = 86_400
            for end in [now + 40 * day, .max] {
                #expect(try await revoke(String(end, radix: 36)).status == .badRequest, "\(end)")
            }
            #expect(try await revoke(String(now + day, radix: 36), "s").status == .badRequest)
            for end in [now - day, 0, .min] {
                #expect(try await revoke(String(end, radix: 36)).status == .noContent, "\(end)")
            }
            #expect(commands.values.isEmpty)
            let end = String(now + day, radix: 36)
            #expect(try await revoke(end).status == .serviceUnavailable)
            #expect(commands.values.count == 1 && commands.values.allSatisfy { $0.contains("link.r.\(end).abc") })
        }
    }
}
