import LecternClient
import LecternDemo
import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct LessonTests {
    @Test func `students who join at any moment of a lesson with losses and disorder end with its board`() async throws
    {
        let seed = TestSeed.choose()
        try await RunningService.withRoom("crowd") { service, address, _ in
            let lesson = try DemoLesson.make()
            guard let author = AuthorID("teacher") else { throw Unexpected("no author") }
            let teacher = try await service.connect()
            let audience = try await service.connect()
            let video = try await service.connect()
            let speed = 40.0
            let clock = Task {
                await VideoClock(
                    connection: video, address: address, cohort: .main,
                    timeline: VideoTimeline(latency: .seconds(10), speed: speed),
                    interval: VideoClock.interval(at: speed), logger: .silent
                ).run(firstNumber: 1)
            }
            let playing = Task {
                try await Teacher(connection: teacher, address: address, author: author, logger: .silent)
                    .publish(
                        PublishPlan(
                            lesson, speed: speed, faults: PublishPlan.Faults(lose: 0.05, shuffle: 4, seed: seed)))
            }
            var random = TestSupport.SeededGenerator(seed: seed)
            let length = lesson.duration / .seconds(speed)
            let delays = (0..<60).map { _ in Duration.seconds(Double.random(in: 0..<length, using: &random)) }
            let last = UInt64(LessonStatistics(lesson).operations)
            let boards = try await withThrowingTaskGroup(of: StudentSession.self) { group in
                for delay in delays {
                    group.addTask {
                        // The random moment is what is tested here.
                        try await Task.sleep(for: delay)
                        return try await Student(connection: audience, address: address, cohort: .main, logger: .silent)
                            .follow(for: .seconds(20)) { _, session in session.board.index < last }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            clock.cancel()
            let report = try await playing.value
            #expect(report.isComplete && report.lastIndex == last && report.withheld > 0, "\(report)")
            #expect(boards.allSatisfy { $0.board.index == last && $0.report.isSound && $0.report.gaps == 0 })
            #expect(Set(boards.map(\.board.digest)) == [fold(lesson)])
            for connection in [teacher, audience, video] { await connection.close() }
        }
    }

    /// The digest of an undisturbed lesson.
    private func fold(_ lesson: Lesson) -> BoardDigest {
        var board = ModelBoard(HistoryConfiguration())
        var index: UInt64 = 0
        var last: Int64?
        for message in lesson.messages where message.header.number != last {
            last = message.header.number
            index += 1
            switch message.header.action {
            case .draw: board.draw(index, by: "teacher")
            case .undo: _ = board.undo(by: "teacher")
            case .redo: _ = board.redo(by: "teacher")
            case .clear: board.clear(index)
            case .turn, .arrange, .paper, .remove: Issue.record("the lesson has one page")
            }
        }
        return BoardDigest(value: board.digest)
    }
}

@Suite struct FeedbackTests {
    private func feedback(_ inbox: Inbox) async throws -> Feedback {
        try Feedback(decoding: try await inbox.next().payload)
    }

    @Test func `an author hears of applied, missing, healed and rejected operations`() async throws {
        try await RunningService.withRoom("talk") { service, address, hand in
            let inbox = try await Inbox(service.client, address.subject(.feedback(hand.author)))
            try hand.publish(Hand.stroke(1, at: 0))
            #expect(try await feedback(inbox) == .applied(number: 1, index: 1))
            try hand.publish(Hand.stroke(3, at: 0))
            #expect(try await feedback(inbox) == .missingRange(from: 2, to: 2))
            try hand.publish(Hand.stroke(2, at: 0))
            #expect(try await feedback(inbox) == .applied(number: 2, index: 2))
            #expect(try await feedback(inbox) == .applied(number: 3, index: 3))
            try hand.publish(#"{"n":4,"e":99,"d":[]}"#)
            guard case .rejected(4, _, let rejection) = try await feedback(inbox) else {
                throw Unexpected("no rejection")
            }
            #expect(rejection.code == .unknownElement && rejection.field == "e")
            try hand.publish(Hand.stroke(1, at: 0))
            #expect(try await feedback(inbox) == .applied(number: 1, index: 1))
        }
    }

    @Test func `feedback names the session, and a session is over when its author begins another`() async throws {
        try await RunningService.withRoom("sessions") { service, address, _ in
            let author = try #require(AuthorID("ann"))
            let inbox = try await Inbox(service.client, address.subject(.feedback(author)))
            func send(_ number: Int, _ session: String) throws {
                try service.client.publish(
                    Array(Hand.stroke(number, at: 0).utf8), to: address.subject(.input(author)),
                    headers: [HeaderName.session: session])
            }
            func told() async throws -> FeedbackMessage {
                try FeedbackMessage(decoding: try await inbox.next().payload)
            }
            try send(1, "a")
            #expect(try await told() == FeedbackMessage(session: "a", feedback: .applied(number: 1, index: 1)))
            try send(1, "b")
            #expect(try await told() == FeedbackMessage(session: "b", feedback: .applied(number: 1, index: 2)))
            try send(1, "a")
            #expect(try await told() == FeedbackMessage(session: "a", feedback: .applied(number: 1, index: 1)))
            try send(2, "a")
            let over = try await told()
            guard over.session == "a", case .rejected(2, 0, let rejection) = over.feedback else {
                throw Unexpected("\(over)")
            }
            #expect(rejection.code == .sessionOver)
        }
    }
}
