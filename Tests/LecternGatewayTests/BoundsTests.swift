import Foundation
import Hummingbird
import Locking
import NATSClient
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Bounds of the gateway", .timeLimit(.minutes(4))) struct BoundsTests {
    @Test(
        "a request to NATS beyond the bound, or beyond half of it about one room, is refused at once, and taken when another has ended",
        arguments: [(1, "quick"), (2, "slow")])
    func requests(bound: Int, refused room: String) async throws {
        try await RunningGateway.with(limits: .quick { $0.natsRequests = bound }) { gateway in
            let (asked, asking) = AsyncStream.makeStream(of: String.self)
            // A request for the slow room stays open until the test answers it.
            _ = try gateway.service.connection.subscribe("ink.0.slow.info") { message in
                asking.yield(message.reply ?? "")
            }
            try await gateway.service.answer("ink.0.quick.info") { _ in [.text("{}")] }

            async let slow = HTTPClient(port: gateway.port).get("/api/rooms/slow")
            let inbox = try #require(await asked.first { _ in true })
            let refused = try await gateway.http.get("/api/rooms/\(room)")
            #expect(refused.status == .serviceUnavailable)
            #expect(try refused.errorCode == "not-ready")
            let status = try await gateway.http.get("/api/rooms/quick").status
            #expect((status == .ok) == (room != "quick"))
            #expect(try await gateway.http.get("/healthz").status == .ok)

            try gateway.service.connection.publish(Array("{}".utf8), to: inbox)
            #expect(try await slow.status == .ok)
            #expect(try await gateway.http.get("/api/rooms/quick").status == .ok)
        }
    }

    @Test("a connection whose request head does not come in time is closed, however much of it comes")
    func headInTime() async throws {
        try await RunningGateway.with(limits: .quick { $0.headTimeout = .milliseconds(300) }) { gateway in
            let silent = try RawConnection(port: gateway.port)
            let dribbling = try RawConnection(port: gateway.port)
            #expect(dribbling.send("GET /healthz HTTP/1.1\r\nHost: h"))
            let dribble = Task {
                while !Task.isCancelled, dribbling.send("h") { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(await silent.readToEnd() == "")
            #expect(await dribbling.readToEnd() == "")
            dribble.cancel()
            let metrics = try await eventually("metrics are told") {
                let client = try RawConnection(port: gateway.port)
                _ = client.send("GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                let answer = await client.readToEnd()
                return answer.isEmpty ? nil : answer
            }
            #expect(metrics.contains(#"lectern_http_connections_closed_total{reason="head-timeout"}"#))
        }
    }

    @Test func `a request that is not read to its end in time ends with its connection`() async throws {
        try await RunningGateway.with(limits: .quick { $0.requestTimeout = .seconds(2) }) { gateway in
            let client = try RawConnection(port: gateway.port)
            #expect(client.send("POST /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n"))
            let dribble = Task {
                while !Task.isCancelled, client.send("x") { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 405"))
            dribble.cancel()
        }
    }

    @Test(
        "a request whose host or length is not clear, or that is no HTTP, is 400 and ends its connection",
        arguments: [
            "GET /healthz HTTP/1.1\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET /api/rooms/r/board.json?# HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /api/rooms/r/events?x#cohort=main HTTP/1.1\r\nHost: h\r\n\r\n",
            "POST /api/rooms/r/clock#?x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
            "GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
            "POST /api/rooms/r/strokes?author=a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n",
            "POST /api/rooms/r/strokes?author=a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "POST /api/rooms/r/strokes?author=a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx",
            "POST /api/rooms/r/strokes?author=a HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
            "POST /api/session HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n",
            "no HTTP\r\n\r\n",
        ])
    func malformed(_ text: String) async throws {
        try await RunningGateway.with { gateway in
            let client = try RawConnection(port: gateway.port)
            #expect(client.send(text))
            let answer = await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 400") || answer.hasPrefix("HTTP/1.0 400"), "\(answer)")
            #expect(answer.contains(#"{"error":{"code":"bad-request","message":"#), "\(answer)")
            if text.contains("Host: b") || text.contains("no HTTP") {
                let counted = #"lectern_http_connections_closed_total{reason="malformed"} 1"#
                #expect(gateway.registry.text().contains(counted))
            }
        }
    }

    @Test func `a request whose head is too long is 431 and ends its connection`() async throws {
        try await RunningGateway.with { gateway in
            let client = try RawConnection(port: gateway.port)
            let cookie = String(repeating: "c", count: gateway.gateway.limits.headerBytes)
            #expect(client.send("GET /healthz HTTP/1.1\r\nHost: h\r\nCookie: \(cookie)\r\n\r\n"))
            let answer = await client.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 431 "), "\(answer)")
            #expect(answer.contains(#""code":"too-large""#))
        }
    }

    @Test(
        "a request of HTTP/1.0, which needs no host, and one that says so end their connection",
        arguments: ["HTTP/1.0", "HTTP/1.0\r\nConnection: keep-alive", "HTTP/1.1\r\nHost: h\r\nConnection: te, Close"])
    func lastRequest(head: String) async throws {
        try await RunningGateway.with { gateway in
            let client = try RawConnection(port: gateway.port)
            #expect(client.send("GET /healthz \(head)\r\n\r\n"))
            let answer = await client.readToEnd()
            #expect(answer.contains(" 200 ") && answer.hasSuffix("ok"))
            let late = #"lectern_http_connections_closed_total{reason="head-timeout"} 0"#
            #expect(gateway.registry.text().contains(late), "it did not wait for another request")
        }
    }

    @Test func `a client that wants to be asked for the body is asked`() async throws {
        try await RunningGateway.with { gateway in
            let client = try RawConnection(port: gateway.port)
            let head = "POST /api/rooms/r/clock HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n"
            #expect(client.send(head + "Expect: 100-continue\r\nConnection: close\r\n\r\n"))
            #expect(try await client.readUp(to: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(client.send(#"{"m":1}"#))
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 202 "))
        }
    }

    @Test("a connection serves one request after the other, also those that come before the answer")
    func keepAlive() async throws {
        try await RunningGateway.with { gateway in
            let client = try RawConnection(port: gateway.port)
            let request = "GET /healthz HTTP/1.1\r\nHost: h\r\n"
            #expect(client.send(request + "\r\n" + request + "\r\n" + request + "Connection: close\r\n\r\n"))
            #expect(await client.readToEnd().components(separatedBy: "HTTP/1.1 200").count == 4)
        }
    }

    @Test("health is told however many connections send no request, or more requests than there is place for")
    func healthUnderFlood() async throws {
        var limits = GatewayLimits.quick
        limits.connections = 8
        limits.busyConnections = 4
        limits.stateTimeout = .seconds(60)
        limits.requestTimeout = .seconds(60)
        try await RunningGateway.with(limits: limits) { gateway in
            // Each waits for an answer until the end of the test.
            let asked = Locked<[String]>([])
            let service = gateway.service.connection
            _ = try service.subscribe("ink.0.slow.info") { message in
                let inbox = message.reply ?? ""
                asked.withLock { $0.append(inbox) }
            }
            try await gateway.service.connection.flush()
            let request = "GET /api/rooms/slow HTTP/1.1\r\nHost: h\r\n\r\n"
            let busy = try (0..<4).map { _ in try RawConnection(port: gateway.port) }
            for client in busy { #expect(client.send(request)) }
            try await eventually("four requests are under way", is: asked.withLock { $0.count } == 4)
            let refused = try RawConnection(port: gateway.port)
            #expect(refused.send(request))
            #expect(await refused.readToEnd().hasPrefix("HTTP/1.1 503"))
            let idle = try (0..<50).map { _ in try RawConnection(port: gateway.port) }
            for client in idle { _ = client.send("GET /") }
            let flood = Task {
                while !Task.isCancelled {
                    let client = try RawConnection(port: gateway.port)
                    _ = client.send("G")
                    try await Task.sleep(for: .milliseconds(2))
                    client.close()
                }
            }
            for _ in 0..<20 {
                let health = try await eventually("health is told") {
                    let client = try RawConnection(port: gateway.port)
                    guard client.send("GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n") else {
                        return String?.none
                    }
                    let answer = await client.readToEnd()
                    return answer.isEmpty ? nil : answer
                }
                #expect(health.hasPrefix("HTTP/1.1 200"))
            }
            flood.cancel()
            for inbox in asked.withLock({ $0 }) { try service.publish(Array("{}".utf8), to: inbox) }
            withExtendedLifetime((busy, idle)) {}
        }
    }

    @Test("a client that does not read its response holds up neither its connection nor the shutdown")
    func slowReader() async throws {
        let (clients, keeping) = AsyncStream.makeStream(of: RawConnection.self)
        try await RunningGateway.with(limits: .quick { $0.requestTimeout = .milliseconds(200) }) { gateway in
            // More than fits into the buffers of both sockets.
            let png = picture(bytes: 16_000_000)
            let (asked, asking) = AsyncStream.makeStream(of: Void.self)
            try await gateway.service.answer("ink.0.r.image.main") { _ in
                asking.yield()
                return Answer.parts(png, 64)
            }
            let client = try RawConnection(port: gateway.port)
            #expect(client.send("GET /api/rooms/r/board.png HTTP/1.1\r\nHost: h\r\n\r\n"))
            _ = await asked.first { _ in true }
            keeping.yield(client)
        }
        // The gateway has shut down, which waits for all connections, and the client still has not read.
        let client = try #require(await clients.first { _ in true })
        client.close()
    }
}
