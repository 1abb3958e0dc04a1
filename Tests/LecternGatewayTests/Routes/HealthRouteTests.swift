import Hummingbird
import Locking
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Health and metrics over HTTP", .timeLimit(.minutes(4))) struct HealthRouteTests {
    @Test("the process is healthy whatever becomes of NATS, and ready only while it is connected and does its work")
    func health() async throws {
        let obstacle = Locked<String?>("The service is starting.")
        let why = { @Sendable in obstacle.withLock { $0 } }
        try await RunningGateway.with(obstacle: why) { gateway in
            #expect(try await gateway.http.get("/healthz").text == "ok")

            // Another daemon's answer does not make this process ready.
            try await gateway.service.answer("ink.0.*.info") { _ in [.error(.unknownRoom)] }
            let alone = try await gateway.http.get("/readyz")
            #expect(alone.status == .serviceUnavailable)
            #expect(try alone.errorCode == "not-ready")
            #expect(alone.text.contains("The service is starting."))

            obstacle.withLock { $0 = nil }
            let ready = try await gateway.http.get("/readyz")
            #expect(ready.status == .ok)
            #expect(ready.text == "ready")

            await gateway.connection.close()
            let cut = try await gateway.http.get("/readyz")
            #expect(cut.status == .serviceUnavailable)
            #expect(try cut.errorCode == "not-ready")
            #expect(try await gateway.http.get("/healthz").status == .ok)
        }
    }

    @Test("metrics have the type of the text format, and requests are counted by route, not by path")
    func metrics() async throws {
        try await RunningGateway.with { gateway in
            for path in ["/api/rooms/A/board.png", "/api/rooms/B/board.png", "/nothing", "/nothing/else"] {
                _ = try await gateway.http.get(path)
            }
            let response = try await gateway.http.get("/metrics")
            #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = response.text.split(separator: "\n")
            #expect(lines.contains("# HELP lectern_http_requests_total HTTP requests answered, by route and status."))
            #expect(lines.contains(#"lectern_http_requests_total{route="/api/rooms/{room}/board.png",status="400"} 2"#))
            #expect(lines.contains(#"lectern_http_requests_total{route="NotFound",status="404"} 2"#))
            #expect(lines.contains(#"lectern_http_request_seconds_count{route="NotFound"} 2"#))
        }
    }

    @Test func `unknown paths and other methods are JSON errors`() async throws {
        try await RunningGateway.with { gateway in
            for path in ["/nothing", "/api", "/rooms/a/b", "/rooms/a/board.jpg", "/api/rooms/a/b"] {
                let response = try await gateway.http.get(path)
                #expect(response.status == .notFound, "\(path)")
                #expect(try response.errorCode == "not-found")
            }
            let post = try await gateway.http.post("/healthz", body: "{}")
            #expect(post.status == .methodNotAllowed)
            #expect(post.headers[.allow] == "GET, HEAD")
            #expect(try post.errorCode == "method-not-allowed")
        }
    }

    @Test func `HEAD is GET without the body`() async throws {
        try await RunningGateway.with { gateway in
            let found = try await gateway.http.head("/healthz")
            #expect(found.status == .ok)
            #expect(found.headers[.contentLength] == "2")
            #expect(found.bytes.isEmpty)
            let missing = try await gateway.http.head("/nothing")
            #expect(missing.status == .notFound)
            #expect(missing.bytes.isEmpty)
        }
    }
}

@Suite("Listening", .timeLimit(.minutes(4))) struct ListeningTests {
    @Test func `a port that is taken ends the gateway, with an error that names the address`() async throws {
        try await RunningGateway.with { gateway in
            let second = Gateway(
                GatewayConfiguration(port: gateway.port), connection: gateway.connection,
                registry: PrometheusRegistry(help: GatewayMetrics.help), logger: .silent)
            let error = await #expect(throws: ListenError.self) {
                try await ServiceGroup(services: [second], logger: .silent).run()
            }
            #expect(error?.description == "cannot listen on 127.0.0.1:\(gateway.port): the port is taken")
        }
    }

    @Test func `an address of another machine ends it, too`() async throws {
        // An address reserved for documentation (RFC 5737), which no machine has.
        let gateway = Gateway(
            GatewayConfiguration(host: "192.0.2.1", port: 0),
            connection: NATSConnection(NATSSettings(), logger: .silent),
            registry: PrometheusRegistry(help: GatewayMetrics.help), logger: .silent)
        let error = await #expect(throws: ListenError.self) {
            try await ServiceGroup(services: [gateway], logger: .silent).run()
        }
        #expect(error?.description == "cannot listen on 192.0.2.1:0: this machine has no such address")
    }
}
