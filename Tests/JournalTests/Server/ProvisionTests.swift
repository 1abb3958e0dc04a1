import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

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
            #expect(first.incarnationPrefix == String(log.created, radix: 36))
            try await test.write("one")
            let again = try await test.journal.provision(0)
            #expect(again.incarnationPrefix == first.incarnationPrefix)
            #expect((again.firstSequence, again.lastSequence) == (1, 1))
        }
    }

    @Test func `A duplicate window above the age is cut to it`() async throws {
        var settings = JournalSettings()
        settings.maxAge = .seconds(10)
        try await TestJournal.with(settings) { test, _ in
            _ = try await test.journal.provision(0)
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
            // Its checkpoints have a stream of their own, whose subjects the operator's stream has taken.
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
            do throws(JournalError) {
                _ = try await test.journal.provision(0)
                Issue.record("not refused")
            } catch .stream(let name, .unsuitable(_, let differences)) {
                #expect(name == "INK_LOG_0")
                #expect(differences.map(\.setting) == [setting])
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func `Two daemons may make the streams at the same time`() async throws {
        try await TestJournal.with { test, server in
            try await withThrowingTaskGroup(of: PartitionLog.self) { group in
                for age in 1...4 {
                    group.addTask {
                        try await NATSConnection.with(server) { nats in
                            var settings = JournalSettings()
                            settings.maxAge = .seconds(1000 * age)
                            return try await TestJournal(nats, settings: settings).journal.provision(0)
                        }
                    }
                }
                var prefixes: Set<String> = []
                for try await log in group { prefixes.insert(log.incarnationPrefix) }
                #expect(prefixes.count == 1)
            }
        }
    }

    @Test func `Without JetStream the error says so`() async throws {
        try await NATSTestServer.with { server in
            try await NATSConnection.with(server) { nats in
                _ = await #expect(throws: JournalError.stream(name: "INK_LOG_0", .notEnabled)) {
                    try await TestJournal(nats).journal.provision(0)
                }
            }
        }
    }

    @Test func `Without permission the error says what the user may not do`() async throws {
        let configuration = """
            accounts: { CLASS: { jetstream: enabled, users: [
              { user: eve, password: eve, permissions: { publish: "ink.>", subscribe: "_INBOX.>" } } ] } }
            """
        try await NATSTestServer.with(jetStream: true, configuration: configuration) { server in
            let nats = NATSConnection(NATSSettings(server, user: "eve"), logger: .silent)
            try await nats.connect()
            let denial = Denial(.publish, "$JS.API.STREAM.INFO.INK_LOG_0")
            let error = JournalError.stream(name: "INK_LOG_0", .connection(.notPermitted(denial)))
            await #expect(throws: error) { try await TestJournal(nats).journal.provision(0) }
            await nats.close()
        }
    }

    @Test func `More replicas than servers is an error in the server's words`() async throws {
        var settings = JournalSettings()
        settings.replicas = 3
        try await TestJournal.with(settings) { test, _ in
            do throws(JournalError) {
                _ = try await test.journal.provision(0)
                Issue.record("made")
            } catch {
                #expect("\(error)".contains("replicas"))
            }
        }
    }

    @Test func `A full log refuses what is written and keeps what it has`() async throws {
        var settings = JournalSettings()
        settings.maxBytes = 4096
        try await TestJournal.with(settings) { test, _ in
            _ = try await test.journal.provision(0)
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
        try await NATSTestServer.with(jetStream: true, configuration: configuration) { server in
            try await NATSConnection.with(server) { nats in
                let test = TestJournal(nats)
                _ = try await test.journal.provision(0)
                let room = try RoomID.physics
                let bytes = [UInt8](repeating: 7, count: 3 << 20)
                do throws(JournalError) {
                    _ = try await test.store.save(state: bytes, room: room)
                    Issue.record("saved")
                } catch {
                    #expect("\(error)".contains("resource"))
                }
            }
        }
    }
}
