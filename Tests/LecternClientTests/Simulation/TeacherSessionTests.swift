import LecternDemo
import StrokeWire
import TestSupport
import Testing

@testable import ClientCore
@testable import LecternClient

@Suite("A teacher client") struct TeacherSessionTests {
    private func lesson(seed: UInt64 = 1) throws -> Lesson { try DemoLesson.make(seed: seed) }

    @Test func `sends each message once, at its time and in order, when nothing goes wrong`() throws {
        let lesson = try lesson()
        var room = VirtualClass(PublishPlan(lesson, speed: 2), seed: 1)
        room.latency = 5...5
        #expect(room.run(within: .seconds(100)) == true)
        let isSame = room.sendings.map(\.bytes) == lesson.messages.map(\.bytes)
        #expect(isSame)
        for (sending, message) in zip(room.sendings, lesson.messages) {
            let late = sending.time - message.due / 2
            #expect(.zero <= late && late <= .milliseconds(2))
        }
        #expect(room.session.report.isComplete)
        #expect(!room.session.report.hasNoResponse)
        #expect(room.session.report.resent == 0)
        #expect(room.session.report.applied == LessonStatistics(lesson).operations)
        #expect(Set(room.sendings.map(\.messageID)).count == lesson.messages.count)
    }

    @Test func `slows down rather than break the limits, and drops nothing`() throws {
        let lesson = try lesson()
        var room = VirtualClass(PublishPlan(lesson, speed: 1000), seed: 1)
        #expect(room.run(within: .seconds(10)) == true)
        #expect(room.session.report.isComplete)
        for (index, sending) in room.sendings.enumerated() {
            let second = room.sendings[index...].prefix { $0.time < sending.time + .seconds(1) }
            #expect(second.count <= 200)
            #expect(second.reduce(0) { $0 + $1.bytes.count } <= 1 << 20)
        }
    }

    @Test("gets every operation applied through loss, disorder and outages", arguments: TestSeed.choose(12))
    func disturbed(seed: UInt64) throws {
        var random = LecternClient.SeededGenerator(seed: seed)
        let faults = PublishPlan.Faults(
            lose: random.unit() * 0.3, shuffle: Int.random(in: 0...8, using: &random), seed: seed)
        let lesson = try lesson(seed: seed).cut(pointsPerShard: Int.random(in: 5...60, using: &random))
        // The teacher waits for nine probes of its last open operations: at this loss three are lost now and then.
        var room = VirtualClass(PublishPlan(lesson, speed: 8, faults: faults), seed: seed, answerTimeout: .seconds(60))
        room.loss = random.unit() * 0.1
        if seed.isMultiple(of: 2) { room.outages = [(.seconds(3), .seconds(1)), (.seconds(7), .milliseconds(300))] }
        #expect(room.run(within: .seconds(120)) == true)
        let report = room.session.report
        #expect(report.unanswered == 0 && report.unsent == 0 && report.rejections == 0)
        let operations = LessonStatistics(lesson).operations
        // A command that is given up is over, and a stroke that is given up twice.
        #expect(report.applied + report.gaveUp == operations)
        #expect(report.applied >= operations - 3)
        #expect(report.gaveUp <= room.service.givenUp.count)
        #expect(report.withheld > 0 || faults.lose < 0.1)
        let applied = Set(room.service.applied)
        #expect(applied.count == room.service.applied.count)
        #expect((1...Int64(operations)).allSatisfy { applied.contains($0) || room.service.givenUp.contains($0) })
    }

    @Test func `sends what is lost last again, although nobody can know that it is missing`() throws {
        let plan = PublishPlan(try lesson(), speed: 20, faults: .init(lose: 1))
        var room = VirtualClass(plan, seed: 1)
        #expect(room.run(within: .seconds(60)) == true)
        // All but the first, from which a room learns where the numbers begin.
        #expect(room.session.report.published == 1)
        #expect(room.session.report.isComplete)
    }

