import StrokeWire
import Testing

@testable import LecternClient

@Suite("Who follows the head feed")
struct HeadSessionTests {
    private func room(_ count: Int, _ name: String = "r") throws -> ModelRoom {
        var room = try #require(ModelRoom(room: name, isClearUndoable: true, tail: 0, seed: 9))
        for _ in 0..<count { room.act() }
        return room
    }

    private func follow(_ session: inout HeadSession, _ room: ModelRoom, _ indices: some Sequence<UInt64>) throws {
        for index in indices {
            for message in try room.released(index, pointsPerShard: 3) { _ = session.receive(message) }
        }
    }

    @Test("verifies every digest when it saw the first operation")
    func complete() throws {
        var session = HeadSession()
        let room = try room(80)
        try follow(&session, room, 1...80)
        #expect(session.report.applied == 80)
        #expect(session.report.isSound)
        let message = try #require(room.released(80).first)
        let wrong = ReleasedMessage(
            index: 81, room: "r", author: message.author, digest: BoardDigest(value: 7), bytes: message.bytes,
            header: message.header)
        _ = session.receive(wrong)
        #expect(session.report.divergences == 1)
    }

    @Test("starts with what comes when it is late, and trusts the service then")
    func late() throws {
        var session = HeadSession()
        try follow(&session, room(80), 30...80)
        #expect(session.report.applied == 51)
        #expect(session.report.gaps == 0)
        #expect(session.report.isSound)
    }

    @Test("tells of a gap and goes on, drops repeats, starts anew with a new incarnation")
    func disturbances() throws {
        var session = HeadSession()
        let room = try room(30)
        try follow(&session, room, 1...10)
        try follow(&session, room, 5...10)
        try follow(&session, room, 14...20)
        #expect(session.report.gaps == 1)
        #expect(session.report.applied == 17)
        #expect(session.index == 20)
        #expect(session.report.repeats >= 6)
        try follow(&session, self.room(5, "new"), 1...5)
        #expect(session.index == 5)
        #expect(session.report.isSound)
    }

    @Test("an operation whose shards are not all there is a gap")
    func shards() throws {
        var session = HeadSession()
        let room = try room(60)
        let sharded = try #require((2...59).first { try room.released($0, pointsPerShard: 3).count > 1 })
        try follow(&session, room, 1..<sharded)
        for message in try room.released(sharded, pointsPerShard: 3).dropLast() { _ = session.receive(message) }
        #expect(session.index == sharded - 1)
        try follow(&session, room, (sharded + 1)...60)
        #expect(session.index == 60)
        #expect(session.report.gaps == 1)
    }
}
