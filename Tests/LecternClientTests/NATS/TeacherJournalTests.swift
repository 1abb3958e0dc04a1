import Foundation
import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

@Suite("A teacher over JetStream", .timeLimit(.minutes(2)))
struct TeacherJournalTests {
    private let lesson: Lesson
    private let author: AuthorID

    init() throws {
        lesson = try DemoLesson.make(seed: 5)
        author = try #require(AuthorID("ann"))
    }

    /// Publishes the lesson as fast as it may go, while something happens to the server.
    private func publish(
        to server: NATSTestServer, outbox: OutboxFile? = nil, patience: Duration = .milliseconds(500),
        _ events: @escaping @Sendable (NATSTestServer) async throws -> Void
    ) async throws -> TeacherReport {
        let connection = NATSConnection(NATSSettings(server), logger: .silent)
        try await connection.connect()
        let teacher = Teacher(
            connection: connection, address: try Wire.address(), author: author, logger: .silent)
        let trouble = Task { try await events(server) }
        let report = try await teacher.publish(PublishPlan(lesson, speed: 1000), outbox: outbox, patience: patience)
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

    private func withJournal(
        _ configure: @Sendable (inout StreamConfiguration) -> Void = { _ in },
        _ body: @Sendable (NATSTestServer) async throws -> Void
    ) async throws {
        try await NATSTestServer.with(jetStream: true) { server in
            try await NATSConnection.with(server) { try await JournalStream.create(over: $0, configure) }
            try await body(server)
        }
    }

    @Test("has every message acknowledged, and stored once")
    func undisturbed() async throws {
        try await withJournal { server in
            let report = try await publish(to: server) { _ in }
            #expect(report.isJournalled && report.hasArrived)
            #expect(report.stored == lesson.messages.count)
            #expect(report.resent == 0)
            try await expectLesson(on: server)
        }
    }

    @Test("has every message stored once when the server is killed and started again")
    func killed() async throws {
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

    @Test("has every message stored once when the server stands still for 3 s")
    func paused() async throws {
        try await withJournal { server in
            let report = try await publish(to: server) { server in
                try await NATSConnection.with(server) { connection in
                    _ = try await JournalStream.arrivals(over: connection).values(100)
                    await server.pause()
                    // The server's own time, which no test can hold.
                    try await Task.sleep(for: .seconds(3))
                    await server.resume()
                }
            }
            #expect(report.hasArrived)
            try await expectLesson(on: server)
        }
    }

    @Test("waits for a stream that is not there yet, and then publishes in order")
    func absent() async throws {
        try await NATSTestServer.with(jetStream: true) { server in
            let report = try await publish(to: server, patience: .seconds(3)) { server in
                try await NATSConnection.with(server) { connection in
                    try await Task.sleep(for: .seconds(1))
                    try await JournalStream.create(over: connection)
                }
            }
            #expect(report.hasArrived)
            #expect(report.resent >= 1)
            try await expectLesson(on: server)
        }
    }

    @Test("goes on when a full stream has room again")
    func full() async throws {
        let small: @Sendable (inout StreamConfiguration) -> Void = {
            $0.maxMessages = 100
            $0.maxAge = .seconds(1)
            $0.duplicateWindow = .seconds(1)
        }
        try await withJournal(small) { server in
            let report = try await publish(to: server) { _ in }
            #expect(report.hasArrived)
            #expect(report.stored == lesson.messages.count)
            #expect(report.refusals > 0)
            #expect(report.refusal == nil)
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
                            to: server,
                            outbox: OutboxFile(path: path, address: try Wire.address(), author: author)
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
