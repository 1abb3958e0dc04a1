import LecternClient
import LecternServer
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite struct LessonTests {
    @Test func `a lesson with losses and disorder reaches a student whole`() async throws {
        let seed = TestSeed.choose()
        try await RunningService.with { service in
            let lesson = try DemoLesson.make()
            let address = try service.address("lesson")
            guard let author = AuthorID("teacher") else { throw Unexpected("no author") }
            try service.client.publish(
                Array(#"{"m":10000000}"#.utf8), to: address.subject(.clock(.main)))
            let teacher = try await service.connect()
            let plan = PublishPlan(
                lesson, speed: 60, trial: PublishPlan.Trial(lose: 0.05, shuffle: 4, seed: seed))
            let report = try await Teacher(
                connection: teacher, address: address, author: author, logger: .silent
            ).publish(plan)
            #expect(report.isComplete, "\(report)")
            #expect(report.withheld > 0)
            let student = try await service.connect()
            let session = try await Student(
                connection: student, address: address, cohort: .main, logger: .silent
            ).follow(for: .seconds(10)) { event, session in session.board.index < report.lastIndex }
            #expect(session.board.index == report.lastIndex)
            #expect(session.report.isSound)
            #expect(session.board.digest == fold(lesson))
            for connection in [teacher, student] { await connection.close() }
        }
    }

    /// The digest of a lesson that nothing happens to.
    private func fold(_ lesson: Lesson) -> BoardDigest {
        var visible: [UInt64] = []
        var done: [UInt64] = []
        var undone: [UInt64] = []
        var index: UInt64 = 0
        var last: Int64?
        for message in lesson.messages where message.header.number != last {
            last = message.header.number
            index += 1
            switch message.header.action {
            case .draw:
                visible.append(index)
                done.append(index)
                undone = []
            case .undo:
                guard let stroke = done.popLast() else { continue }
                undone.append(stroke)
                visible.removeAll { $0 == stroke }
            case .redo:
                guard let stroke = undone.popLast() else { continue }
                done.append(stroke)
                visible = (visible + [stroke]).sorted()
            case .clear: (visible, done, undone) = ([], [], [])
            }
        }
        return visible.reduce(into: BoardDigest.empty) { $0.append(index: $1) }
    }
}
