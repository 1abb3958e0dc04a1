import Hummingbird
import Logging
import NATSTestServer
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Uploads over HTTP", .timeLimit(.minutes(4))) struct AssetRouteTests {
    @Test func `slow uploads to one room leave places for those to others`() async throws {
        try await RunningGateway.with(limits: .quick { $0.uploads = 4 }) { gateway in
            let begun = Recorder<String>()
            try await gateway.service.answer("ink.0.*.asset-in") { question in
                begun.append(question.subject)
                return [.text(#"{"to":"ink.uploads.t.1","part":1000}"#)]
            }
            try await gateway.service.answer("ink.uploads.t.*") { _ in [.text("{}")] }
            var slow: [RawConnection] = []
            for number in 1...2 {
                let client = try RawConnection(port: gateway.port)
                #expect(client.send("POST /api/rooms/r/assets HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx"))
                slow.append(client)
                _ = try await begun.values(number)
            }
            let refused = try await gateway.http.post("/api/rooms/r/assets", body: "x")
            #expect(refused.status == .serviceUnavailable && refused.fields["retry-after"] == "1")
            #expect(try await gateway.http.post("/api/rooms/s/assets", body: "x").status == .ok)
            // The place of one that has ended is free again.
            let first = slow.removeFirst()
            #expect(first.send("y"))
            try await first.readUp(to: "{}")
            #expect(try await gateway.http.post("/api/rooms/r/assets", body: "x").status == .ok)
        }
    }

    @Test func `a client that breaks its connection ends its upload, and is no error of the gateway`() async throws {
        let lines = Recorder<String>()
        let logger = Logger.recording(lines)
        try await RunningGateway.with(logger: logger) { gateway in
            let begun = Recorder<String>()
            try await gateway.service.answer("ink.0.*.asset-in") { question in
                begun.append(question.subject)
                return [.text(#"{"to":"ink.uploads.t.1","part":1000}"#)]
            }
            let parts = Recorder<Int>()
            try await gateway.service.answer("ink.uploads.t.*") { question in
                parts.append(question.payload.count)
                return [.text("{}")]
            }
            do {
                let client = try RawConnection(port: gateway.port)
                client.breaksAtEnd()
                #expect(client.send("POST /api/rooms/r/assets HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx"))
                _ = try await begun.values(1)
                withExtendedLifetime(client) {}
            }
            let counted = #"lectern_http_requests_total{route="/api/rooms/{room}/assets",status="400"} 1"#
            try await eventually("it has ended", is: gateway.registry.text().contains(counted))
            #expect(try await parts.values(1) == [0], "the service is told")
            #expect(lines.values.allSatisfy { !$0.hasPrefix("error") }, "\(lines.values)")
        }
    }
}
