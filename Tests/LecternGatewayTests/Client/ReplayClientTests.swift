import Foundation
import LecternServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import LecternHTTPClient

@Suite("A recorded lesson over HTTP", .timeLimit(.minutes(4))) struct ReplayClientTests {
    @Test func `has the class's boards at every time, however many parts it comes in`() async throws {
        let adjust = { @Sendable (configuration: inout ServerConfiguration) in
            configuration.room.intake.messagesPerSecond = 100_000
            configuration.room.intake.bytesPerSecond = 1 << 30
        }
        try await RunningClass.with(hasJournal: true, adjust: adjust) { lesson in
            let count = 2300
            for number in 1...count { try lesson.publish(RunningClass.stroke(number, at: number * 10)) }
            try lesson.publish(#"{"n":2301,"a":2,"t":23010}"#)
            let gateway = try Gateway(url: try #require(URL(string: "http://127.0.0.1:\(lesson.gateway.port)")))
            let room = try #require(RoomID("r"))
            let board = try await eventually("all is there") {
                let board = try await lesson.gateway.http.get("/api/rooms/r/board.json?cohort=head")
                let reply = try JoinReply(decoding: board.bytes)
                return reply.index == UInt64(count + 1) ? reply : nil
            }
            var parts: [Int] = []
            var replay = try await LessonReplay.fetch(.head, of: room, over: gateway) { fetched, all in
                parts.append(fetched)
                #expect(all == UInt64(count + 1))
            }
            #expect(parts == [1000, 2000, count + 1])
            #expect(replay.room == board.room && replay.entries.count == count + 1)
            replay.move(to: count + 1)
            #expect(replay.board.digest == board.digest)
            replay.move(to: count)
            #expect(replay.board.visibleCount == count)
            #expect(replay.index(before: try #require(MediaTime(milliseconds: 10_005))) == 1000)
        }
    }

    @Test func `a room that nobody has written to has none`() async throws {
        try await RunningClass.with(hasJournal: true) { lesson in
            let gateway = try Gateway(url: try #require(URL(string: "http://127.0.0.1:\(lesson.gateway.port)")))
            let room = try #require(RoomID("empty"))
            let error = await #expect(throws: LecternHTTPClient.GatewayError.self) {
                try await LessonReplay.fetch(.head, of: room, over: gateway)
            }
            #expect(error?.code == "unknown-room" && error?.status == 404)
        }
    }
}
