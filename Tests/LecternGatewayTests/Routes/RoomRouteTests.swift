// One suite for each group of routes: what is answered, to whom, and what the service behind is asked.

import Foundation
import Hummingbird
import StrokeWire
import Synchronization
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Rooms over HTTP", .timeLimit(.minutes(4))) struct RoomRouteTests {
    @Test func `the state of a room is passed on as the service wrote it`() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.lesson-7.info") { _ in [.text(#"{"room":"lesson-7","v":1.50}"#)] }
            let response = try await gateway.http.get("/api/rooms/lesson-7")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "application/json")
            #expect(response.text == #"{"room":"lesson-7","v":1.50}"#)
            #expect(try await gateway.http.get("/api/rooms/lesson%2D7").text == response.text)
        }
    }

    @Test func `a room's partition is part of its subject`() async throws {
        try await RunningGateway.with(partitions: 8) { gateway in
            try await gateway.service.answer("ink.*.*.info") { [.text("{\"subject\":\"\($0.subject)\"}")] }
            // FNV-1a of "foobar" is bf9cf968, which is 0 modulo 8; that of "a" is e40c292c, which is 4.
            #expect(try await gateway.http.get("/api/rooms/foobar").text == #"{"subject":"ink.0.foobar.info"}"#)
            #expect(try await gateway.http.get("/api/rooms/a").text == #"{"subject":"ink.4.a.info"}"#)
        }
    }

    @Test func `an unknown room has an address all the same, also while no service answers`() async throws {
        try await RunningGateway.with { gateway in
            let alone = try await gateway.http.get("/api/rooms/lesson-7")
            #expect(alone.status == .serviceUnavailable)
            #expect(try alone.json["address"] as? String == "ink.0.lesson-7")
            try await gateway.service.answer("ink.0.*.info") { _ in [.error(.unknownRoom)] }
            let unknown = try await gateway.http.get("/api/rooms/lesson-7")
            #expect(unknown.status == .notFound)
            #expect(
                unknown.text == """
                    {"address":"ink.0.lesson-7","error":{"code":"unknown-room","message":"The service says no."},\
                    "room":"lesson-7"}
                    """)
        }
    }

    @Test func `no cache keeps where rooms stand, nor an error that some keep for ever unless told otherwise`()
        async throws
    {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.info") { _ in [.text(#"{"room":"r"}"#)] }
            try await gateway.service.answer("ink.0.r.replay.main") { _ in [.error(.gone)] }
            let list = listing("a", covers: [0], [summary("r", index: 1)])
            try await gateway.service.answer("ink.rooms") { _ in [Answer(payload: list)] }
            for (path, status) in [
                ("/api/rooms/r", 200), ("/api/rooms", 200), ("/api/rooms/r/replay", 410), ("/api/nothing", 404),
                ("/api/rooms/r/clock", 405), ("/readyz", 200),
            ] {
                for method in ["GET", "HEAD"] {
                    let answer = try await gateway.http.send(method, path)
                    #expect(answer.statusCode == status, "\(method) \(path)")
                    #expect(answer.headers[.cacheControl] == "no-store", "\(method) \(path)")
                }
            }
        }
    }

    @Test(arguments: [
        "UPPER", "a.b", "a%20b", "%3E", "*", "\(String(repeating: "a", count: 65))", "%00", "%ff", "a%0d%0ab",
    ])
    func `names that break the rule never reach NATS`(name: String) async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.>") { _ in
                Issue.record("the service was asked")
                return [.text("{}")]
            }
            for path in ["/api/rooms/\(name)", "/api/rooms/\(name)/board.png"] {
                let response = try await gateway.http.get(path)
                #expect(response.status == .badRequest)
                #expect(try response.errorCode == "bad-request")
            }
        }
    }

    @Test func `the rooms of all daemons are one sorted list, sent when they cover all partitions`() async throws {
        var limits = GatewayLimits()
        // Nobody waits for this.
        limits.listingWindow = .seconds(600)
        try await RunningGateway.with(partitions: 4, limits: limits) { gateway in
            let names = (0..<300).map { "room-\($0)" }
            let pages = [names.prefix(200), names.suffix(100)].enumerated().map { number, names in
                listing("a", number + 1, of: 2, among: 4, covers: [0, 2], names.map { summary($0, index: 1) })
            }
            try await gateway.service.answer("ink.rooms") { _ in Answer.parts(pages[0], 3) + [Answer(payload: pages[1])]
            }
            let other = listing("b", among: 4, covers: [1, 3], [summary("room-0", index: 2)])
            try await gateway.service.answer("ink.rooms") { _ in [.text("no JSON"), Answer(payload: other)] }
            // One that has no partition.
            try await gateway.service.answer("ink.rooms") { _ in [] }
            let response = try await gateway.http.get("/api/rooms")
            #expect(response.status == .ok)
            #expect(try response.json["complete"] as? Bool == true)
            let list = try RoomList(decoding: response.bytes)
            #expect(list.rooms.map(\.room) == names.sorted())
            #expect(list.rooms.first == summary("room-0", index: 2))
        }
    }

    @Test("a daemon that hangs is not waited for longer than the window, and the list says what is missing")
    func hangingDaemon() async throws {
        try await RunningGateway.with(partitions: 3) { gateway in
            let own = listing("a", among: 3, covers: [1], [summary("a", index: 1)])
            try await gateway.service.answer("ink.rooms") { _ in [Answer(payload: own)] }
            // The second page never comes.
            let half = listing("b", 1, of: 2, among: 3, covers: [0, 2], [summary("b", index: 1)])
            try await gateway.service.answer("ink.rooms") { _ in [Answer(payload: half)] }
            let response = try await gateway.http.get("/api/rooms")
            #expect(response.status == .ok)
            #expect(response.text.hasPrefix(#"{"complete":false,"missing":[0,2],"rooms":[{"address":"ink.0.a","#))
            let list = try RoomList(decoding: response.bytes)
            #expect(list.rooms.map(\.room) == ["a", "b"])
        }
    }

    @Test func `no daemon, and none that can be understood, are told apart from no rooms`() async throws {
        try await RunningGateway.with { gateway in
            #expect(try await gateway.http.get("/api/rooms").status == .serviceUnavailable)
            try await gateway.service.answer("ink.rooms") { _ in [.text("no JSON")] }
            #expect(try await gateway.http.get("/api/rooms").status == .badGateway)
            // An older daemon does not tell what its list covers.
            try await gateway.service.answer("ink.rooms") { _ in [.text(#"{"rooms":[]}"#)] }
            #expect(try await gateway.http.get("/api/rooms").text == #"{"complete":false,"rooms":[]}"#)
        }
    }

    @Test func `thirty who list at once cost the daemons one list`() async throws {
        try await RunningGateway.with { gateway in
            let asked = Atomic<Int>(0)
            let body = listing("a", covers: [0], [summary("a", index: 1)])
            try await gateway.service.answer("ink.rooms") { _ in
                asked.add(1, ordering: .relaxed)
                return [Answer(payload: body)]
            }
            let texts = try await concurrently(0..<30) { _ in try await gateway.http.get("/api/rooms").text }
            #expect(texts.allSatisfy { $0.contains("ink.0.a") })
            #expect(asked.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `a list that is refused is said to be, and asked for again by the next`() async throws {
        try await RunningGateway.with { gateway in
            let asked = Atomic<Int>(0)
            let none = listing("a", covers: [0], [])
            try await gateway.service.answer("ink.rooms") { _ in
                let isFirst = asked.add(1, ordering: .relaxed).oldValue == 0
                return [isFirst ? .error(.notReady) : Answer(payload: none)]
            }
            #expect(try await gateway.http.get("/api/rooms").status == .serviceUnavailable)
            #expect(try await gateway.http.get("/api/rooms").text == #"{"complete":true,"rooms":[]}"#)
        }
    }

    /// A page of a daemon's list.
    private func listing(
        _ service: String, _ number: Int = 1, of count: Int = 1, among partitions: Int = 1, covers covered: [Int],
        _ rooms: [RoomSummary]
    ) -> [UInt8] {
        let page = RoomList.Page(
            service: service, number: number, count: count, partitions: partitions, covered: covered)
        return RoomList(page: page, rooms: rooms).encoded()
    }

    private func summary(_ name: String, index: UInt64) -> RoomSummary {
        let cohort = RoomSummary.Cohort(cohort: "main", index: index, held: 0, video: nil)
        return RoomSummary(room: name, address: "ink.0.\(name)", index: index, visible: 1, cohorts: [cohort])
    }
}
