import Foundation
import Glibc
import NATSClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Proxies, the admin address and lists", .timeLimit(.minutes(4))) struct AddressTests {
    @Test("readers behind a trusted proxy count by their own addresses, and nobody else can claim one")
    func proxies() async throws {
        for isTrusted in [true, false] {
            let adjust: @Sendable (inout GatewayConfiguration) -> Void = { configuration in
                configuration.access = .open(anyHost: true)
                if isTrusted {
                    configuration.trustedProxies = ["127.0.0.1", "10.0.0.0/8"].compactMap { AddressRange($0) }
                }
            }
            try await RunningGateway.with(limits: .quick { $0.events.readersPerAddress = 1 }, configured: adjust) {
                gateway in
                try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
                func open(_ forwarded: String) throws -> EventStreamClient {
                    try gateway.read(headers: ["X-Forwarded-For": forwarded])
                }
                let first = try open("203.0.113.1, 198.51.100.7, 10.1.1.1")
                #expect(try await first.next().name == "board")
                // What stands before the client's address was sent by the client.
                let same = try await gateway.http.send(
                    "GET", "/api/rooms/r/events", headers: [("X-Forwarded-For", "203.0.113.9, 198.51.100.7")])
                #expect(same.statusCode == 503)
                if isTrusted { #expect(try await open("198.51.100.8").next().name == "board") }
                withExtendedLifetime(first) {}
            }
        }
    }

    @Test func `the admin address has health and metrics without tokens, and no rooms`() async throws {
        let key = try await TokenKey.test()
        let port = try FreePort.find()
        let adjust: @Sendable (inout GatewayConfiguration) -> Void = { configuration in
            configuration.access = .tokens(key)
            configuration.admin = GatewayConfiguration.Address(host: "127.0.0.1", port: port)
        }
        try await RunningGateway.with(configured: adjust) { gateway in
            #expect(try await gateway.http.get("/metrics").statusCode == 401)
            let admin = HTTPClient(port: port)
            let metrics = try await eventually("it listens") { try await admin.get("/metrics") }
            #expect(metrics.statusCode == 200)
            #expect(try await admin.get("/readyz").statusCode == 503)
            try await gateway.service.revokeNothing()
            try await eventually(
                "it has read which tokens are revoked", is: await admin.get("/readyz").statusCode == 200)
            #expect(try await admin.get("/api/rooms").statusCode == 404)
        }
    }

    @Test func `a list of rooms can be had in pieces`() async throws {
        try await RunningClass.with { lesson in
            for room in ["a1", "a2", "a3", "b1"] {
                let hand = "ink.0.\(room).in.anna"
                try lesson.teacher.publish(Array(RunningClass.stroke(1).utf8), to: hand)
            }
            func rooms(_ query: String) async throws -> [String] {
                let list = try await lesson.gateway.http.get("/api/rooms?\(query)").json["rooms"] as? [NSDictionary]
                return (list ?? []).compactMap { $0["room"] as? String }
            }
            try await eventually("all are listed", is: await rooms("prefix=b") == ["b1"])
            #expect(try await rooms("prefix=a&limit=2") == ["a1", "a2"])
            #expect(try await rooms("prefix=a&limit=2&after=a2") == ["a3"])
            #expect(try await rooms("prefix=c") == [])
            #expect(try await lesson.gateway.http.get("/api/rooms?limit=0").statusCode == 400)
        }
    }

    @Test func `address ranges contain their addresses`() throws {
        for (range, address, isInside) in [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("192.168.1.128/25", "192.168.1.129", true),
            ("192.168.1.128/25", "192.168.1.1", false), ("0.0.0.0/0", "1.2.3.4", true), ("::1", "::1", true),
            ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false), ("10.0.0.0/8", "::ffff:10.1.1.1", true),
            ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "name", false), ("::ffff:10.0.0.0/104", "10.1.1.1", true),
            ("::ffff:10.0.0.0/104", "11.1.1.1", false), ("::ffff:10.0.0.1", "10.0.0.1", true),
        ] {
            #expect(try #require(AddressRange(range)).contains(address) == isInside, "\(range) \(address)")
        }
        for text in [
            "", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "x", "::1/129", "10.0.0.0/-1", "10.0.0.0/+8",
            "::ffff:1.2.3.4/8",
        ] {
            #expect(AddressRange(text) == nil, "\(text)")
        }
    }
}
