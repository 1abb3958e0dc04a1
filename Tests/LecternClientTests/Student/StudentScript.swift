import StrokeWire
import Testing

@testable import LecternClient

/// Steps that the tests of a student's session have in common.
protocol StudentScript {}

extension StudentScript {
    func room(_ count: Int, _ name: String = "r", isClearUndoable: Bool = false) throws -> ModelRoom {
        var room = try #require(ModelRoom(room: name, isClearUndoable: isClearUndoable, tail: 100, seed: 4))
        for _ in 0..<count { room.act() }
        return room
    }

    /// The join that the actions ask for.
    func join(_ actions: [StudentAction]) -> (request: JoinRequest, ticket: Int)? {
        for case .join(let request, let ticket) in actions { return (request, ticket) }
        return nil
    }

    func problems(_ actions: [StudentAction]) -> [StudentProblem] {
        actions.compactMap { if case .tell(.problem(let problem)) = $0 { problem } else { nil } }
    }

    func joined(_ room: ModelRoom, at cursor: UInt64) throws -> StudentSession {
        var session = StudentSession()
        let ticket = try #require(join(session.connected(at: .zero))?.ticket)
        _ = session.joined(try room.reply(to: JoinRequest(), at: cursor), ticket: ticket, at: .zero)
        return session
    }

    func message(_ room: ModelRoom, _ index: UInt64) throws -> ReleasedMessage {
        try #require(room.released(index).first)
    }
}
