import Foundation
import LecternClient
import LecternDemo
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite("A teacher over NATS", .timeLimit(.minutes(4))) struct TeacherNATSTests {
    private func withTeacher(
        _ server: NATSTestServer, ignoring: Set<Int> = [],
        _ body: @escaping @Sendable (Teacher, FakeService) async throws -> Void
    ) async throws {
        let room = try #require(ModelRoom(room: "r", isClearUndoable: false, tail: 10, seed: 1))
        let author = try #require(AuthorID("ann"))
        try await FakeService.with(server, room: room, ignoring: ignoring) { service, connection in
            let teacher = Teacher(connection: connection, address: service.address, author: author, logger: .silent)
            try await body(teacher, service)
        }
    }

    @Test func `publishes a lesson under its headers, and hears of every operation`() async throws {
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

    @Test func `goes on after the server was away, and sends what was not answered again`() async throws {
        try await NATSTestServer.with { server in
            // The service ignores the last of ten messages and its first repeat.
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

@Suite("A teacher over JetStream", .timeLimit(.minutes(4))) struct TeacherJournalTests {
    private let lesson: Lesson
    private let author: AuthorID

    init() throws {
        lesson = try DemoLesson.make(seed: 5)
        author = try #require(AuthorID("ann"))
    }

    /// Publishes the lesson at the highest rate during events on the server.
    private func publish(
        to server: NATSTestServer, outbox: OutboxFile? = nil,
        _ events: @escaping @Sendable (NATSTestServer) async throws -> Void
    ) async throws -> TeacherReport {
        let connection = NATSConnection(NATSSettings(server), logger: .silent)
        try await connection.connect()
        let teacher = Teacher(connection: connection, address: try Wire.address(), author: author, logger: .silent)
        let trouble = Task { try await events(server) }
        let report = try await teacher.publish(
            PublishPlan(lesson, speed: 1000), outbox: outbox, answerTimeout: .milliseconds(500))
        try await trouble.value
        await connection.close()
        return report
    }

    /// Expects every message of the lesson in the stream, once and in order.
    private func expectLesson(on server: NATSTestServer, sourceLocation: SourceLocation = #_sourceLocation) async throws
    {
        try await NATSConnection.with(server) { connection in
            let stored = try await JournalStream.read(over: connection)
            let isWhole = stored.map(\.bytes) == lesson.messages.map(\.bytes)
            #expect(isWhole, "\(stored.count) of \(lesson.messages.count)", sourceLocation: sourceLocation)
            #expect(Set(stored.map(\.messageID)).count == stored.count, sourceLocation: sourceLocation)
        }
    }

    private func withJournal(_ body: @Sendable (NATSTestServer) async throws -> Void) async throws {
        try await NATSTestServer.with(jetStream: true) { server in
            try await NATSConnection.with(server) { try await JournalStream.create(over: $0) }
            try await body(server)
        }
    }

    @Test func `has every message acknowledged, and stored once`() async throws {
        try await withJournal { server in
            let report = try await publish(to: server) { _ in }
            #expect(report.isJournalled && report.hasArrived)
            #expect(report.stored == lesson.messages.count)
            #expect(report.resent == 0)
            try await expectLesson(on: server)
        }
    }

    @Test func `has every message stored once when the server is killed and started again`() async throws {
        try await withJournal { server in
            let report = try await publish(to: server) { server in
                try await NATSConnection.with(server) { connection in
                    _ = try await JournalStream.arrivals(over: connection).values(100)
                    await server.kill()
                    try await server.restart()
                }
            }
            #expect(report.hasArrived)
            #expect(report.reconnects >= 1)
            try await expectLesson(on: server)
        }
    }

    @Test("ended and started again with its outbox, has every message stored once under one session")
    func restarted() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withJournal { server in
            try await NATSConnection.with(server) { observer in
                let arrivals = try await JournalStream.arrivals(over: observer)
                for run in 1...3 {
                    let publisher = Task {
                        try await publish(
                            to: server, outbox: OutboxFile(path: path, address: try Wire.address(), author: author)
                        ) { _ in }
                    }
                    if run < 3 {
                        _ = try await arrivals.values(run * 60)
                        publisher.cancel()
                    }
                    let report = try await publisher.value
                    #expect(report.hasArrived == (run == 3))
                    if run == 3 { #expect(report.stored == lesson.messages.count) }
                }
            }
            try await expectLesson(on: server)
        }
    }
}

@Suite("A teacher over a cluster", .timeLimit(.minutes(3))) struct TeacherClusterTests {
    /// Without the stream's leader no message is acknowledged until the next one is elected.
    @Test func `has every message stored once if the leader is killed`() async throws {
        let lesson = try DemoLesson.make(seed: 5)
        let author = try #require(AuthorID("ann"))
        try await NATSTestServer.withCluster(of: 3) { servers in
            let leader = try await leaderOfNewStream(servers)
            let survivor = try await Wire.connect(servers[(leader + 1) % 3])
            let arrivals = try await JournalStream.arrivals(over: survivor)
            var settings = NATSSettings(url: servers.map(\.url).joined(separator: ","), name: "teacher")
            settings.reconnectWait = .milliseconds(5) ... .milliseconds(20)
            let connection = NATSConnection(settings, logger: .silent)
            try await connection.connect()
            let teacher = Teacher(connection: connection, address: try Wire.address(), author: author, logger: .silent)
            async let publishing = teacher.publish(PublishPlan(lesson, speed: 1000), answerTimeout: .milliseconds(500))
            _ = try await arrivals.values(100)
            await servers[leader].kill()
            let report = try await publishing
            #expect(report.hasArrived)
            #expect(report.stored == lesson.messages.count)
            let stored = try await JournalStream.read(over: survivor)
            #expect(Set(stored.map(\.messageID)).count == stored.count)
            #expect(Set(stored.map(\.bytes)) == Set(lesson.messages.map(\.bytes)))
            #expect(stored.count == lesson.messages.count)
            await connection.close()
            await survivor.close()
        }
    }

    /// Creates the stream with three replicas.
    /// - Returns: the position of its leader.
    private func leaderOfNewStream(_ servers: [NATSTestServer]) async throws -> Int {
        let connection = try await Wire.connect(servers[0])
        try await eventually("the cluster has a leader", every: .milliseconds(250)) {
            try await JournalStream.create(over: connection) { $0.replicas = 3 }
        }
        let leader = try await eventually("the stream has a leader") {
            let reply = try await connection.request(to: "$JS.API.STREAM.INFO.\(JournalStream.name)")
            let text = String(decoding: reply.payload, as: UTF8.self).filter { !$0.isWhitespace }
            return servers.indices.first { text.contains(#""leader":"node\#($0)""#) }
        }
        await connection.close()
        return leader
    }
}
