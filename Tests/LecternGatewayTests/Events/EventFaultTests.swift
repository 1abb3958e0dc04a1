import Foundation
import Glibc
import Hummingbird
import Locking
import NATSClient
import NIOCore
import NIOPosix
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

/// What a real service does rarely: a service that does as the test says.
@Suite("Event streams when something fails", .timeLimit(.minutes(4))) struct EventFaultTests {
    private func board(_ index: Int) -> String { String(decoding: joinReply(index), as: UTF8.self) }

    private func tail(_ indices: ClosedRange<Int>, of room: String = "life") -> String {
        let operations = indices.map {
            #"{"index":\#($0),"author":"anna","digest":"0000000000000000","message":{"n":1,"a":4}}"#
        }
        return """
            {"room":"\(room)","index":\(indices.upperBound),"digest":"0000000000000000","palette":["#000000"],\
            "style":"smooth","ops":[\(operations.joined(separator: ","))]}
            """
    }

    @Test func `a lost operation is asked for, and readers see no gap`() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { question in
                question.text == "{}"
                    ? [.board(1)] : question.text.contains(#""have":1"#) ? [.text(tail(2...4))] : []
            }
            let reader = try gateway.read()
            #expect(try await reader.next().id == "life:1")
            try gateway.release(3)
            try gateway.release(4)
            try gateway.release(5)
            #expect(try await reader.next(4).map(\.id) == ["life:2", "life:3", "life:4", "life:5"])
        }
    }

    @Test func `the loss of the last operation shows by a mark`() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { question in
                [question.text == "{}" ? .board(1) : .text(tail(2...2))]
            }
            let reader = try gateway.read()
            #expect(try await reader.next().id == "life:1")
            try gateway.mark(2)
            #expect(try await reader.nextOperation().id == "life:2")
        }
    }

    @Test("a new life of the room begins with a board", arguments: ["operation", "mark"])
    func incarnation(shownBy sign: String) async throws {
        try await RunningGateway.with { gateway in
            let room = Locked("life")
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board(7, of: room.withLock { $0 })] }
            let reader = try gateway.read()
            #expect(try await reader.next().id == "life:7")
            room.withLock { $0 = "next" }
            if sign == "mark" {
                try gateway.mark(7, of: "next")
            } else {
                try gateway.release(8, of: "next")
            }
            #expect(try await reader.nextOperation().id == "next:7")
            if sign == "mark" { try gateway.release(8, of: "next") }
            #expect(try await reader.nextOperation().id == "next:8")
        }
    }

    @Test func `a digest that contradicts the mark brings a new board`() async throws {
        try await RunningGateway.with { gateway in
            let current = Locked(board(1))
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.text(current.withLock { $0 })] }
            let reader = try gateway.read()
            #expect(try await reader.next().id == "life:1")
            let next = board(2)
            current.withLock { $0 = next }
            try gateway.mark(1, digest: "1111111111111111")
            let board = try await reader.nextOperation()
            #expect(board.name == "board" && board.id == "life:2")
        }
    }

    @Test func `a board that had another digest at its index is sent anew, once`() async throws {
        try await RunningGateway.with { gateway in
            let current = Locked((board: board(1), joins: 0))
            try await gateway.service.answer("ink.0.r.join.main") { _ in
                [
                    .text(
                        current.withLock { current in
                            current.joins += 1
                            return current.board
                        })
                ]
            }
            let reader = try gateway.read()
            #expect(try await reader.next().id == "life:1")
            let right = board(1).replacing("0000000000000000", with: "1111111111111111")
            current.withLock { $0.board = right }
            try gateway.mark(1, digest: "1111111111111111")
            let board = try await reader.nextOperation()
            #expect(board.name == "board" && board.id == "life:1" && board.data.contains("1111111111111111"))
            try gateway.mark(1, digest: "1111111111111111")
            try gateway.release(2)
            #expect(try await reader.nextOperation().id == "life:2")
            #expect(current.withLock { $0.joins } == 2)
        }
    }

    @Test func `readers with operations that the log has lost get the board as it is`() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { question in
                [.board(question.text == "{}" ? 4 : 2)]
            }
            let reader = try gateway.read()
            #expect(try await reader.next().id == "life:4")
            try gateway.service.connection.publish(
                Array(#"{"room":"life","index":5,"digest":"0000000000000000","v":null}"#.utf8), to: "ink.0.r.mark.main")
            let board = try await reader.nextOperation()
            #expect(board.name == "board" && board.id == "life:2")
            let returning = try gateway.read("?last=life:7")
            #expect(try await returning.next().id == "life:2")
            try gateway.release(3)
            #expect(try await reader.nextOperation().id == "life:3")
            #expect(try await returning.nextOperation().id == "life:3")
        }
    }

    @Test func `a refusal of the service, and its silence, answer the request`() async throws {
        try await RunningGateway.with(limits: .quick { $0.events.joinTimeout = .seconds(1) }) { gateway in
            let alone = try await gateway.http.get("/api/rooms/r/events")
            #expect(alone.status == .serviceUnavailable)
            #expect(alone.headers[.retryAfter] == "1")
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.error(.unknownCohort)] }
            try await gateway.service.answer("ink.0.silent.join.main") { _ in [] }
            try await gateway.service.answer("ink.0.odd.join.main") { _ in [.text("{}")] }
            let refused = try await gateway.http.get("/api/rooms/r/events")
            #expect(refused.status == .notFound)
            #expect(try refused.errorCode == "unknown-cohort")
            #expect(try await gateway.http.get("/api/rooms/silent/events").status == .gatewayTimeout)
            #expect(try await gateway.http.get("/api/rooms/odd/events").status == .badGateway)
            #expect(try await gateway.http.get("/api/rooms/r/events?cohort=default").status == .badRequest)
            let head = try await gateway.http.head("/api/rooms/r/events")
            #expect(head.status == .ok && head.headers[.contentType] == "text/event-stream")
            try await gateway.hasReaders(0)
        }
    }

    @Test func `a line break inside a message does not break the event`() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in
                [.text(board(0).replacing(",", with: ",\r\n\n"))]
            }
            let reader = try gateway.read()
            #expect(try await reader.next().json["room"] as? String == "life")
            try gateway.release(1, message: "{\n\n\"n\":1,\r\n\"a\":4}\n")
            #expect(try await reader.nextOperation().json["message"] as? NSDictionary == ["n": 1, "a": 4])
        }
    }

    /// With so many bytes for what waits to be sent to a reader.
    private static func buffer(_ bytes: Int) -> @Sendable (inout GatewayConfiguration) -> Void {
        { ($0.access, $0.readerBuffer) = (.open(anyHost: true), bytes) }
    }

    @Test(
        "a reader that does not read is cut off and counted, but within its buffer, and the others get everything",
        arguments: [(100_000, true), (16 << 20, false)])
    func stalledReader(buffer: Int, isCutOff: Bool) async throws {
        try await RunningGateway.with(configured: Self.buffer(buffer)) { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let stalled = try gateway.stall()
            let reader = try gateway.read()
            _ = try await reader.next()
            try await gateway.hasReaders(2)
            // More than fits into the buffers of both sockets.
            let message = #"{"n":1,"a":4,"pad":"\#(String(repeating: "x", count: 200_000))"}"#
            let count = 60
            for index in 1...count {
                try gateway.release(index, message: message)
                #expect(try await reader.nextOperation().id == "life:\(index)")
            }
            let left = isCutOff ? 1 : 2
            try await gateway.hasReaders(left)
            let closed = #"lectern_http_connections_closed_total{reason="slow-reader"} \#(2 - left)"#
            #expect(gateway.registry.text().contains(closed))
            withExtendedLifetime(stalled) {}
        }
    }

    @Test func `a reader who has missed more than its buffer holds gets it all, as long as it is kept`() async throws {
        try await RunningGateway.with(configured: Self.buffer(100_000)) { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let reader = try gateway.read()
            _ = try await reader.next()
            let message = #"{"n":1,"a":4,"pad":"\#(String(repeating: "x", count: 50_000))"}"#
            for index in 1...8 {
                try gateway.release(index, message: message)
                #expect(try await reader.nextOperation().id == "life:\(index)")
            }
            let back = try gateway.read("?last=life:1")
            #expect(try await back.next(7).map(\.id) == (2...8).map { "life:\($0)" })
        }
    }

    @Test func `a reader that takes nothing of its board is cut off`() async throws {
        try await RunningGateway.with(limits: .quick { $0.events.commentInterval = .milliseconds(100) }) { gateway in
            // Made here: the service of the test answers on the thread that all subscriptions share.
            let reply = Answer.parts(joinReply(pad: 16_000_000), 64)
            try await gateway.service.answer("ink.0.r.join.main") { _ in reply }
            let stalled = try gateway.stall()
            let closed = #"lectern_http_connections_closed_total{reason="slow-reader"} 1"#
            try await eventually("it is cut off", is: gateway.registry.text().contains(closed))
            withExtendedLifetime(stalled) {}
        }
    }

    @Test func `a stream outlives the time of a request, has comments, and ends with the gateway`() async throws {
        var limits = GatewayLimits.quick
        limits.requestTimeout = .seconds(1)
        limits.headTimeout = .seconds(1)
        limits.events.commentInterval = .milliseconds(600)
        let (readers, keeping) = AsyncStream.makeStream(of: EventStreamClient.self)
        try await RunningGateway.with(limits: limits) { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let reader = try gateway.read()
            _ = try await reader.next()
            try await eventually("comments have come", is: reader.other.split(separator: "\n").count { $0 == ":" } >= 4)
            try gateway.release(1)
            #expect(try await reader.next().id == "life:1")
            keeping.yield(reader)
        }
        try await readers.first { _ in true }?.ended()
    }

    @Test func `readers beyond a bound are told to come again`() async throws {
        try await RunningGateway.with(limits: .quick { $0.events.readersPerAddress = 2 }) { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let readers = [try gateway.read(), try gateway.read()]
            for reader in readers { _ = try await reader.next() }
            let refused = try await gateway.http.get("/api/rooms/r/events")
            #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] == "1")
            #expect(try refused.errorCode == "too-many-readers")
            readers[0].close()
            try await gateway.hasReaders(1)
            #expect(try await gateway.read().next().id == "life:0")
        }
    }

    @Test func `boards beyond their memory are refused, and there is room again when they are sent`() async throws {
        var limits = GatewayLimits.quick
        limits.events.boardBytes = 3_000_000
        try await RunningGateway.with(limits: limits) { gateway in
            for room in ["a", "b"] {
                try await gateway.service.answer("ink.0.\(room).join.main") { _ in
                    Answer.parts(joinReply(of: room, pad: 1_000_000), 8)
                }
            }
            let first = try gateway.read(of: "a")
            _ = try await first.next()
            // The board that is kept for readers who come makes place for another one.
            let second = try gateway.read(of: "b")
            _ = try await second.next()
            withExtendedLifetime(first) {}
        }
        limits.events.boardBytes = 1_500_000
        try await RunningGateway.with(limits: limits) { gateway in
            try await gateway.service.answer("ink.0.a.join.main") { _ in
                Answer.parts(joinReply(of: "a", pad: 1_000_000), 8)
            }
            let refused = try await gateway.http.get("/api/rooms/a/events")
            #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] == "1")
        }
    }
}

@Suite("Event streams of HTTP/1.0", .timeLimit(.minutes(4))) struct OldEventStreamTests {
    @Test func `events are no chunks for a client that knows none`() async throws {
        try await RunningGateway.with { gateway in
            try await gateway.service.answer("ink.0.r.join.main") { _ in [.board()] }
            let client = try RawConnection(port: gateway.port)
            #expect(client.send("GET /api/rooms/r/events HTTP/1.0\r\nHost: h\r\n\r\n"))
            let answer = try await client.readUp(to: "id: life:0\n")
            #expect(answer.contains("\r\n\r\nretry: 1000\n\nevent: board\nid: life:0\n"), "\(answer)")
            #expect(!answer.lowercased().contains("transfer-encoding"), "\(answer)")
        }
    }
}

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
            let channel = context.channel
            let reader = try await channel.eventLoop.submit {
                try EventReader(on: channel, isCompressed: false, EventLimits()) { _ in }
            }.get()
            do {
                try await reader.admitted.get()
                return "it goes on"
            } catch {
                return "it has ended"
            }
        }
        return router
    }
}
