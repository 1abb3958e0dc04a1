import LecternDemo
import StrokeWire
import TestSupport
import Testing

@testable import ClientCore
@testable import LecternClient

@Suite("A teacher client with a journal") struct JournalledTeacherTests {
    private func room(seed: UInt64, faults: PublishPlan.Faults = .init()) throws -> VirtualClass {
        var room = VirtualClass(PublishPlan(try DemoLesson.make(seed: seed), speed: 8, faults: faults), seed: seed)
        room.journal = VirtualJournal()
        // One connection: messages do not overtake each other.
        room.latency = 3...3
        return room
    }

    /// Numbers in the journal's order, each at its first message.
    private func numbers(_ room: VirtualClass) -> [Int64] {
        var seen: Set<Int64> = []
        return (room.journal?.stored ?? []).map(\.number).filter { seen.insert($0).inserted }
    }

    /// Longest time in which an operation was missing behind a later one although the journal could have stored it; a
    /// room gives it up after 2 s.
    private func longestGap(_ room: VirtualClass) -> Duration {
        let stored = room.journal?.stored ?? []
        return stored.enumerated().reduce(.zero) { longest, entry in
            let (place, late) = entry
            let overtaker = stored[..<place].first { $0.number > late.number }
            let gap = overtaker.map { room.longestUndisturbed(from: $0.time, to: late.time) } ?? .zero
            return max(longest, gap)
        }
    }

