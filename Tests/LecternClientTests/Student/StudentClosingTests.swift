import StrokeWire
import Testing

@testable import LecternClient

@Suite("A student whose room is closed")
struct StudentClosingTests: StudentScript {
    private let closed = Mark(room: "", index: 0, digest: .empty, video: nil)

    private func expectEmpty(_ session: StudentSession, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(session.board.room == "", sourceLocation: sourceLocation)
        #expect(session.board.index == 0, sourceLocation: sourceLocation)
        #expect(session.board.visible.isEmpty, sourceLocation: sourceLocation)
        #expect(session.digest == .empty, sourceLocation: sourceLocation)
        #expect(session.report.isSound, sourceLocation: sourceLocation)
    }

    @Test("forgets all and joins again when a mark says so, and takes the next life from its first operation")
    func mark() throws {
        var session = try joined(try room(8), at: 8)
        let asked = try #require(join(session.receive(closed, at: .zero)))
        #expect(asked.request == JoinRequest())
        _ = session.joined(try room(0).reply(to: asked.request, at: 0), ticket: asked.ticket, at: .zero)
        expectEmpty(session)
        #expect(session.receive(closed, at: .seconds(1)).isEmpty)
        _ = session.receive(try message(try room(3, "new"), 1), at: .seconds(2))
        #expect(session.board.room == "new")
        #expect(session.board.index == 1)
    }

    @Test("asks once more when the mark overtakes the answer to a join of the life that is over")
    func markBeforeAnswer() throws {
        let room = try room(8)
        var session = try joined(room, at: 5)
        session.disconnected()
        let first = try #require(join(session.connected(at: .zero)))
        #expect(session.receive(closed, at: .zero).isEmpty)
        let actions = session.joined(try room.reply(to: first.request, at: 8), ticket: first.ticket, at: .zero)
        let second = try #require(join(actions))
        #expect(second.request == JoinRequest())
        let end = session.joined(try self.room(0).reply(to: second.request, at: 0), ticket: second.ticket, at: .zero)
        #expect(join(end) == nil)
        expectEmpty(session)
    }

    @Test("forgets operations that waited for others of the life that is over")
    func waiting() throws {
        let room = try room(8)
        var session = try joined(room, at: 3)
        _ = session.receive(try message(room, 6), at: .zero)
        let asked = try #require(join(session.receive(closed, at: .zero)))
        _ = session.joined(try self.room(0).reply(to: asked.request, at: 0), ticket: asked.ticket, at: .zero)
        expectEmpty(session)
        #expect(session.deadline == nil)
    }
}
