import LecternClient
import LecternDemo
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

@Suite("Clients whose user lacks a permission", .timeLimit(.minutes(1)))
struct PermissionTests {
    /// Runs a body as a user who lacks one permission.
    private func without(
        _ action: PermissionViolation.Action, _ subject: String, _ body: @Sendable (NATSConnection) async throws -> Void
    ) async throws {
        let kind = action == .publish ? "publish" : "subscribe"
        let configuration = """
            accounts: { CLASS: { users: [
              { user: ada, password: ada, permissions: { \(kind): { deny: "\(subject)" } } } ] } }
            """
        try await NATSTestServer.with(configuration: configuration) { server in
            let nats = NATSConnection(NATSSettings(server, user: "ada"), logger: .silent)
            try await nats.connect(within: .seconds(30))
            try await body(nats)
            await nats.close()
        }
    }

    @Test("a student is told what it may not do, and does not go on asking", arguments: ["out.main", "mark.main"])
    func studentSubscribing(subject: String) async throws {
        try await student(lacking: .subscribe, subject)
    }

    @Test("a student who may not join is told so")
    func studentJoining() async throws {
        try await student(lacking: .publish, "join.main")
    }

    private func student(lacking action: PermissionViolation.Action, _ subject: String) async throws {
        let address = try Wire.address()
        try await without(action, "\(address).\(subject)") { nats in
            let student = Student(connection: nats, address: address, cohort: .main, logger: .silent)
            await #expect(throws: NATSError.notPermitted(PermissionViolation(action, "\(address).\(subject)"))) {
                _ = try await student.follow { _, _ in true }
            }
        }
    }

    @Test(
        "who may not follow the head, or not join it, is told so",
        arguments: [(PermissionViolation.Action.subscribe, "head"), (.publish, "join-head")])
    func head(action: PermissionViolation.Action, subject: String) async throws {
        let address = try Wire.address()
        try await without(action, "\(address).\(subject)") { nats in
            let monitor = Student(connection: nats, address: address, feed: .head, logger: .silent)
            await #expect(throws: NATSError.notPermitted(PermissionViolation(action, "\(address).\(subject)"))) {
                _ = try await monitor.follow { _, _ in true }
            }
        }
    }

    @Test("a grant of every cohort's joins does not open the head's")
    func joinsOfCohorts() async throws {
        let address = try Wire.address()
        let configuration = """
            accounts: { CLASS: { users: [
              { user: ada, password: ada, permissions: { publish: { allow: ["ink.*.*.join.*", "ink.*.*.image.*"] } } } ] } }
            """
        try await NATSTestServer.with(configuration: configuration) { server in
            let nats = NATSConnection(NATSSettings(server, user: "ada"), logger: .silent)
            try await nats.connect(within: .seconds(30))
            for subject in [RoomSubject.joinHead, .imageHead].map(address.subject) {
                await #expect(throws: NATSError.notPermitted(PermissionViolation(.publish, subject))) {
                    _ = try await nats.request(Array("{}".utf8), to: subject)
                }
            }
            await #expect(throws: NATSError.noResponders) {
                _ = try await nats.request(Array("{}".utf8), to: address.subject(.join(.main)))
            }
            await nats.close()
        }
    }

    @Test(
        "a teacher who may not publish, or not hear the answers, is told so",
        arguments: [(PermissionViolation.Action.publish, "in.ann"), (.subscribe, "feedback.ann")])
    func teacher(action: PermissionViolation.Action, subject: String) async throws {
        let address = try Wire.address()
        let author = try #require(AuthorID("ann"))
        try await without(action, "\(address).\(subject)") { nats in
            let teacher = Teacher(connection: nats, address: address, author: author, logger: .silent)
            let plan = PublishPlan(try DemoLesson.make(), speed: 1000)
            await #expect(
                throws: TeacherError.nats(.notPermitted(PermissionViolation(action, "\(address).\(subject)")))
            ) {
                _ = try await teacher.publish(plan)
            }
        }
    }

    @Test("a video clock whose samples are refused ends and says so")
    func clock() async throws {
        let address = try Wire.address()
        try await without(.publish, "\(address).clock.main") { nats in
            let clock = VideoClock(
                connection: nats, address: address, cohort: .main, timeline: VideoTimeline(),
                interval: .milliseconds(20), logger: .silent)
            let report = await clock.run(firstNumber: 1)
            #expect(report.violation == PermissionViolation(.publish, "\(address).clock.main"))
        }
    }

    @Test("who may not ask for rooms is told so, not that nobody answers")
    func rooms() async throws {
        try await without(.publish, "ink.rooms") { nats in
            await #expect(throws: RoomDirectoryError.nats(.notPermitted(PermissionViolation(.publish, "ink.rooms")))) {
                _ = try await RoomDirectory(connection: nats, root: "ink").rooms()
            }
        }
    }
}
