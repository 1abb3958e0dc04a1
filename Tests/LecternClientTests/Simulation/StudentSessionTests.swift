import StrokeWire
import TestSupport
import Testing

@testable import ClientCore
@testable import LecternClient

/// Steps shared by the tests of a student's session.
protocol StudentScript {}

extension StudentScript {
    func room(_ count: Int, _ name: String = "r", isClearUndoable: Bool = false) throws -> ModelRoom {
        var room = try #require(ModelRoom(room: name, isClearUndoable: isClearUndoable, tail: 100, seed: 4))
        for _ in 0..<count { room.act() }
        return room
    }

    /// The join request among the actions.
    func join(_ actions: [StudentAction]) -> (request: JoinRequest, ticket: Int)? {
        for case .join(let request, let ticket) in actions { return (request, ticket) }
        return nil
    }

    func problems(_ actions: [StudentAction]) -> [StudentProblem] {
        actions.compactMap { if case .emit(.problem(let problem)) = $0 { problem } else { nil } }
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

@Suite("A student who joins") struct StudentJoiningTests: StudentScript {
    @Test(arguments: [JoinFailure.unanswered("no answer"), .refused("unknown-cohort: there is none")])
    func `a join that nobody answers is told from one that is refused`(_ failure: JoinFailure) throws {
        var session = StudentSession()
        let asked = try #require(join(session.connected(at: .zero)))
        let actions = session.joinFailed(failure, ticket: asked.ticket, at: .zero)
        #expect(actions == [.emit(.problem(.joinFailed(failure)))])
        #expect(session.report.joins == 0)
        #expect(session.report.failedJoins == 1)
    }

    @Test func `an answer to a request that is of no interest any more changes nothing`() throws {
        let room = try room(8)
        var session = StudentSession()
        let first = try #require(join(session.connected(at: .zero)))
        let second = try #require(join(session.connected(at: .zero)))
        #expect(session.joined(try room.reply(to: JoinRequest(), at: 3), ticket: first.ticket, at: .zero).isEmpty)
        #expect(session.board.index == 0)
        _ = session.joined(try room.reply(to: JoinRequest(), at: 3), ticket: second.ticket, at: .zero)
        #expect(session.board.index == 3)
    }

    @Test func `every answered join is told, with the board that it begins from`() throws {
        let room = try room(8)
        var session = try joined(room, at: 4)
        let asked = try #require(join(session.connected(at: .zero)))
        let actions = session.joined(try room.reply(to: asked.request, at: 6), ticket: asked.ticket, at: .zero)
        let indices = actions.compactMap { action -> UInt64? in
            switch action {
            case .emit(.joined(_, let index, _, _)): index
            case .emit(.applied(let operation, _, _)): operation.index
            default: nil
            }
        }
        #expect(indices == [4, 5, 6])
    }
}

@Suite("A student in trouble") struct StudentTroubleTests: StudentScript {
    @Test func `a service that is always wrong is not asked all the time`() throws {
        let room = try room(8)
        var session = try joined(room, at: 8)
        let wrong = Mark(room: "r", index: 8, digest: BoardDigest(value: 1), video: nil)
        var requests = 0
        for step in 0..<10_000 {
            let now = Duration.milliseconds(step)
            for actions in [session.receive(wrong, at: now), session.wake(at: now)] {
                guard let asked = join(actions) else { continue }
                requests += 1
                _ = session.joined(try room.reply(to: asked.request, at: 8), ticket: asked.ticket, at: now)
            }
        }
        #expect(2...8 ~= requests)
    }

    @Test func `an operation that comes again with other content is a conflict`() throws {
        let room = try room(8)
        var session = try joined(room, at: 2)
        let third = try message(room, 3)
        _ = session.receive(third, at: .zero)
        #expect(problems(session.receive(third, at: .zero)).isEmpty)
        #expect(session.report.repeats == 1)
        let other = ReleasedMessage(
            index: 3, room: "r", author: third.author, digest: third.digest,
            bytes: third.bytes + [UInt8(ascii: " ")], header: third.header)
        let actions = session.receive(other, at: .zero)
        #expect(problems(actions) == [.conflict(index: 3)])
        #expect(!session.report.isSound)
        // The board is wrong, whatever digests say.
        #expect(join(actions)?.request == JoinRequest())
        #expect(problems(session.receive(other, at: .zero)).isEmpty)
    }

    @Test func `operations beyond the queue's bound are dropped, and asked for`() throws {
        let room = try room(40)
        var session = try joined(room, at: 1)
        let sample = try message(room, 3)
        var overflows = 0
        for index in 3...9000 as ClosedRange<UInt64> {
            let message = ReleasedMessage(
                index: index, room: "r", author: sample.author, digest: sample.digest, bytes: sample.bytes,
                header: sample.header)
            if problems(session.receive(message, at: .zero)).contains(.overflow) { overflows += 1 }
        }
        #expect(overflows == 1)
        #expect(session.report.overflows == 1)
    }

    @Test func `input that was lost unread is brought back by a join`() throws {
        let room = try room(8)
        var session = try joined(room, at: 4)
        let asked = try #require(join(session.inputLost(at: .zero)))
        #expect(asked.request.have == 4)
        _ = session.joined(try room.reply(to: asked.request, at: 8), ticket: asked.ticket, at: .zero)
        #expect(session.board.index == 8)
        #expect(session.report.overflows == 1)
        #expect(session.report.isSound)
    }

    @Test func `indices at the end of their range never trap`() throws {
        let room = try room(8)
        var session = try joined(room, at: 8)
        let sample = try message(room, 8)
        for index: UInt64 in [.max, 0, .max - 1] {
            let message = ReleasedMessage(
                index: index, room: "r", author: sample.author, reference: .max, digest: sample.digest,
                bytes: sample.bytes, header: sample.header)
            _ = session.receive(message, at: .zero)
            _ = session.receive(Mark(room: "r", index: index, digest: .empty, video: nil), at: .zero)
        }
        _ = session.wake(at: .seconds(9))
        #expect(session.board.index == 8)
    }
}

@Suite("A student whose room is closed") struct StudentClosingTests: StudentScript {
    private let closed = Mark(room: "", index: 0, digest: .empty, video: nil)

    private func expectEmpty(_ session: StudentSession, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(session.board.room == "", sourceLocation: sourceLocation)
        #expect(session.board.index == 0, sourceLocation: sourceLocation)
        #expect(session.board.visible.isEmpty, sourceLocation: sourceLocation)
        #expect(session.digest == .empty, sourceLocation: sourceLocation)
        #expect(session.report.isSound, sourceLocation: sourceLocation)
    }

    @Test func `asks once more when the mark overtakes the answer to a join of the life that is over`() throws {
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

    @Test func `forgets operations that waited for others of the life that is over`() throws {
        let room = try room(8)
        var session = try joined(room, at: 3)
        _ = session.receive(try message(room, 6), at: .zero)
        let asked = try #require(join(session.receive(closed, at: .zero)))
        _ = session.joined(try self.room(0).reply(to: asked.request, at: 0), ticket: asked.ticket, at: .zero)
        expectEmpty(session)
        #expect(session.deadline == nil)
    }
}