    @Test func `sends an operation again at once, and once, when a later one is applied without it`() throws {
        var session = TeacherSession(PublishPlan(try lesson(), speed: 1000), session: "x", answerTimeout: .seconds(9))
        expect("r/a/x/1/0", from: &session, at: .seconds(1))
        expect("r/a/x/2/0", from: &session, at: .seconds(1))
        expect("r/a/x/3/0", from: &session, at: .seconds(1))
        session.receive(.applied(number: 2, index: 1), at: .seconds(1))
        expect("r/a/x/1/0", from: &session, at: .seconds(1))
        session.receive(.applied(number: 3, index: 2), at: .seconds(1))
        expect("r/a/x/4/0", from: &session, at: .seconds(1))
    }

    @Test func `gives up waiting for a service that is not there, and says what was not answered`() throws {
        let lesson = try lesson()
        var room = VirtualClass(PublishPlan(lesson, speed: 20), seed: 1, answerTimeout: .seconds(4))
        room.hasService = false
        #expect(room.run(within: .seconds(30)) == true)
        let report = room.session.report
        #expect(report.published == lesson.messages.count)
        #expect(report.unanswered == LessonStatistics(lesson).operations)
        #expect(!report.isComplete)
        #expect(report.hasNoResponse)
        // Probes are few: their distance doubles, and each resends a few operations.
        #expect(report.resent < 300)
    }

    @Test("gives again, under new ids and in order, what was applied and no checkpoint held when the log lost its end")
    func uncovered() throws {
        var session = TeacherSession(PublishPlan(try lesson(), speed: 1000), session: "x", answerTimeout: .seconds(9))
        publish(1...4, by: &session)
        session.receive(.covered(number: 1, incarnation: "log-1"), at: .seconds(1))
        session.receive(.covered(number: 2, incarnation: "log-1"), at: .seconds(1))
        #expect(session.report.resent == 0)
        // The restored room has the second. The third was lost, and the fourth.
        session.receive(.covered(number: 2, incarnation: "log.1-9"), at: .seconds(1))
        expect("r/a/x/3/0-run-1", from: &session, at: .seconds(1))
        expect("r/a/x/4/0-run-1", from: &session, at: .seconds(1))
        expect("r/a/x/5/0", from: &session, at: .seconds(1))
        for number in 3...4 { session.receive(.applied(number: Int64(number), index: UInt64(number)), at: .seconds(1)) }
        #expect(session.report.applied == 4)
        // A notice that it is missed has it given again as well.
        session.receive(.missingRange(from: 3, to: 3), at: .seconds(1))
        expect("r/a/x/3/0-run-2", from: &session, at: .seconds(1))
    }

    @Test("gives again what was applied before the first notice of a checkpoint if that names a restored log")
    func uncoveredBeforeTheFirstNotice() throws {
        var session = TeacherSession(PublishPlan(try lesson(), speed: 1000), session: "x", answerTimeout: .seconds(9))
        publish(1...3, by: &session)
        session.receive(.covered(number: 1, incarnation: "log.1-9"), at: .seconds(1))
        expect("r/a/x/2/0-run-1", from: &session, at: .seconds(1))
        expect("r/a/x/3/0-run-1", from: &session, at: .seconds(1))
        // What is applied from now on is in that room.
        for number in 2...3 { session.receive(.applied(number: Int64(number), index: UInt64(number)), at: .seconds(1)) }
        session.receive(.covered(number: 2, incarnation: "log.1-9"), at: .seconds(1))
        expect("r/a/x/4/0", from: &session, at: .seconds(1))
    }

