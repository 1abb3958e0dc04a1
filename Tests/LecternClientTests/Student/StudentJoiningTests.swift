import StrokeWire
import Testing

@testable import LecternClient

@Suite("A student who joins")
struct StudentJoiningTests: StudentScript {
    @Test("asks for everything at first, and for the tail after a reconnect")
    func requests() throws {
        let room = try room(8)
        var session = StudentSession()
        #expect(join(session.connected(at: .zero))?.request == JoinRequest())
        session = try joined(room, at: 8)
        session.disconnected()
        #expect(session.deadline == nil)
        #expect(join(session.connected(at: .zero))?.request == JoinRequest(incarnation: "r", have: 8))
    }

    @Test("applies what came before the reply, without what the reply has")
    func buffering() throws {
        let room = try room(8)
        var session = StudentSession()
        let ticket = try #require(join(session.connected(at: .zero))?.ticket)
        for index in [4, 5, 6, 7] as [UInt64] {
            let actions = session.receive(try message(room, index), at: .zero)
            #expect(actions.isEmpty)
        }
        _ = session.joined(try room.reply(to: JoinRequest(), at: 5), ticket: ticket, at: .zero)
        #expect(session.board.index == 7)
        #expect(session.report.applied == 2)
    }

    @Test("a refused join is asked again, later and later")
    func refused() {
        var session = StudentSession()
        var ticket = join(session.connected(at: .zero))?.ticket
        var waits: [Duration] = []
        var now = Duration.zero
        for _ in 0..<7 {
            guard let asked = ticket else { break }
            _ = session.joinFailed(.refused("not-ready"), ticket: asked, at: now)
            let next = session.deadline ?? .zero
            waits.append(next - now)
            now = next
            ticket = join(session.wake(at: now))?.ticket
        }
        #expect(waits == [250, 500, 1000, 2000, 4000, 4000, 4000].map { .milliseconds($0) })
    }

    @Test(
        "a join that nobody answers is told from one that is refused",
        arguments: [JoinFailure.unanswered("no answer"), .refused("unknown-cohort: there is none")])
    func failed(_ failure: JoinFailure) throws {
        var session = StudentSession()
        let asked = try #require(join(session.connected(at: .zero)))
        let actions = session.joinFailed(failure, ticket: asked.ticket, at: .zero)
        #expect(actions == [.tell(.problem(.joinFailed(failure)))])
        #expect(session.report.joins == 0)
        #expect(session.report.failedJoins == 1)
    }

    @Test("whoever joined an empty room takes the first operation of any incarnation")
    func emptyRoom() throws {
        var session = try joined(try room(0), at: 0)
        #expect(session.board.room == "")
        let room = try room(3, "new")
        _ = session.receive(try message(room, 1), at: .zero)
        #expect(session.board.room == "new")
        #expect(session.board.index == 1)
        #expect(session.report.rejoins == 0)
    }

    @Test("a new incarnation means: forget all, and join again")
    func incarnation() throws {
        var session = try joined(try room(8), at: 8)
        let new = try room(2, "new")
        let asked = try #require(join(session.receive(try message(new, 1), at: .zero)))
        #expect(asked.request == JoinRequest())
        _ = session.joined(try new.reply(to: asked.request, at: 1), ticket: asked.ticket, at: .zero)
        #expect(session.board.room == "new")
        #expect(session.digest == new.boards[1].digest)
        _ = session.receive(try message(new, 2), at: .zero)
        #expect(session.board.index == 2)
    }

    @Test("keeps what it has when the service was set back")
    func setBack() throws {
        let room = try room(8)
        var session = try joined(room, at: 8)
        let asked = try #require(join(session.connected(at: .zero)))
        _ = session.joined(try room.reply(to: asked.request, at: 5), ticket: asked.ticket, at: .zero)
        #expect(session.board.index == 8)
        _ = session.receive(try message(room, 6), at: .zero)
        #expect(session.report.repeats == 1)
        #expect(session.report.isSound)
    }

    @Test("an answer to a request that is of no interest any more changes nothing")
    func staleReply() throws {
        let room = try room(8)
        var session = StudentSession()
        let first = try #require(join(session.connected(at: .zero)))
        let second = try #require(join(session.connected(at: .zero)))
        #expect(session.joined(try room.reply(to: JoinRequest(), at: 3), ticket: first.ticket, at: .zero).isEmpty)
        #expect(session.board.index == 0)
        _ = session.joined(try room.reply(to: JoinRequest(), at: 3), ticket: second.ticket, at: .zero)
        #expect(session.board.index == 3)
    }

    @Test("every answered join is told, with the board that it begins from")
    func told() throws {
        let room = try room(8)
        var session = try joined(room, at: 4)
        let asked = try #require(join(session.connected(at: .zero)))
        let actions = session.joined(
            try room.reply(to: asked.request, at: 6), ticket: asked.ticket, at: .zero)
        let indices = actions.compactMap { action -> UInt64? in
            switch action {
            case .tell(.joined(_, let index, _, _)): index
            case .tell(.applied(let operation, _, _)): operation.index
            default: nil
            }
        }
        #expect(indices == [4, 5, 6])
    }
}
