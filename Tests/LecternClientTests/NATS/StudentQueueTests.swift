import ClientCore
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternClient

@Suite("What a student over NATS lets wait", .timeLimit(.minutes(4))) struct StudentQueueTests {
    private func room() throws -> ModelRoom {
        var room = try #require(ModelRoom(room: "r", isClearUndoable: false, tail: 100, seed: 1))
        for _ in 0..<6 { room.act() }
        return room
    }

    @Test func `messages beyond the bytes that may wait are dropped, and a join repairs that`() async throws {
        try await FakeService.with(room: room()) { server, service, connection in
            for _ in 0..<5 { try service.release() }
            try await service.connection.flush()
            let student = Student(
                connection: connection, address: service.address, feed: .cohort(.main), joinTimeout: .seconds(30),
                encoding: .json, wetInk: false, queueBytes: 64 << 10, logger: .silent)
            let long = String(repeating: "x", count: 128 << 10)
            let message = Array("{\"n\":9,\"d\":[{\"x\":1,\"y\":1}],\"other\":\"\(long)\"}".utf8)
            let headers: NATSHeaders = [
                HeaderName.index: "6", HeaderName.room: "r", HeaderName.author: "ann",
                HeaderName.digest: BoardDigest.empty.description,
            ]
            var isSent = false
            let session = try await student.follow(for: .hangLimit) { event, session in
                guard case .joined = event, !isSent else { return session.board.index < 6 }
                isSent = true
                do {
                    try service.connection.publish(message, to: service.address.subject(.out(.main)), headers: headers)
                    // It is not on the board: what follows tells of it.
                    try service.release(isLost: true)
                    try service.mark()
                } catch {
                    Issue.record(error)
                }
                return true
            }
            #expect(session.report.overflows == 1 && session.report.divergences == 0)
            #expect(session.board.index == 6 && session.digest == service.digest)
        }
    }
}
