import Hummingbird
import HummingbirdTesting
import NATSClient
import NIOCore
import StrokeWire
import Testing

@testable import LecternGateway

@Suite("Bounds of the gateway", .timeLimit(.minutes(1)))
struct BoundsTests {
    @Test("a request to NATS beyond the bound is refused at once, and taken when another has ended")
    func requests() async throws {
        var limits = GatewayLimits.quick
        limits.requests = 1
        try await RunningGateway.with(limits: limits) { gateway in
            let (asked, asking) = AsyncStream.makeStream(of: String.self)
            // A question about the slow room stays open until the test answers it.
            _ = try gateway.service.connection.subscribe("ink.0.slow.info") { message in
                asking.yield(message.reply ?? "")
            }
            try gateway.service.answer("ink.0.quick.info") { _ in [.text("{}")] }
            try await gateway.service.ready()

            async let slow = TestClient.withClient(host: "127.0.0.1", port: gateway.port) {
                try await $0.get("/api/rooms/slow")
            }
            let inbox = try #require(await asked.first { _ in true })
            let refused = try await gateway.http.get("/api/rooms/quick")
            #expect(refused.status == .serviceUnavailable)
            #expect(try refused.errorCode == "not-ready")
            #expect(try await gateway.http.get("/healthz").status == .ok)

            try gateway.service.connection.publish(Array("{}".utf8), to: inbox)
            #expect(try await slow.status == .ok)
            #expect(try await gateway.http.get("/api/rooms/quick").status == .ok)
        }
    }

    @Test("a connection on which nothing moves is closed")
    func stalled() async throws {
        var limits = GatewayLimits.quick
        limits.stall = .milliseconds(50)
        try await RunningGateway.with(limits: limits) { gateway in
            let client = TestClient(host: "127.0.0.1", port: gateway.port)
            client.connect()
            let channel = try await client.getChannel()
            try await channel.closeFuture.get()
        }
    }

    @Test("a client that does not read its response holds up neither its connection nor the shutdown")
    func slowReader() async throws {
        var limits = GatewayLimits.quick
        limits.stall = .milliseconds(200)
        let (clients, keeping) = AsyncStream.makeStream(of: TestClient.self)
        try await RunningGateway.with(limits: limits) { gateway in
            // More than the buffers of both sockets hold.
            let png = picture(bytes: 16_000_000)
            let (asked, asking) = AsyncStream.makeStream(of: Void.self)
            try gateway.service.answer("ink.0.r.image.main") { _ in
                asking.yield()
                return Answer.parts(png, 64)
            }
            try await gateway.service.ready()
            let client = TestClient(host: "127.0.0.1", port: gateway.port)
            client.connect()
            let channel = try await client.getChannel()
            try await channel.setOption(.autoRead, value: false).get()
            try await client.executeAndDontWaitForResponse(.init("/rooms/r/board.png", method: .get))
            _ = await asked.first { _ in true }
            keeping.yield(client)
        }
        // The gateway has shut down, which waits for all connections, and the client still has not read.
        let client = try #require(await clients.first { _ in true })
        try await client.shutdown()
    }

    @Test("a head that is too long is refused")
    func longHead() async throws {
        try await RunningGateway.with { gateway in
            let headers: HTTPFields = [.ifNoneMatch: String(repeating: "x", count: 20_000)]
            let response = try await TestClient.withClient(host: "127.0.0.1", port: gateway.port) {
                try await $0.get("/healthz", headers: headers)
            }
            #expect(response.status == .badRequest)
            #expect(try await gateway.http.get("/healthz").status == .ok)
        }
    }
}
