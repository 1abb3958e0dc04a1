import Foundation
import LecternClient
import LecternDemo
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@Suite("Clients whose user lacks a permission", .timeLimit(.minutes(4))) struct PermissionTests {
    /// Runs a body as a user who lacks one permission.
    private func without(
        _ action: PermissionViolation.Action, _ subject: String, _ body: @Sendable (NATSConnection) async throws -> Void
    ) async throws {
        let kind = action == .publish ? "publish" : "subscribe"
        try await NATSTestServer.withUser(permissions: #"\#(kind): { deny: "\#(subject)" }"#, body)
    }

    @Test(
        "who may not follow the cohort or the head, or not join it, is told so, and does not go on asking",
        arguments: [
            (RoomFeed.cohort(.main), PermissionViolation.Action.subscribe, "out.main"),
            (.cohort(.main), .subscribe, "mark.main"), (.cohort(.main), .publish, "join.main"),
            (.head, .subscribe, "head"), (.head, .publish, "join-head"),
        ])
    func student(feed: RoomFeed, action: PermissionViolation.Action, subject: String) async throws {
        let address = try Wire.address()
        try await without(action, "\(address).\(subject)") { nats in
            let student = Student(connection: nats, address: address, feed: feed, logger: .silent)
            await #expect(throws: NATSError.notPermitted(PermissionViolation(action, "\(address).\(subject)"))) {
                _ = try await student.follow { _, _ in true }
            }
        }
    }

    @Test func `a grant of every cohort's joins does not open the head's`() async throws {
        let address = try Wire.address()
        let permissions = #"publish: { allow: ["ink.*.*.join.*", "ink.*.*.image.*"] }"#
        try await NATSTestServer.withUser(permissions: permissions) { nats in
            for subject in [RoomSubject.joinHead, .imageHead].map(address.subject) {
                await #expect(throws: NATSError.notPermitted(PermissionViolation(.publish, subject))) {
                    _ = try await nats.request(Array("{}".utf8), to: subject)
                }
            }
            await #expect(throws: NATSError.noResponders) {
                _ = try await nats.request(Array("{}".utf8), to: address.subject(.join(.main)))
            }
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
            ) { _ = try await teacher.publish(plan) }
        }
    }

    @Test func `a video clock whose samples are refused ends and says so`() async throws {
        let address = try Wire.address()
        try await without(.publish, "\(address).clock.main") { nats in
            let clock = VideoClock(
                connection: nats, address: address, cohort: .main, timeline: VideoTimeline(),
                interval: .milliseconds(20), logger: .silent)
            let report = await clock.run(firstNumber: 1)
            #expect(report.violation == PermissionViolation(.publish, "\(address).clock.main"))
        }
    }

    @Test func `a client without permission to list rooms is told so, not that nobody answers`() async throws {
        try await without(.publish, "ink.rooms") { nats in
            await #expect(throws: RoomDirectoryError.nats(.notPermitted(PermissionViolation(.publish, "ink.rooms")))) {
                _ = try await RoomDirectory(connection: nats, root: "ink").rooms()
            }
        }
    }
}