    @Test("sends under the same id what may not have arrived, and under a new one what the room wants once more")
    func messageIDs() throws {
        var session = TeacherSession(PublishPlan(try lesson(), speed: 1000), session: "x", answerTimeout: .seconds(9))
        let first = expect("r/a/x/1/0", from: &session, at: .seconds(1))
        expect("r/a/x/2/0", from: &session, at: .seconds(1))
        session.receive(.missingRange(from: 1, to: 1), at: .seconds(1))
        expect("r/a/x/1/0", from: &session, at: .seconds(1))
        session.receive(.stored, try #require(first), at: .seconds(1))
        session.receive(.missingRange(from: 1, to: 1), at: .seconds(1))
        let again = expect("r/a/x/1/0-run-1", from: &session, at: .seconds(1))
        // An acknowledgement of the old id does not count for the new one.
        session.receive(.stored, try #require(first), at: .seconds(1))
        session.connectionLost()
        let offline = session.next(at: .seconds(1))
        #expect(offline == .waitForConnection)
        session.connectionReturned(at: .seconds(1))
        expect("r/a/x/1/0-run-1", from: &session, at: .seconds(1))
        expect("r/a/x/2/0", from: &session, at: .seconds(1))
        #expect(session.report.reconnects == 1)
        session.receive(.stored, try #require(again), at: .seconds(1))
        #expect(session.report.stored == 1)
    }

    /// Has the session send operations, which the room applies.
    private func publish(_ numbers: ClosedRange<Int64>, by session: inout TeacherSession) {
        for number in numbers {
            expect("r/a/x/\(number)/0", from: &session, at: .seconds(1))
            session.receive(.applied(number: number, index: UInt64(number)), at: .seconds(1))
        }
    }

    @discardableResult
    private func expect(
        _ messageID: String, from session: inout TeacherSession, at now: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Receipt? {
        guard case .send(_, let sent, let receipt) = session.next(at: now) else {
            Issue.record("nothing is sent", sourceLocation: sourceLocation)
            return nil
        }
        #expect(sent == messageID, sourceLocation: sourceLocation)
        return receipt
    }

    @Test func `reports rejections by code, each operation once, and does not wait for them`() throws {
        var room = VirtualClass(PublishPlan(try lesson(), speed: 20), seed: 3)
        room.service.rejects = [4, 9]
        #expect(room.run(within: .seconds(30)) == true)
        let report = room.session.report
        #expect(report.rejected == [.nothingToUndo: 2])
        #expect(report.firstRejections.map(\.number) == [4, 9])
        #expect(report.unanswered == 0)
        #expect(!report.isComplete)
    }

    @Test func `a stroke that was given up gets a second chance, a command does not`() throws {
        let lines = "{\"n\":1,\"t\":0,\"d\":[{\"x\":1,\"y\":1}]}\n{\"n\":2,\"a\":2,\"t\":0}"
        let lesson = try Lesson(ndjson: Array(lines.utf8))
        var session = TeacherSession(PublishPlan(lesson), session: "x", answerTimeout: .seconds(9))
        expect("r/a/x/1/0", from: &session, at: .zero)
        expect("r/a/x/2/0", from: &session, at: .zero)
        session.receive(.gaveUp(from: 1, to: 2), at: .seconds(1))
        #expect(session.report.gaveUp == 1)
        expect("r/a/x/1/0", from: &session, at: .seconds(1))
        session.receive(.applied(number: 1, index: 7), at: .seconds(1))
        let end = session.next(at: .seconds(1))
        #expect(end == .finish)
        #expect(session.report.applied == 1)
        #expect(session.report.lastIndex == 7)
    }

    @Test func `ends at once when its session is over, and says so`() throws {
        var session = TeacherSession(PublishPlan(try lesson(), speed: 1000), session: "x", answerTimeout: .seconds(9))
        expect("r/a/x/1/0", from: &session, at: .seconds(1))
        let over = Feedback.rejected(number: 1, order: 0, Rejection(code: .sessionOver, message: ""))
        // Other publishers of the author receive it too.
        session.receive(FeedbackMessage(session: "w", feedback: over), at: .seconds(1))
        expect("r/a/x/2/0", from: &session, at: .seconds(1))
        #expect(session.report.endedSession == nil)
        session.receive(FeedbackMessage(session: "x", feedback: over), at: .seconds(1))
        let end = session.next(at: .seconds(1))
        #expect(end == .finish)
        #expect(session.report.endedSession == "x")
        #expect(!session.report.isComplete && !session.report.hasNoResponse)
        #expect(session.report.unanswered == 2)
    }

    @Test func `takes nothing that is about another session for its own`() throws {
        var session = TeacherSession(PublishPlan(try lesson(), speed: 1000), session: "x", answerTimeout: .seconds(9))
        expect("r/a/x/1/0", from: &session, at: .seconds(1))
        for feedback: Feedback in [.applied(number: 1, index: 7), .missingRange(from: 1, to: 1)] {
            session.receive(FeedbackMessage(session: "w", feedback: feedback), at: .seconds(1))
        }
        #expect(session.report.applied == 0 && session.report.missing == 0)
        session.receive(FeedbackMessage(session: "x", feedback: .applied(number: 1, index: 7)), at: .seconds(1))
        session.receive(FeedbackMessage(session: nil, feedback: .missingRange(from: 1, to: 1)), at: .seconds(1))
        #expect(session.report.applied == 1 && session.report.missing == 1)
    }

    @Test func `feedback about anything at all never traps`() throws {
        var session = TeacherSession(PublishPlan(try lesson()), session: "x", answerTimeout: .seconds(9))
        _ = session.next(at: .seconds(2))
        let rejection = Rejection(code: .shardConflict, message: "")
        for feedback: Feedback in [
            .applied(number: .max, index: .max), .missingRange(from: .min, to: .max), .missingRange(from: 9, to: 1),
            .missingShards(number: .min, orders: [.min, .max]), .gaveUp(from: .min, to: .max),
            .rejected(number: nil, order: nil, rejection), .rejected(number: .max, order: .max, rejection),
        ] {
            session.receive(feedback, at: .seconds(2))
        }
        #expect(session.report.rejections == 2)
    }
}

@Suite("A teacher's sending rate") struct SendingRateTests {
    /// Sends at the highest allowed rate.
    private func times(of sizes: [Int], pausing: Duration = .zero) -> [(time: Duration, bytes: Int)] {
        var rate = SendingRate()
        var now = Duration.zero
        return sizes.map { bytes in
            now = max(now + pausing, rate.earliest)
            rate.take(bytes: bytes, at: now)
            return (now, bytes)
        }
    }

    @Test("is never above 200 messages or 1 MiB in any second", arguments: TestSeed.choose(5))
    func limits(seed: UInt64) {
        var random = LecternClient.SeededGenerator(seed: seed)
        let sizes = (0..<3000).map { _ in
            Int.random(in: 0..<10, using: &random) == 0
                ? Int.random(in: 1...262_144, using: &random) : Int.random(in: 20...4000, using: &random)
        }
        let sent = times(of: sizes)
        var first = 0
        var bytes = 0
        for (index, message) in sent.enumerated() {
            bytes += message.bytes
            while sent[first].time <= message.time - .seconds(1) {
                bytes -= sent[first].bytes
                first += 1
            }
            #expect(index - first + 1 <= 200)
            #expect(bytes <= 1 << 20)
        }
    }

    @Test func `lets small messages through at 180 a second, and large ones at 640 KiB`() {
        let small = times(of: Array(repeating: 100, count: 1820))
        #expect(small[1819].time <= .seconds(10.01))
        let large = times(of: Array(repeating: 65_536, count: 102))
        #expect(large[101].time <= .seconds(10.1))
    }

    @Test func `does not hold back who writes by hand`() {
        let sent = times(of: Array(repeating: 3000, count: 200), pausing: .milliseconds(20))
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1.time - $0.time == .milliseconds(20) })
    }
}
