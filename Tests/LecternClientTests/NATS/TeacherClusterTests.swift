import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite("A teacher over a cluster", .timeLimit(.minutes(3)))
struct TeacherClusterTests {
    /// One of the three is the stream's leader: no message is acknowledged until another one is elected.
    @Test("has every message stored once whichever server is killed", arguments: 0..<3)
    func killed(victim: Int) async throws {
        let lesson = try DemoLesson.make(seed: 5)
        let author = try #require(AuthorID("ann"))
        try await NATSTestServer.withCluster(of: 3) { servers in
            let survivor = try await Wire.connect(servers[(victim + 1) % 3])
            try await eventually("the cluster has a leader", within: .seconds(60), every: .milliseconds(250)) {
                try await JournalStream.create(over: survivor) { $0.replicas = 3 }
            }
            let arrivals = try await JournalStream.arrivals(over: survivor)
            var settings = NATSSettings(url: servers.map(\.url).joined(separator: ","), name: "teacher")
            settings.reconnectWait = .milliseconds(5) ... .milliseconds(20)
            let connection = NATSConnection(settings, logger: .silent)
            try await connection.connect()
            let teacher = Teacher(
                connection: connection, address: try Wire.address(), author: author, logger: .silent)
            async let publishing = teacher.publish(PublishPlan(lesson, speed: 1000), patience: .milliseconds(500))
            _ = try await arrivals.values(100)
            await servers[victim].kill()
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
}
