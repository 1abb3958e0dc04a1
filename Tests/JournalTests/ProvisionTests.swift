import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@Suite struct ProvisionTests {
    @Test func `Both streams are made as configured, and found again`() async throws {
        var settings = JournalSettings()
        settings.maxAge = .seconds(3600)
        settings.maxBytes = 1 << 30
        settings.duplicateWindow = .seconds(90)
        try await TestJournal.with(settings) { test, _ in
            let first = try await test.journal.provision(0)
            let log = try await test.jetStream.streamInfo("INK_LOG_0")
            #expect(log.configuration.subjects == ["ink.0.*.in.*", "ink.0.*.ctl"])
            #expect(log.configuration.discard == .new)
            #expect(log.configuration.storage == .file)
            #expect(log.configuration.maxAge == .seconds(3600))
            #expect(log.configuration.maxBytes == 1 << 30)
            #expect(log.configuration.duplicateWindow == .seconds(90))
            let checkpoints = try await test.jetStream.streamInfo("INK_CHECKPOINT_0")
            #expect(checkpoints.configuration.subjects == ["ink.0.*.checkpoint", "ink.0.*.checkpoint.>"])
            #expect(checkpoints.configuration.discard == .old)
            #expect(checkpoints.configuration.maxAge == .seconds(3600))
            #expect(log.configuration.description == "Lectern log \(first.incarnationPrefix) of 1")
            let created = try #require(Int64(first.incarnationPrefix, radix: 36))
            #expect(abs(created - log.created) < 60_000_000_000)
            try await test.write("one")
            let again = try await test.journal.provision(0)
            #expect(again.incarnationPrefix == first.incarnationPrefix)
            #expect((again.firstSequence, again.lastSequence) == (1, 1))
        }
    }

    @Test(arguments: [
        "", "the classes of our school", "Lectern log ", "Lectern log No-name", "Lectern log dn4j of",
        "Lectern log dn4j of 0", "Lectern log dn4j of 8 ",
    ])
    func `A log that an operator has made is told from others by its creation time`(description: String) async throws {
        try await TestJournal.with { test, _ in
            try await test.connection.makeStream(
                "INK_LOG_0",
                #""description":"\#(description)","subjects":["ink.0.*.in.*","ink.0.*.ctl"],"retention":"limits""#)
            let log = try await test.jetStream.streamInfo("INK_LOG_0")
            #expect(try await test.journal.provision(0).incarnationPrefix == String(log.created, radix: 36))
        }
    }

    @Test(arguments: ["", " of 1", " of 8"])
    func `A log is told from others by the description that an operator gave it`(number: String) async throws {
        try await TestJournal.with { test, _ in
            try await test.connection.makeStream(
                "INK_LOG_0",
                #"""
                "description":"Lectern log dn4j9y3fhnd4\#(number)","subjects":["ink.0.*.in.*","ink.0.*.ctl"],"retention":"limits"
                """#)
            #expect(try await test.journal.provision(0).incarnationPrefix == "dn4j9y3fhnd4")
        }
    }

    @Test func `A duplicate window above the age is cut to it`() async throws {
        var settings = JournalSettings()
        settings.maxAge = .seconds(10)
        try await TestJournal.provisioned(settings) { test, _ in
            let log = try await test.jetStream.streamInfo("INK_LOG_0")
            #expect(log.configuration.duplicateWindow == .seconds(10))
        }
    }

    @Test func `A root of several tokens names its streams with underscores`() async throws {
        try await TestJournal.with { test, _ in
            let journal = JetStreamJournal(
                root: "school.north", partitions: 3, settings: JournalSettings(), connection: test.connection,
                logger: .silent)
            _ = try await journal.provision(2)
            let log = try await test.jetStream.streamInfo("SCHOOL_NORTH_LOG_2")
            #expect(log.configuration.subjects == ["school.north.2.*.in.*", "school.north.2.*.ctl"])
        }
    }

    @Test func `An operator's stream that does more stays as it is`() async throws {
        try await TestJournal.with { test, _ in
            try await test.connection.makeStream(
                "INK_LOG_0", #""subjects":["ink.0.>"],"max_age":7000000000,"discard":"old","retention":"limits""#)
            let before = try await test.jetStream.streamInfo("INK_LOG_0")
            // The operator's stream has the subjects that the checkpoint stream needs.
            await #expect(throws: JournalError.self) { try await test.journal.provision(0) }
            #expect(try await test.jetStream.streamInfo("INK_LOG_0") == before)
            let wanted = StreamConfiguration(name: "INK_LOG_0", subjects: ["ink.0.*.in.*", "ink.0.*.ctl"])
            let (info, differences) = try await test.jetStream.provision(wanted)
            #expect(info == before)
            #expect(differences.map(\.setting).contains("max_age"))
        }
    }

    @Test(arguments: [
        (#""subjects":["ink.0.*.in.*"],"retention":"limits""#, "subjects"),
        (#""subjects":["ink.0.*.in.*","ink.0.*.ctl"],"retention":"workqueue""#, "retention"),
        (#""subjects":["ink.0.*.in.*","ink.0.*.ctl"],"retention":"limits","no_ack":true"#, "no_ack"),
    ])
    func `A stream that would lose records is refused, and why is said`(
        _ configuration: String, _ setting: String
    ) async throws {
        try await TestJournal.with { test, _ in
            try await test.connection.makeStream("INK_LOG_0", configuration)
            let error = await #expect(throws: JournalError.self) { try await test.journal.provision(0) }
            guard case .stream("INK_LOG_0", .unsuitable(_, let differences))? = error else {
                throw Unexpected("\(String(describing: error))")
            }
            #expect(differences.map(\.setting) == [setting])
        }
    }

    @Test func `Without JetStream the error says so`() async throws {
        try await NATSTestServer.withConnection { server, nats in
            _ = await #expect(throws: JournalError.stream(name: "INK_LOG_0", .notEnabled)) {
                try await TestJournal(nats).journal.provision(0)
            }
        }
    }

    @Test func `Without permission the error says what the user may not do`() async throws {
        let permissions = #"publish: "ink.>", subscribe: "_INBOX.>""#
        try await NATSTestServer.withUser(permissions: permissions, jetStream: true) { nats in
            let violation = PermissionViolation(.publish, "$JS.API.STREAM.INFO.INK_LOG_0")
            let error = JournalError.stream(name: "INK_LOG_0", .connection(.notPermitted(violation)))
            await #expect(throws: error) { try await TestJournal(nats).journal.provision(0) }
        }
    }

    @Test func `More replicas than servers is an error in the server's words`() async throws {
        var settings = JournalSettings()
        settings.replicas = 3
        try await TestJournal.with(settings) { test, _ in
            let error = await #expect(throws: JournalError.self) { try await test.journal.provision(0) }
            #expect("\(String(describing: error))".contains("replicas"))
        }
    }

    @Test func `A full log refuses what is written and keeps what it has`() async throws {
        var settings = JournalSettings()
        settings.maxBytes = 4096
        try await TestJournal.provisioned(settings) { test, _ in
            let text = String(repeating: "x", count: 1500)
            try await test.write(text)
            try await test.write(text)
            await #expect(throws: JetStreamError.self) { try await test.write(text) }
            let (reader, book) = test.read()
            _ = try await book.entries.values(4)
            #expect(book.sequences == [1, 2])
            reader.cancel()
        }
    }

    @Test func `A server without room for more says so, to checkpoints as well`() async throws {
        let configuration = "jetstream: { max_file_store: 1M }"
        try await NATSTestServer.withConnection(jetStream: true, configuration: configuration) { server, nats in
            let test = TestJournal(nats)
            _ = try await test.journal.provision(0)
            let room = try RoomID.physics
            let bytes = [UInt8](repeating: 7, count: 3 << 20)
            let error = await #expect(throws: JournalError.self) {
                try await test.store.save(state: bytes, room: room, beside: nil)
            }
            #expect("\(String(describing: error))".contains("resource"))
        }
    }

    @Test(arguments: [["INK_LOG_0"], ["INK_CHECKPOINT_0"], ["INK_LOG_0", "INK_CHECKPOINT_0"]])
    func `Streams that were there and are gone are not made again, unless that is configured`(
        _ names: [String]
    ) async throws {
        try await TestJournal.provisioned { test, _ in
            for name in names { try await test.connection.deleteStream(name) }
            for _ in 1...2 {
                await #expect(throws: JournalError.streamsMissing(names)) { try await test.journal.provision(0) }
                #expect(try await test.journal.missingStreams(0) == names)
            }
            var settings = JournalSettings()
            settings.recreatesStreams = true
            _ = try await TestJournal(test.connection, settings: settings).journal.provision(0)
            _ = try await test.journal.provision(0)
        }
    }

    @Test func `A daemon that has not seen them knows by the other one that a stream is gone`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...3 { try await test.write("\(number)") }
            // The log has all that checkpoints could contain.
            try await test.connection.deleteStream("INK_CHECKPOINT_0")
            _ = try await TestJournal(test.connection).journal.provision(0)
            try await test.connection.deleteStream("INK_CHECKPOINT_0")
            try await test.journal.trim(0, before: 3)
            await #expect(throws: JournalError.streamsMissing(["INK_CHECKPOINT_0"])) {
                try await TestJournal(test.connection).journal.provision(0)
            }
        }
        try await TestJournal.provisioned { test, _ in
            // It was always empty.
            try await test.connection.deleteStream("INK_LOG_0")
            _ = try await TestJournal(test.connection).journal.provision(0)
            try await test.store.save(covered: 1, of: 0, log: "abc")
            try await test.connection.deleteStream("INK_LOG_0")
            await #expect(throws: JournalError.streamsMissing(["INK_LOG_0"])) {
                try await TestJournal(test.connection).journal.provision(0)
            }
        }
    }

    @Test func `A log that is trimmed to where records were deleted keeps all later ones`() async throws {
        try await TestJournal.provisioned { test, _ in
            for number in 1...9 { try await test.write("\(number)") }
            try await test.jetStream.deleteMessages("INK_LOG_0", [3, 4])
            try await test.journal.trim(0, before: 4)
            try await test.write("10")
            var records = try await test.journal.records(of: .physics, after: 0)
            #expect(records.map(\.sequence) == [5, 6, 7, 8, 9, 10])
            try await test.jetStream.deleteMessages("INK_LOG_0", [8, 9, 10])
            try await test.journal.trim(0, before: 9)
            for number in 11...13 { try await test.write("\(number)") }
            records = try await test.journal.records(of: .physics, after: 0)
            #expect(records.map(\.sequence) == [11, 12, 13])
        }
    }

    @Test func `How full a log is, and how much has to go, follows from the tighter of its limits`() async throws {
        var settings = JournalSettings()
        settings.maxBytes = 100_000
        try await TestJournal.provisioned(settings) { test, _ in
            let text = String(repeating: "x", count: 900)
            for _ in 1...50 { try await test.write(text) }
            let half = try await test.journal.space(of: 0)
            #expect((0.45...0.6).contains(half.fullness))
            #expect(!half.isLow && half.wantedFirst == 0)
            for _ in 1...40 { try await test.write(text) }
            let full = try await test.journal.space(of: 0)
            #expect(full.isLow && (15...40).contains(full.wantedFirst))
            try await test.journal.trim(0, before: full.wantedFirst)
            let left = try await test.journal.space(of: 0)
            #expect((0.6...0.7).contains(left.fullness))
            #expect(left.firstSequence == full.wantedFirst)
            var smaller = JournalSettings()
            smaller.storeBytes = 70_000
            let tight = try await TestJournal(test.connection, settings: smaller).journal.space(of: 0)
            #expect(tight.fullness > 0.9)
        }
    }

    @Test func `The limit of an account counts, too`() async throws {
        let configuration = """
            accounts: { CLASS: { jetstream: { max_store: 100000 }, users: [ { user: ann, password: ann } ] } }
            """
        try await NATSTestServer.with(jetStream: true, configuration: configuration) { server in
            let nats = NATSConnection(NATSSettings(server, user: "ann"), logger: .silent)
            try await nats.connect()
            let test = TestJournal(nats)
            _ = try await test.journal.provision(0)
            let text = String(repeating: "x", count: 900)
            for _ in 1...85 { try await test.write(text) }
            #expect(try await test.journal.space(of: 0).isLow)
            let error = await #expect(throws: JetStreamError.self) { for _ in 1...30 { try await test.write(text) } }
            #expect(error?.isFull == true, "\(String(describing: error))")
            await nats.close()
        }
    }
}
