import Hummingbird
import HummingbirdTesting
import NATSClient
import NIOCore
import StrokeWire
import Testing

@testable import LecternGateway

@Suite("Health and metrics over HTTP", .timeLimit(.minutes(1)))
struct HealthRouteTests {
    @Test("the process is healthy whatever becomes of NATS, and ready only while the service answers")
    func health() async throws {
        try await RunningGateway.with { gateway in
            #expect(try await gateway.http.get("/healthz").text == "ok")

            let alone = try await gateway.http.get("/readyz")
            #expect(alone.status == .serviceUnavailable)
            #expect(try alone.errorCode == "not-ready")

            try gateway.service.answer("ink.0.*.info") { _ in [.error(.unknownRoom)] }
            try await gateway.service.ready()
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

    @Test("a service that keeps silent is not ready")
    func silence() async throws {
        var limits = GatewayLimits.quick
        limits.probe = .milliseconds(50)
        try await RunningGateway.with(limits: limits) { gateway in
            try gateway.service.answer("ink.0.*.info") { _ in [] }
            try await gateway.service.ready()
            let response = try await gateway.http.get("/readyz")
            #expect(response.status == .serviceUnavailable)
            #expect(try response.errorCode == "not-ready")
        }
    }

    @Test("metrics have the type of the text format, and requests are counted by route, not by path")
    func metrics() async throws {
        try await RunningGateway.with { gateway in
            for path in ["/rooms/A/board.png", "/rooms/B/board.png", "/nothing", "/nothing/else"] {
                _ = try await gateway.http.get(path)
            }
            let response = try await gateway.http.get("/metrics")
            #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = response.text.split(separator: "\n")
            #expect(
                lines.contains("# HELP lectern_http_requests_total HTTP requests answered, by route and status."))
            #expect(
                lines.contains(#"lectern_http_requests_total{route="/rooms/{room}/board.png",status="400"} 2"#))
            #expect(lines.contains(#"lectern_http_requests_total{route="NotFound",status="404"} 2"#))
            #expect(lines.contains(#"lectern_http_request_seconds_count{route="NotFound"} 2"#))
        }
    }

    @Test("unknown paths and other methods are JSON errors")
    func unknown() async throws {
        try await RunningGateway.with { gateway in
            for path in ["/nothing", "/api", "/rooms/a", "/rooms/a/board.jpg", "/api/rooms/a/b"] {
                let response = try await gateway.http.get(path)
                #expect(response.status == .notFound, "\(path)")
                #expect(try response.errorCode == "not-found")
            }
            let post = try await gateway.http.post("/healthz", body: ByteBuffer(string: "{}"))
            #expect(post.status == .methodNotAllowed)
            #expect(post.headers[.allow] == "GET, HEAD")
            #expect(try post.errorCode == "method-not-allowed")
        }
    }

    @Test("HEAD is GET without the body")
    func head() async throws {
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
