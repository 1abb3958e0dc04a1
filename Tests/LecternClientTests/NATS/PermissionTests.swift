import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

@Suite("Clients whose user lacks a permission", .timeLimit(.minutes(1)))
struct PermissionTests {
    /// Runs a body as a user who may do anything but this.
    private func without(
        _ act: Denial.Act, _ subject: String, _ body: @Sendable (NATSConnection) async throws -> Void
    ) async throws {
        let kind = act == .publish ? "publish" : "subscribe"
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

    private func student(lacking act: Denial.Act, _ subject: String) async throws {
        let address = try Wire.address()
        try await without(act, "\(address).\(subject)") { nats in
            let student = Student(connection: nats, address: address, cohort: .main, logger: .silent)
            await #expect(throws: NATSError.notPermitted(Denial(act, "\(address).\(subject)"))) {
                _ = try await student.follow { _, _ in true }
            }
        }
    }

    @Test("who may not follow the head is told so")
    func head() async throws {
        let address = try Wire.address()
        try await without(.subscribe, "\(address).head") { nats in
            await #expect(throws: NATSError.notPermitted(Denial(.subscribe, "\(address).head"))) {
                _ = try await HeadFeed(connection: nats, address: address).follow { _, _ in true }
            }
        }
    }

    @Test(
        "a teacher who may not publish, or not hear the answers, is told so",
        arguments: [(Denial.Act.publish, "in.ann"), (.subscribe, "feedback.ann")])
    func teacher(act: Denial.Act, subject: String) async throws {
        let address = try Wire.address()
        let author = try #require(AuthorID("ann"))
        try await without(act, "\(address).\(subject)") { nats in
            let teacher = Teacher(connection: nats, address: address, author: author, logger: .silent)
            let plan = PublishPlan(try DemoLesson.make(), speed: 1000)
            await #expect(throws: TeacherError.nats(.notPermitted(Denial(act, "\(address).\(subject)")))) {
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
            #expect(report.denial == Denial(.publish, "\(address).clock.main"))
        }
    }

    @Test("who may not ask for rooms is told so, not that nobody answers")
    func rooms() async throws {
        try await without(.publish, "ink.rooms") { nats in
            await #expect(throws: RoomDirectoryError.nats(.notPermitted(Denial(.publish, "ink.rooms")))) {
                _ = try await RoomDirectory(connection: nats, root: "ink").rooms()
            }
        }
    }
}
