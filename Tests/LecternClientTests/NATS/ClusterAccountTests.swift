import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite("The users of config/cluster", .timeLimit(.minutes(1)))
struct ClusterAccountTests {
    /// The example's accounts, with the users' names for passwords.
    private func accounts() throws -> String {
        let text = try String(
            contentsOfFile: PackageRoot.path(to: "config/cluster/accounts.conf"), encoding: .utf8)
        return ["service": "SERVICE", "ann": "TEACHER", "student": "STUDENT", "clock": "CLOCK", "operator": "OPERATOR"]
            .reduce(text) { $0.replacing("$INK_\($1.value)_PASSWORD", with: "\"\($1.key)\"") }
    }

    private func connect(_ server: NATSTestServer, as user: String) async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(server, user: user), logger: .silent)
        try await connection.connect()
        return connection
    }

    /// What each user needs, after `ink.0.r.`.
    private static let needs = [
        "ann": ["in.ann"], "student": ["join.main", "image.main"], "clock": ["clock.main"],
        "operator": ["info", "ctl"],
    ]
    private static let all = [
        "in.ann", "in.bob", "join.main", "join.hls", "image.main", "clock.main", "clock.hls", "ctl", "info", "out.main",
        "mark.main", "head", "feedback.ann", "checkpoint",
    ]

    @Test("Each publishes what it has to, and nothing else", arguments: needs.keys.sorted())
    func publishing(user: String) async throws {
        try await NATSTestServer.with(jetStream: true, configuration: try accounts()) { server in
            let service = try await connect(server, as: "service")
            let seen = Recorder<String>()
            try service.subscribe("ink.>") { seen.append($0.subject) }
            try await service.flush()
            let connection = try await connect(server, as: user)
            for subject in Self.all {
                try connection.publish([], to: "ink.0.r.\(subject)")
                try await connection.flush()
            }
            await #expect(throws: JetStreamError.self) {
                _ = try await JetStream(connection, timeout: .milliseconds(200)).streamInfo("INK_LOG_0")
            }
            try await service.flush()
            let allowed = Self.all.filter { (Self.needs[user] ?? []).contains($0) }
            #expect(try await seen.values(allowed.count) == allowed.map { "ink.0.r.\($0)" })
            await connection.close()
            await service.close()
        }
    }

    @Test("The service makes streams, reads them, and hears its own requests answered")
    func service() async throws {
        try await NATSTestServer.with(jetStream: true, configuration: try accounts()) { server in
            let service = try await connect(server, as: "service")
            try await JournalStream.create(over: service)
            let teacher = try await connect(server, as: "ann")
            let stored = try await JetStream(teacher).publish([1], to: "ink.0.r.in.ann")
            #expect(stored.sequence == 1)
            #expect(try await JournalStream.read(over: service).map(\.bytes) == [[1]])
            #expect(try await JetStream(service).message(JournalStream.name, 1)?.payload == [1])
            await teacher.close()
            await service.close()
        }
    }

    @Test("A student hears what is released to the cohort, and nothing that is ahead of its video")
    func student() async throws {
        try await NATSTestServer.with(jetStream: true, configuration: try accounts()) { server in
            let student = try await connect(server, as: "student")
            let seen = Recorder<String>()
            for subject in [
                "ink.0.r.out.main", "ink.0.r.out.hls", "ink.0.r.head", "ink.0.r.in.ann", "_INBOX.x.delivery.1",
            ] {
                try student.subscribe(subject) { seen.append($0.subject) }
                try await student.flush()
            }
            let service = try await connect(server, as: "service")
            for subject in ["in.ann", "head", "out.hls", "out.main"] {
                try service.publish([], to: "ink.0.r.\(subject)")
            }
            try service.publish([], to: "_INBOX.x.delivery.1")
            try service.publish([], to: "ink.0.r.out.main")
            #expect(try await seen.values(2) == ["ink.0.r.out.main", "ink.0.r.out.main"])
            await student.close()
            await service.close()
        }
    }
}
