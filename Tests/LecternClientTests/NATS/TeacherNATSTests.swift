import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

@Suite("A teacher over NATS", .timeLimit(.minutes(1)))
struct TeacherNATSTests {
    private func withTeacher(
        _ server: NATSTestServer, ignoring: Set<Int> = [],
        _ body: @escaping @Sendable (Teacher, FakeService) async throws -> Void
    ) async throws {
        let room = try #require(ModelRoom(room: "r", isClearUndoable: false, tail: 10, seed: 1))
        let author = try #require(AuthorID("ann"))
        try await FakeService.with(server, room: room, ignoring: ignoring) { service, connection in
            let teacher = Teacher(
                connection: connection, address: service.address, author: author, logger: .silent)
            try await body(teacher, service)
        }
    }

    @Test("publishes a lesson under its headers, and hears of every operation")
    func lesson() async throws {
        try await NATSTestServer.with { server in
            try await withTeacher(server) { teacher, service in
                let lesson = try DemoLesson.make()
                let report = try await teacher.publish(PublishPlan(lesson, speed: 1000), session: "one")
                #expect(report.isComplete)
                #expect(report.applied == LessonStatistics(lesson).operations)
                #expect(report.published == lesson.messages.count)
                let expected = lesson.messages.map {
                    ["one", "lesson-7/ann/one/\($0.header.number)/\($0.header.shardOrder)"]
                }
                #expect(service.headers == expected)
            }
        }
    }

    @Test("goes on after the server was away, and sends what was not answered again")
    func restart() async throws {
        try await NATSTestServer.with { server in
            // The last message of ten is swallowed, and so are the first questions about it.
            try await withTeacher(server, ignoring: [10, 11]) { teacher, service in
                let lines = (1...10).map { "{\"n\":\($0),\"t\":0,\"d\":[{\"x\":1,\"y\":1}]}" }
                let lesson = try Lesson(ndjson: Array(lines.joined(separator: "\n").utf8))
                async let report = teacher.publish(PublishPlan(lesson), session: "two")
                for await count in service.arrivals where count == 10 { break }
                try await server.restart()
                let final = try await report
                #expect(final.isComplete)
                #expect(final.applied == 10)
                #expect(final.reconnects >= 1)
                #expect(final.resent >= 1)
            }
        }
    }
}
