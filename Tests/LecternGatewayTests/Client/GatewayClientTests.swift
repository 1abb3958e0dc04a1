import Foundation
import Locking
import StrokeWire
import TestSupport
import Testing

@testable import LecternHTTPClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests over `URLSession` to servers that do as a test says.
@Suite("A client's requests", .timeLimit(.minutes(4))) struct GatewayClientTests {
    private func gateway(_ port: Int, _ token: String? = nil) throws -> LecternHTTPClient.Gateway {
        try Gateway(url: try #require(URL(string: "http://127.0.0.1:\(port)")), token: { token })
    }

    private func json(_ body: String, _ status: String = "200 OK", _ fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The error of a request for a lesson.
    private func error(_ answer: @escaping @Sendable (String) -> String) async throws -> LecternHTTPClient.GatewayError
    {
        let server = try ScriptedServer.answering(answer)
        let room = try #require(RoomID("r"))
        return try await #require(throws: LecternHTTPClient.GatewayError.self) {
            try await LessonReplay.fetch(.head, of: room, over: try gateway(server.port))
        }
    }

    @Test(arguments: [
        "ftp://ink.example/", "ink.example", "http://", "http://sam:word@ink.example/", "http://ink.example/?a=b",
        "file:///tmp",
    ])
    func `an address that is none of a gateway is refused`(text: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: LecternHTTPClient.GatewayError.self) { try Gateway(url: url) }
        #expect(error?.code == "bad-address")
    }

    @Test func `a gateway below a path, with a token, gets the whole request`() async throws {
        let seen = Locked("")
        let server = try ScriptedServer.answering { request in
            seen.withLock { $0 = request }
            return json("{}")
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/ink"))
        let gateway = try Gateway(url: url, token: "abc")
        let answer = try await gateway.answer(
            to: GatewayRequest(
                method: "POST", path: "api/rooms/r/strokes", query: [("author", "a b")],
                headers: [("Ink-Session", "s")], body: Array("{}".utf8)), limit: 100)
        #expect(answer == Array("{}".utf8))
        let request = seen.withLock { $0 }
        #expect(request.hasPrefix("POST /ink/api/rooms/r/strokes?author=a%20b HTTP/1.1\r\n"))
        #expect(request.contains("\r\nAuthorization: Bearer abc\r\n") && request.hasSuffix("\r\n\r\n{}"))
        #expect(request.lowercased().contains("\r\nink-session: s\r\n"))
    }

    @Test func `errors of a gateway keep their code, and other answers are told apart`() async throws {
        let gone = try await error { _ in json(#"{"error":{"code":"gone","message":"No more."}}"#, "410 Gone") }
        #expect(gone.status == 410 && gone.code == "gone" && gone.message == "No more." && !gone.isTransient)
        let busy = try await error { _ in
            json(#"{"error":{"code":"not-ready","message":"Soon."}}"#, "503 Busy", "Retry-After: 7\r\n")
        }
        #expect(busy.retryAfter == .seconds(7) && busy.isTransient)
        let page = try await error { _ in json("<html>", "502 Bad Gateway") }
        #expect(page.status == 502 && page.code == "unexpected-answer")
        #expect(try await error { _ in json("<html>") }.code == "unexpected-answer")
        #expect(try await error { _ in json("{}") }.code == "unexpected-answer")
        #expect(try await error { _ in "nonsense\r\n\r\n" }.code == "unreachable")
        let denied = try await error { _ in json(#"{"error":{"code":"forbidden"}}"#, "403 Forbidden") }
        #expect(denied.isAboutPermission && denied.code == "forbidden")
    }

    @Test func `a request ends also where its task was cancelled before`() async throws {
        let transfers = Transfers()
        let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:9/")))
        for _ in 0..<200 {
            let failure = await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await transfers.run(request, onResponse: { _ in }, onData: { _ in true })
            }.value
            #expect((failure as? URLError)?.code == .cancelled)
        }
    }

    @Test func `a token goes to its gateway alone: redirects are not followed`() async throws {
        let others = Locked(0)
        let other = try ScriptedServer.answering { _ in
            others.withLock { $0 += 1 }
            return json("{}")
        }
        let port = other.port
        let error = try await error { _ in
            "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:\(port)/\r\nContent-Length: 0\r\n\r\n"
        }
        #expect(error.status == 307 && error.code == "unexpected-answer")
        #expect(others.withLock { $0 } == 0)
    }

    @Test("an answer is cut off at its limit", arguments: ["200 OK", "500 Broken"])
    func tooLarge(status: String) async throws {
        let server = try ScriptedServer { connection in
            let head = "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\r\n"
            guard connection.readSome() != nil, connection.send(head) else { return }
            // Its end would never come.
            for _ in 0..<32 where !connection.send([UInt8](repeating: 32, count: 1 << 16)) { return }
            while connection.readSome() != nil {}
        }
        let gateway = try gateway(server.port)
        let error = try await #require(throws: LecternHTTPClient.GatewayError.self) {
            try await gateway.answer(to: GatewayRequest(path: "api"), limit: 1 << 20)
        }
        #expect(error.code == (status == "200 OK" ? "answer-too-large" : "unexpected-answer"))
    }

    @Test func `a cancelled task ends its request, also before it has begun`() async throws {
        let (begun, isBegun) = AsyncStream.makeStream(of: Void.self)
        let (ended, isEnded) = AsyncStream.makeStream(of: Void.self)
        let server = try ScriptedServer { connection in
            _ = connection.readSome()
            isBegun.yield()
            while connection.readSome() != nil {}
            isEnded.yield()
        }
        let gateway = try gateway(server.port)
        let task = Task { try await gateway.answer(to: GatewayRequest(path: "api"), limit: 100) }
        for await _ in begun { break }
        task.cancel()
        let error = await #expect(throws: LecternHTTPClient.GatewayError.self) { try await task.value }
        #expect(error?.code == "cancelled")
        // The connection is not kept.
        for await _ in ended { break }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await gateway.answer(to: GatewayRequest(path: "api"), limit: 100)
        }
        let second = await #expect(throws: LecternHTTPClient.GatewayError.self) { try await early.value }
        #expect(second?.code == "cancelled")
    }

    @Test func `a server that does not answer is given up after the time of the request`() async throws {
        let server = try ScriptedServer { connection in while connection.readSome() != nil {} }
        let gateway = try gateway(server.port)
        let error = await #expect(throws: LecternHTTPClient.GatewayError.self) {
            try await gateway.answer(to: GatewayRequest(path: "api", timeout: .seconds(1)), limit: 100)
        }
        #expect(error?.code == "timeout" && error?.isTransient == true)
        let nobody = try await #require(throws: LecternHTTPClient.GatewayError.self) {
            try await self.gateway(try FreePort.find()).answer(to: GatewayRequest(path: "api"), limit: 100)
        }
        #expect(nobody.code == "unreachable")
    }

    @Test func `a token that cannot be had is a reason to try again`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let gateway = try Gateway(url: url, token: { throw Unexpected("signed out") })
        let error = await #expect(throws: LecternHTTPClient.GatewayError.self) {
            try await gateway.answer(to: GatewayRequest(path: "api"), limit: 100)
        }
        #expect(error?.code == "no-token" && error?.isTransient == true)
    }
}
