import LecternClient
import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite struct CrowdTests {
    @Test func `students who join at any moment of a lesson end with the same board`() async throws {
        try await RunningService.with { service in
            let lesson = try DemoLesson.make()
            let address = try service.address("crowd")
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
                    .publish(PublishPlan(lesson, speed: speed))
            }
            var random = TestSupport.SeededGenerator(seed: TestSeed.choose())
            let length = lesson.duration / .seconds(speed)
            let delays = (0..<60).map { _ in Duration.seconds(Double.random(in: 0..<length, using: &random)) }
            let last = UInt64(LessonStatistics(lesson).operations)
            let boards = try await withThrowingTaskGroup(of: StudentSession.self) { group in
                for delay in delays {
                    group.addTask {
                        // Joining at a random moment is what is tried here.
                        try await Task.sleep(for: delay)
                        return try await Student(
                            connection: audience, address: address, cohort: .main, logger: .silent
                        ).follow(for: .seconds(20)) { _, session in session.board.index < last }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            clock.cancel()
            let report = try await playing.value
            #expect(report.isComplete && report.lastIndex == last)
            #expect(boards.allSatisfy { $0.board.index == last && $0.report.isSound && $0.report.gaps == 0 })
            #expect(Set(boards.map(\.board.digest)).count == 1)
            for connection in [teacher, audience, video] { await connection.close() }
        }
    }
}
