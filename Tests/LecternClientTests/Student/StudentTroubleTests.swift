import StrokeWire
import Testing

@testable import LecternClient

@Suite("A student in trouble")
struct StudentTroubleTests: StudentScript {
    @Test("asks for what is missing after a moment, not before")
    func gap() throws {
        let room = try room(8)
        var session = try joined(room, at: 3)
        _ = session.receive(try message(room, 5), at: .seconds(1))
        let deadline = try #require(session.deadline)
        #expect(deadline == .seconds(1) + StudentSession.patience)
        #expect(session.wake(at: deadline - .nanoseconds(1)).isEmpty)
        let actions = session.wake(at: deadline)
        #expect(problems(actions) == [.gap(after: 3)])
        let asked = try #require(join(actions))
        #expect(asked.request == JoinRequest(incarnation: "r", have: 3))
        _ = session.joined(try room.reply(to: asked.request, at: 6), ticket: asked.ticket, at: .seconds(2))
        #expect(session.board.index == 6)
        #expect(session.report.applied == 3)
    }

    @Test("does not ask when the overtaken operation comes in time")
    func overtaken() throws {
        let room = try room(8)
        var session = try joined(room, at: 3)
        _ = session.receive(try message(room, 5), at: .zero)
        _ = session.receive(try message(room, 4), at: .milliseconds(100))
        #expect(session.board.index == 5)
        #expect(session.deadline == nil)
    }

    @Test("a mark shows the loss of the last operation")
    func markAhead() throws {
        let room = try room(8)
        var session = try joined(room, at: 7)
        let mark = Mark(room: "r", index: 8, digest: room.boards[8].digest, video: nil)
        #expect(session.receive(mark, at: .zero).isEmpty)
        #expect(join(session.wake(at: .seconds(1)))?.request.have == 7)
    }

    @Test("a digest that does not match asks for the whole board")
    func divergence() throws {
        let room = try room(8)
        var session = try joined(room, at: 8)
        let wrong = Mark(room: "r", index: 8, digest: BoardDigest(value: 1), video: nil)
        let actions = session.receive(wrong, at: .zero)
        #expect(join(actions)?.request == JoinRequest())
        #expect(session.report.divergences == 1)
        #expect(!session.report.isSound)
    }

    @Test("a service that is always wrong is not asked all the time")
    func backOff() throws {
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

    @Test("an operation that comes again with other content is a conflict")
    func conflict() throws {
        let room = try room(8)
        var session = try joined(room, at: 2)
        let third = try message(room, 3)
        _ = session.receive(third, at: .zero)
        #expect(problems(session.receive(third, at: .zero)).isEmpty)
        #expect(session.report.repeats == 1)
        let other = ReleasedMessage(
            index: 3, room: "r", author: third.author, digest: third.digest,
            bytes: third.bytes + [UInt8(ascii: " ")], header: third.header)
        #expect(problems(session.receive(other, at: .zero)) == [.conflict(index: 3)])
        #expect(!session.report.isSound)
    }

    @Test("what cannot wait is dropped, and asked for")
    func overflow() throws {
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

    @Test("input that was lost unread is brought back by a join")
    func inputLost() throws {
        let room = try room(8)
        var session = try joined(room, at: 4)
        let asked = try #require(join(session.inputLost(at: .zero)))
        #expect(asked.request.have == 4)
        _ = session.joined(try room.reply(to: asked.request, at: 8), ticket: asked.ticket, at: .zero)
        #expect(session.board.index == 8)
        #expect(session.report.overflows == 1)
        #expect(session.report.isSound)
    }

    @Test("indices at the end of their range never trap")
    func absurd() throws {
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
