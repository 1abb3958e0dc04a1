import Locking
import StrokeWire
import Testing

@testable import LecternGateway

@Suite("Rotations of pages over HTTP", .timeLimit(.minutes(4))) struct RotateRouteTests {
    @Test func `a rotation that takes longer than other requests may is answered`() async throws {
        var limits = GatewayLimits.quick
        limits.requestTimeout = .seconds(2)
        limits.stateTimeout = .seconds(60)
        try await RunningGateway.with(limits: limits) { gateway in
            let isHeld = Locked(true)
            let (asked, asking) = AsyncStream.makeStream(of: Void.self)
            try await gateway.service.answer("ink.0.r.join-head") { _ in
                asking.yield()
                return isHeld.withLock { $0 } ? [] : [.error(.unknownRoom)]
            }
            try await gateway.service.answer("ink.0.slow.info") { _ in [] }
            let rotating = try RawConnection(port: gateway.port)
            let path = "/api/rooms/r/pages/0/rotate"
            #expect(rotating.send("POST \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
            _ = await asked.first { _ in true }
            // The time of a request that began later is over.
            let other = try RawConnection(port: gateway.port)
            #expect(other.send("GET /api/rooms/slow HTTP/1.1\r\nHost: h\r\n\r\n"))
            #expect(await other.readToEnd() == "")
            isHeld.withLock { $0 = false }
            // Asked again when a reply does not come.
            let answer = await rotating.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
        }
    }
}
