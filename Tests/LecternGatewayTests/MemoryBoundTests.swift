import ClientCore
import Hummingbird
import Locking
import NATSClient
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

/// What the gateway has of a room, and for how long.
@Suite("Memory of rooms", .timeLimit(.minutes(4))) struct MemoryBoundTests {
    @Test func `boards in event streams of one room take half of the memory at most, and another room has the rest`()
        async throws
    {
        var limits = GatewayLimits.quick
        // Each counts twice before it is compressed.
        limits.events.boardBytes = 60_000_000
        limits.events.joinTimeout = .seconds(20)
        try await RunningGateway.with(limits: limits) { gateway in
            let reply = Answer.parts(joinReply(pad: 12_000_000), 48)
            try await gateway.service.answer("ink.0.*.join.*") { _ in reply }
            func stall(_ room: String) async throws -> RawConnection {
                let stalled = try gateway.stall("/api/rooms/\(room)/events", receiveBuffer: 4096)
                try await stalled.readUp(to: "HTTP/1.1 200")
                return stalled
            }
            let first = try await stall("r")
            let refused = try await gateway.http.get("/api/rooms/r/events?cohort=hls")
            #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] == "1")
            let other = try await stall("s")
            withExtendedLifetime((first, other)) {}
        }
    }

    @Test func `a board for which memory is short replaces the one used least lately, and the others are kept`()
        async throws
    {
        var limits = GatewayLimits.quick
        // Two boards of 1 MB that are compressed, and not twice the size of a third one.
        limits.events.boardBytes = 3_500_000
        let fetches = Locked<[String]>([])
        try await RunningGateway.with(limits: limits) { gateway in
            for room in ["a", "b", "c"] {
                try await gateway.service.answer("ink.0.\(room).join.main") { _ in
                    fetches.withLock { $0.append(room) }
                    return Answer.parts(joinReply(of: room, pad: 1_000_000), 8)
                }
            }
            var readers: [EventStreamClient] = []
            for room in ["a", "b", "a", "c", "a", "c", "b"] {
                let reader = try gateway.read(of: room)
                #expect(try await reader.next().name == "board")
                readers.append(reader)
            }
            withExtendedLifetime(readers) {}
        }
        #expect(fetches.withLock { $0 } == ["a", "b", "c", "b"])
    }

    @Test func `what a lease no longer needs is there for others, and is not given back twice`() throws {
        let (one, other) = (try #require(RoomID("r")), try #require(RoomID("s")))
        let memory = ReplyMemory(100)
        for _ in 0..<3 {
            let own = try memory.lease(80, for: one)
            for amount in [40, 90, 30] { own.shrink(to: amount) }
            let rest = try memory.lease(70, for: other)
            #expect(throws: GatewayError.self) { try memory.lease(1, for: one) }
            withExtendedLifetime((own, rest)) {}
        }
    }

    @Test func `joins of one room take half of the permits at most, and another room has the rest`() async throws {
        var limits = GatewayLimits.quick
        limits.events.joins = 2
        limits.events.joinTimeout = .seconds(60)
        try await RunningGateway.with(limits: limits) { gateway in
            let (asked, asking) = AsyncStream.makeStream(of: Void.self)
            try await gateway.service.answer("ink.0.r.join.main") { _ in
                asking.yield()
                return []
            }
            for subject in ["ink.0.r.join.hls", "ink.0.s.join.main"] {
                try await gateway.service.answer(subject) { _ in [.board()] }
            }
            let waiting = try gateway.read()
            _ = await asked.first { _ in true }
            let refused = try await gateway.http.get("/api/rooms/r/events?cohort=hls")
            #expect(refused.status == .serviceUnavailable)
            #expect(try refused.errorCode == "not-ready")
            let other = try gateway.read(of: "s")
            #expect(try await other.next().name == "board")
            withExtendedLifetime(waiting) {}
        }
    }

    @Test func `a room that has given back its half gets it again`() throws {
        let (one, other) = (try #require(RoomID("r")), try #require(RoomID("s")))
        let memory = ReplyMemory(100)
        for _ in 0..<3 {
            let own = try memory.lease(50, for: one)
            #expect(throws: GatewayError.self) { try memory.lease(1, for: one) }
            let rest = try memory.lease(50, for: other)
            withExtendedLifetime((own, rest)) {}
        }
        // Else a board of more than half could never be sent.
        let large = try memory.lease(70, for: one)
        #expect(throws: GatewayError.self) { try memory.lease(1, for: one) }
        withExtendedLifetime(large) {}
    }

    @Test func `an event that is larger than what a feed remembers is forgotten with all before it`() {
        let bytes = 8 << 20
        let budget = ByteBudget(bytes)
        let recent = RecentEvents(budget)
        recent.append(.wet([1]))
        recent.append(.wet(Array(repeating: 1, count: RecentEvents.limit / 2)))
        #expect(recent.after(0) == nil && recent.after(1) == nil)
        #expect(recent.after(2)?.isEmpty == true)
        #expect(budget.take(bytes), "nothing of the budget is taken")
        budget.give(bytes)
        recent.append(.wet([1]))
        #expect(recent.after(2)?.count == 1 && recent.after(1) == nil)
    }

    @Test func `a picture that was begun before its room was erased is not kept`() async throws {
        let room = try #require(RoomID("r"))
        let drawn = try BoardImage(NATSReply(subject: "p", payload: picture(bytes: 100)), .png)
        let key = PictureCache.Key(room: room, tag: drawn.tag)
        let cache = PictureCache(drawings: 4, feedDrawings: 2, byteLimit: 1 << 20)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (finished, finishing) = AsyncStream.makeStream(of: Void.self)
        async let first = cache.picture(key, of: .head, isNewest: true) { () async throws(GatewayError) in
            beginning.yield()
            _ = await finished.first { _ in true }
            return drawn
        }
        _ = await begun.first { _ in true }
        await cache.removeAll()
        finishing.yield()
        #expect(try await first.bytes == drawn.bytes)
        #expect(await cache.count == 0)
        _ = try await cache.picture(key, of: .head, isNewest: true) { () async throws(GatewayError) in drawn }
        #expect(await cache.count == 1)
    }
}