    @Test(
        "has each message stored once, no gap open while it could be closed, whatever connection, leader and space do",
        arguments: TestSeed.choose(16))
    func disturbed(seed: UInt64) throws {
        var random = LecternClient.SeededGenerator(seed: seed)
        var room = try room(seed: seed)
        // One connection loses messages only in an outage; odd seeds lose more.
        room.loss = seed.isMultiple(of: 2) ? 0 : random.unit() * 0.02
        func spans(_ count: Int, _ length: ClosedRange<Int>) -> [(start: Duration, length: Duration)] {
            (0..<count).map { _ in
                (
                    .milliseconds(Int.random(in: 200...9000, using: &random)),
                    .milliseconds(Int.random(in: length, using: &random))
                )
            }
        }
        room.outages = spans(2, 50...2000)
        room.journal?.leaderless = spans(1, 500...8000)
        room.journal?.full = spans(1, 100...6000)
        room.journal?.absent = spans(1, 100...3000)
        room.hasService = false
        #expect(room.run(within: .seconds(200)) == true)
        let lesson = try DemoLesson.make(seed: seed)
        let ids = room.journal?.stored.map(\.messageID) ?? []
        #expect(ids.count == lesson.messages.count)
        #expect(Set(ids).count == ids.count)
        #expect(room.session.report.stored == lesson.messages.count)
        #expect(room.session.report.hasArrived)
        #expect(!room.session.report.isComplete)
        if room.loss == 0 { #expect(longestGap(room) < .seconds(2)) }
    }

    @Test func `keeps the order of a lesson through a leader's loss`() throws {
        var room = try room(seed: 3)
        room.journal?.leaderless = [(.seconds(2), .seconds(8))]
        #expect(room.run(within: .seconds(100)) == true)
        #expect(numbers(room) == numbers(room).sorted())
        #expect(room.session.report.isComplete)
        #expect(room.session.report.gaveUp == 0)
        // Few messages wait for the leader; the rest is held back.
        #expect(room.session.report.resent < 300)
    }

    @Test("has everything applied in the end, with the service in play", arguments: TestSeed.choose(8))
    func served(seed: UInt64) throws {
        var random = LecternClient.SeededGenerator(seed: seed)
        var room = try room(seed: seed, faults: .init(lose: random.unit() * 0.2, seed: seed))
        room.loss = random.unit() * 0.05
        room.outages = [(.seconds(3), .seconds(1))]
        room.journal?.leaderless = [(.seconds(6), .seconds(7))]
        #expect(room.run(within: .seconds(300)) == true)
        let report = room.session.report
        #expect(report.unanswered == 0 && report.unsent == 0 && report.unstored == 0)
        #expect(report.applied + report.gaveUp == LessonStatistics(try DemoLesson.make(seed: seed)).operations)
    }

    private func session() throws -> TeacherSession {
        TeacherSession(PublishPlan(try DemoLesson.make(), speed: 1000), session: "x", answerTimeout: .seconds(9))
    }

    @Test func `tells why the journal refuses, tries on, and no longer tells once it takes messages`() throws {
        var session = try session()
        guard case .send(let first, let id, let receipt) = session.next(at: .seconds(1)) else {
            throw Unexpected("nothing is sent")
        }
        session.receive(.refused("no space"), receipt, at: .seconds(1))
        #expect(session.report.refusal == "no space")
        #expect(session.report.isStalled)
        let pause = session.next(at: .seconds(1))
        #expect(pause == .wait(until: .milliseconds(1250)))
        let again = session.next(at: .milliseconds(1250))
        #expect(again == .send(first, messageID: id, receipt))
        session.receive(.stored, receipt, at: .milliseconds(1300))
        #expect(session.report.refusal == nil)
        guard case .send(_, _, let second) = session.next(at: .milliseconds(1300)) else {
            throw Unexpected("nothing is sent")
        }
        #expect(second.key != receipt.key)
        #expect(session.report.refusals == 1)
    }

    @Test(arguments: [
        #"{"stream":"INK_LOG_0","seq":0,"duplicate":true}"#,
        #"{"error":{"code":409,"err_code":10158,"description":"duplicate message id is in process"},"stream":"INK_LOG_0","seq":0}"#,
    ])
    func `sends a message under another id when the journal knows its id and does not have it`(answer: String) throws {
        var session = try session()
        guard case .send(let first, let id, let receipt) = session.next(at: .seconds(1)) else {
            throw Unexpected("nothing is sent")
        }
        let reply = try #require(PublishReply(Array(answer.utf8)))
        session.receive(reply, receipt, at: .seconds(1))
        guard case .send(let again, let otherID, let otherReceipt) = session.next(at: .milliseconds(1250)) else {
            throw Unexpected("it is not sent again")
        }
        #expect(again == first)
        #expect(otherID != id)
        session.receive(.stored, receipt, at: .milliseconds(1300))
        #expect(session.report.stored == 0)
        session.receive(.stored, otherReceipt, at: .milliseconds(1300))
        #expect(session.report.stored == 1)
    }

    @Test func `ends, and says that nothing arrived, when nobody is there`() throws {
        var room = try room(seed: 1)
        room.journal?.absent = [(.zero, .seconds(1000))]
        #expect(room.run(within: .seconds(20)) == true)
        let report = room.session.report
        #expect(report.published == 1)
        #expect(report.hasNoResponse)
        #expect(!report.hasArrived)
        #expect(report.unsent > 0)
    }

    @Test func `with a full outbox, sends nothing new until something is settled, and all of it then`() throws {
        var session = TeacherSession(
            PublishPlan(try DemoLesson.make(), speed: 1000).messages,
            ids: MessageIDs(room: "r", author: "a", session: "x", run: "run"), answerTimeout: .seconds(30),
            outbox: Outbox(session: "x", limits: Outbox.Limits(operations: 3, bytes: .max)))
        var sent: [Int64] = []
        for step in 0..<100 {
            guard case .send(_, _, let receipt) = session.next(at: .milliseconds(500 + step)) else { break }
            sent.append(receipt.key.number)
            session.receive(.stored, receipt, at: .milliseconds(500 + step))
        }
        #expect(Set(sent) == [1, 2, 3])
        session.receive(.applied(number: 1, index: 1), at: .milliseconds(900))
        guard case .send(_, _, let next) = session.next(at: .milliseconds(900)) else {
            throw Unexpected("nothing is sent")
        }
        #expect(next.key.number == 4)
    }
}