@Suite("The users of config/cluster", .timeLimit(.minutes(4))) struct ClusterAccountTests {
    /// The example's accounts, with the users' names for passwords unless another is given.
    private func accounts(password: String? = nil) throws -> String {
        let text = try String(contentsOfFile: PackageRoot.path(to: "config/cluster/accounts.conf"), encoding: .utf8)
        return Self.variables.reduce(text) {
            $0.replacing("$INK_\($1.value)_PASSWORD", with: "'\(password ?? $1.key)'")
        }
    }

    private static let variables = [
        "service": "SERVICE", "gateway": "GATEWAY", "ann": "TEACHER", "sam": "STUDENT", "clock": "CLOCK",
        "operator": "OPERATOR",
    ]

    /// Connects with the inbox prefix that the user's program uses.
    private func connect(_ server: NATSTestServer, as user: String) async throws -> NATSConnection {
        var settings = NATSSettings(server, user: user)
        settings.inboxPrefix = user == "service" ? "_LECTERN" : settings.usualInboxPrefix
        let connection = NATSConnection(settings, logger: .silent)
        try await connection.connect()
        return connection
    }

    // MARK: Subjects

    private static let rooms = ["ink.2.physics", "ink.5.chemistry"]
    private static let kinds = [
        "in.ann", "in.bob", "feedback.ann", "feedback.bob", "clock.main", "clock.hls", "out.main", "out.hls",
        "mark.main",
        "mark.hls", "head", "join.main", "join.hls", "join-head", "image.main", "image.hls", "image-head",
        "replay.main",
        "replay.hls", "replay-head", "ctl",
        "info",
        "checkpoint", "checkpoint.1", "asset.main", "asset.hls", "asset-head", "asset-in", "wet-in.ann", "wet.main",
        "wet-head",
    ]
    private static let inboxes =
        variables.keys.sorted().map { "_INBOX.\($0).x.1" } + ["_INBOX.x.1", "_INBOX.x.delivery.1", "_INBOX.bob.x.1"]
    private static let service = ["_LECTERN.x.1", "_LECTERN.x.delivery.1"]
    private static let jetStream =
        [
            "INFO", "STREAM.NAMES", "STREAM.INFO.INK_LOG_0", "STREAM.CREATE.INK_LOG_0", "STREAM.UPDATE.INK_LOG_0",
            "STREAM.DELETE.INK_LOG_0", "STREAM.PURGE.INK_LOG_0", "STREAM.MSG.GET.INK_LOG_0",
            "STREAM.MSG.DELETE.INK_LOG_0",
            "STREAM.SNAPSHOT.INK_LOG_0", "STREAM.RESTORE.INK_LOG_0", "DIRECT.GET.INK_LOG_0",
            "CONSUMER.CREATE.INK_LOG_0",
            "CONSUMER.DURABLE.CREATE.INK_LOG_0.c", "CONSUMER.MSG.NEXT.INK_LOG_0.c", "CONSUMER.LIST.INK_LOG_0",
            "CONSUMER.DELETE.INK_LOG_0.c",
        ].map { "$JS.API.\($0)" } + ["$JS.FC.INK_LOG_0.c.x", "$JS.ACK.INK_LOG_0.c.1.1.1.1.0"]
    private static let other = [
        "ink", "ink.rooms", "ink.members.a", "ink.uploads.a.1", "ink.audit", "ink.audit.physics",
        "ink.command.operator",
        "ink.command.gateway", "ink.revocations", "ink.revocations.0f", "ink.revoked", "ink.erased",
        "other.0.physics.in.ann", "$SYS.REQ.SERVER.PING",
        "$SYS.REQ.USER.INFO",
    ]
    private static let wildcards = [
        ">", "*.>", "ink.>", "ink.*.*.out.*", "ink.*.*.out.main", "ink.2.physics.>", "ink.2.physics.out.*",
        "ink.2.physics.*", "ink.*.*.head", "ink.*.*.in.*", "_INBOX.>", "_INBOX.*.*", "_INBOX.*.>", "_LECTERN.>",
        "_LECTERN.*.*", "$JS.>", "$JS.API.>", "$JS.EVENT.ADVISORY.>", "$SYS.>",
    ]
    private static let subjects =
        rooms.flatMap { room in kinds.map { "\(room).\($0)" } } + inboxes + service + jetStream + other

    // MARK: Permissions

    private struct Grant {
        var publish: [String]
        var subscribe: [String]
    }

    private static let grants: [String: Grant] = [
        "ann": Grant(
            publish: [
                "ink.2.physics.in.ann", "ink.2.physics.info", "ink.2.physics.join-head", "ink.2.physics.image-head",
                "ink.2.physics.replay-head", "ink.2.physics.wet-in.ann", "ink.2.physics.asset-head",
                "ink.2.physics.asset-in", "ink.uploads.a.1",
            ],
            subscribe: [
                "ink.2.physics.feedback.ann", "ink.2.physics.head", "ink.2.physics.wet-head", "_INBOX.ann.x.1",
            ]),
        "sam": Grant(
            publish: [
                "ink.2.physics.join.main", "ink.2.physics.image.main", "ink.2.physics.replay.main",
                "ink.2.physics.asset.main",
            ],
            subscribe: [
                "ink.2.physics.out.main", "ink.2.physics.mark.main", "ink.2.physics.wet.main", "_INBOX.sam.x.1",
            ]), "clock": Grant(publish: ["ink.2.physics.clock.main"], subscribe: ["_INBOX.clock.x.1"]),
        "operator": Grant(
            publish: rooms.map { "\($0).info" } + ["ink.rooms", "ink.audit", "ink.command.operator"],
            subscribe: ["_INBOX.operator.x.1"]),
        "gateway": Grant(
            publish: rooms.flatMap { room in
                [
                    "info", "image.main", "image.hls", "image-head", "join.main", "join.hls", "join-head",
                    "replay.main",
                    "replay.hls", "replay-head", "in.ann",
                    "in.bob", "wet-in.ann", "clock.main", "clock.hls", "asset.main", "asset.hls", "asset-head",
                    "asset-in",
                ].map { "\(room).\($0)" }
            } + ["ink.rooms", "ink.uploads.a.1", "ink.command.gateway", "ink.revocations"],
            subscribe: rooms.flatMap { room in
                [
                    "out.main", "out.hls", "mark.main", "mark.hls", "head", "feedback.ann", "feedback.bob",
                    "wet.main", "wet-head",
                ].map { "\(room).\($0)" }
            } + ["ink.revoked", "ink.erased", "_INBOX.gateway.x.1"] + [
                "ink.*.*.out.*", "ink.*.*.out.main", "ink.2.physics.out.*", "ink.*.*.head",
            ]),
        "service": Grant(
            publish: subjects.filter { $0.hasPrefix("ink.") || $0.hasPrefix("_INBOX.") }
                + [
                    "INFO", "STREAM.INFO.INK_LOG_0", "STREAM.CREATE.INK_LOG_0", "STREAM.UPDATE.INK_LOG_0",
                    "STREAM.MSG.GET.INK_LOG_0",
                    "STREAM.MSG.DELETE.INK_LOG_0", "STREAM.PURGE.INK_LOG_0", "CONSUMER.CREATE.INK_LOG_0",
                    "CONSUMER.DELETE.INK_LOG_0.c",
                ].map { "$JS.API.\($0)" } + ["$JS.FC.INK_LOG_0.c.x"],
            subscribe: (subjects + wildcards).filter { $0.hasPrefix("ink.") || $0.hasPrefix("_LECTERN.") }),
    ]

    /// Tries each subject, and returns the denied ones.
    private func denied(
        _ action: PermissionViolation.Action, _ subjects: [String], over connection: NATSConnection
    ) async throws -> Set<String> {
        let violations = Recorder<PermissionViolation>()
        let observation = connection.onPermissionViolation { violations.append($0) }
        defer { observation.cancel() }
        // Everybody is denied the last subject, and violations come in order.
        for subject in subjects + ["nobody.may"] {
            switch action {
            case .publish: try connection.publish([], to: subject)
            case .subscribe: try connection.subscribe(subject) { _ in }
            }
        }
        try await eventually(
            "the last is refused", is: violations.values.contains(PermissionViolation(action, "nobody.may")))
        return Set(violations.values.filter { $0.action == action }.map(\.subject)).subtracting(["nobody.may"])
    }

    @Test("Each may do what it has to, and is refused everything else", arguments: grants.keys.sorted())
    func everything(user: String) async throws {
        let grant = try #require(Self.grants[user])
        try await NATSTestServer.with(jetStream: true, configuration: try accounts()) { server in
            let connection = try await connect(server, as: user)
            let published = try await denied(.publish, Self.subjects, over: connection)
            #expect(published.symmetricDifference(Set(Self.subjects).subtracting(grant.publish)) == [])
            let patterns = Self.subjects + Self.wildcards
            let subscribed = try await denied(.subscribe, patterns, over: connection)
            #expect(subscribed.symmetricDifference(Set(patterns).subtracting(grant.subscribe)) == [])
            await connection.close()
        }
    }

    @Test func `Passwords with any characters work, in a URL and beside it`() async throws {
        let password = "50% of:it,@/%41#${}\\n\"ä\t"
        try await NATSTestServer.with(configuration: try accounts(password: password)) { server in
            var beside = NATSSettings(url: server.url)
            beside.user = "sam"
            beside.password = password
            beside.inboxPrefix = beside.usualInboxPrefix
            let allowed = CharacterSet.alphanumerics
            let escaped = try #require(password.addingPercentEncoding(withAllowedCharacters: allowed))
            var within = NATSSettings(url: "nats://sam:\(escaped)@127.0.0.1:\(server.port)")
            within.inboxPrefix = within.usualInboxPrefix
            for settings in [beside, within] {
                #expect(settings.inboxPrefix == "_INBOX.sam")
                let connection = NATSConnection(settings, logger: .silent)
                try await connection.connect()
                await connection.close()
            }
            beside.password = "50%25 of:it"
            let refused = NATSConnection(beside, logger: .silent)
            await #expect(throws: NATSError.self) { try await refused.connect(within: .milliseconds(300)) }
        }
    }

    // MARK: Uses

    @Test func `The service makes streams, reads them, and hears its own requests answered`() async throws {
        try await NATSTestServer.with(jetStream: true, configuration: try accounts()) { server in
            let service = try await connect(server, as: "service")
            try await JournalStream.create(over: service) { $0.subjects = ["ink.2.*.in.*"] }
            let teacher = try await connect(server, as: "ann")
            let stored = try await JetStream(teacher).publish([1], to: "ink.2.physics.in.ann")
            #expect(stored.sequence == 1)
            #expect(try await JournalStream.read(over: service).map(\.bytes) == [[1]])
            #expect(try await JetStream(service).message(JournalStream.name, 1)?.payload == [1])
            await teacher.close()
            await service.close()
        }
    }

    @Test(arguments: [
        ("sam", "ink.2.physics.join.main"), ("ann", "ink.2.physics.join-head"), ("gateway", "ink.rooms"),
        ("operator", "ink.2.physics.info"), ("operator", "ink.command.operator"), ("operator", "ink.audit"),
        ("gateway", "ink.command.gateway"),
    ])
    func `Requests of each are answered by the service`(user: String, subject: String) async throws {
        try await NATSTestServer.with(configuration: try accounts()) { server in
            let service = try await connect(server, as: "service")
            try service.answer("ink.>") { _ in [7] }
            try await service.confirmPublished()
            let client = try await connect(server, as: user)
            let reply = try await client.request(to: subject, timeout: .seconds(30))
            #expect(reply.payload == [7])
            #expect(reply.subject.hasPrefix("_INBOX.\(user)."))
            await client.close()
            await service.close()
        }
    }

    @Test func `A student hears what is released to the cohort, and nothing that is ahead of its video`() async throws {
        try await NATSTestServer.with(jetStream: true, configuration: try accounts()) { server in
            let student = try await connect(server, as: "sam")
            let seen = Recorder<String>()
            for subject in [
                "ink.2.physics.out.main", "ink.2.physics.out.hls", "ink.2.physics.head", "ink.2.physics.in.ann",
                "_LECTERN.x.delivery.1", "_INBOX.*.*.*",
            ] {
                try student.subscribe(subject) { seen.append($0.subject) }
            }
            try await student.confirmPublished()
            let service = try await connect(server, as: "service")
            for subject in ["in.ann", "head", "out.hls", "out.main"] {
                try service.publish([], to: "ink.2.physics.\(subject)")
            }
            try service.publish([], to: "_INBOX.ann.x.1")
            try service.publish([], to: "ink.2.physics.out.main")
            #expect(try await seen.values(2) == ["ink.2.physics.out.main", "ink.2.physics.out.main"])
            await student.close()
            await service.close()
        }
    }
}
