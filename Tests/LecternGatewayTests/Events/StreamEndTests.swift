import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Ends of event streams", .timeLimit(.minutes(4))) struct StreamEndTests {
    @Test(arguments: ["the gateway stops", "its client sends no more"])
    func `the connection of a stream that has ended is closed though its client does not read`(as cause: String)
        async throws
    {
        let closed = #"lectern_http_connections_closed_total{reason="slow-reader"} 1"#
        let (clients, keeping) = AsyncStream.makeStream(of: RawConnection.self)
        try await RunningGateway.with(limits: .quick { $0.events.endTimeout = .milliseconds(100) }) { gateway in
            // More than fits into the buffers of both sockets.
            let reply = Answer.parts(joinReply(pad: 16_000_000), 64)
            try await gateway.service.answer("ink.0.r.join.main") { _ in reply }
            let client = try gateway.stall(receiveBuffer: 4096)
            try await client.readUp(to: "event: board")
            if cause != "the gateway stops" {
                client.finishSending()
                try await eventually("it is closed", within: .seconds(60), is: gateway.registry.text().contains(closed))
            }
            keeping.yield(client)
        }
        // The gateway has ended, which waits for all connections, and the client still has not read.
        let client = try #require(await clients.first { _ in true })
        client.close()
    }

    @Test func `a stream that is opened while the gateway stops ends at once`() async throws {
        var limits = GatewayLimits.quick
        // A request that waits for ever ends without an answer.
        limits.requestTimeout = .seconds(2)
        try await RunningGateway.with(limits: limits) { gateway in
            let (ports, listening) = AsyncStream.makeStream(of: Int.self)
            let serving = Task {
                defer { listening.finish() }
                try await gateway.gateway.serve(Self.router(), .init(host: "127.0.0.1", port: 0), nil) {
                    listening.yield($0)
                }
            }
            defer { serving.cancel() }
            let port = try #require(await ports.first { _ in true })
            #expect(try await HTTPClient(port: port).get("/stream").text == "it has ended")
        }
    }

    /// Has a route that opens a stream after the server has told the connection that it stops.
    private static func router() -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        router.get("stream") { _, context in
            context.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            let reader = try await EventReader.open(on: context.channel, isCompressed: false, EventLimits()) { _ in }
            do {
                try await reader.admitted()
                return "it goes on"
            } catch {
                return "it has ended"
            }
        }
        return router
    }
}
