import Journal
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// The streams of all partitions of a root.
@Suite struct ProvisionedRootTests {
    private static func journal(
        _ partitions: Int, on connection: NATSConnection, recreatesStreams: Bool = false
    ) -> JetStreamJournal {
        var settings = JournalSettings()
        settings.recreatesStreams = recreatesStreams
        return JetStreamJournal(
            root: "ink", partitions: partitions, settings: settings, connection: connection, logger: .silent)
    }

    private static func makeLogs(_ partitions: Range<Int>, of number: Int, on nats: NATSConnection) async throws {
        for partition in partitions { _ = try await journal(number, on: nats).provision(partition) }
    }

    /// Logs without a number of partitions.
    private static func makeOldLogs(_ partitions: Range<Int>, on nats: NATSConnection) async throws {
        for partition in partitions {
            try await nats.makeStream(
                "INK_LOG_\(partition)",
                #""subjects":["ink.\#(partition).*.in.*","ink.\#(partition).*.ctl"],"retention":"limits""#)
        }
    }

    private static func useRoot(on nats: NATSConnection) async throws {
        let store = RevocationStore(root: "ink", settings: JournalSettings(), connection: nats, logger: .silent)
        _ = try await store.provision()
    }

    @Test(arguments: [1, 3, 8]) func `Another number of partitions than that of the logs is refused`(
        partitions: Int
    ) async throws {
        try await TestJournal.with { test, _ in
            try await Self.makeLogs(0..<4, of: 4, on: test.connection)
            try await Self.journal(4, on: test.connection).checkPartitions()
            let error = JournalError.otherPartitions(root: "ink", there: 4, here: partitions)
            for recreates in [false, true] {
                let journal = Self.journal(partitions, on: test.connection, recreatesStreams: recreates)
                await #expect(throws: error) { try await journal.checkPartitions() }
            }
            #expect("\(error)".contains("of 4 partitions") && "\(error)".contains("lectern repartition \(partitions)"))
        }
    }

    @Test func `Of a root whose creation was interrupted the number of partitions is known`() async throws {
        try await TestJournal.with { test, _ in
            try await Self.makeLogs(2..<4, of: 8, on: test.connection)
            await #expect(throws: JournalError.otherPartitions(root: "ink", there: 8, here: 4)) {
                try await Self.journal(4, on: test.connection).checkPartitions()
            }
            let journal = Self.journal(8, on: test.connection)
            try await journal.checkPartitions()
            for partition in 0..<8 { _ = try await journal.provision(partition) }
        }
    }

    @Test func `Logs without a number are refused where they show another one`() async throws {
        try await TestJournal.with { test, _ in
            let nats = test.connection
            try await Self.makeOldLogs(0..<4, on: nats)
            try await Self.journal(4, on: nats).checkPartitions()
            // Perhaps they are being created.
            try await Self.journal(8, on: nats).checkPartitions()
            await #expect(throws: JournalError.otherPartitions(root: "ink", there: 4, here: 2)) {
                try await Self.journal(2, on: nats).checkPartitions()
            }
            try await Self.useRoot(on: nats)
            await #expect(throws: JournalError.otherPartitions(root: "ink", there: 4, here: 8)) {
                try await Self.journal(8, on: nats).checkPartitions()
            }
            try await Self.journal(8, on: nats, recreatesStreams: true).checkPartitions()
            // A log is lost.
            try await nats.deleteStream("INK_LOG_1")
            try await Self.journal(4, on: nats).checkPartitions()
        }
    }

    @Test(arguments: [["INK_LOG_1", "INK_CHECKPOINT_1"], ["INK_LOG_1"]])
    func `Streams of a root in use that are gone are not made again by a daemon that has not seen them`(
        names: [String]
    ) async throws {
        try await TestJournal.with { test, _ in
            let nats = test.connection
            try await Self.makeLogs(0..<2, of: 2, on: nats)
            try await Self.useRoot(on: nats)
            for name in names { try await nats.deleteStream(name) }
            await #expect(throws: JournalError.streamsMissing(names)) {
                try await Self.journal(2, on: nats).provision(1)
            }
            _ = try await Self.journal(2, on: nats, recreatesStreams: true).provision(1)
        }
    }

    @Test func `Several daemons may make the streams of a root at the same time`() async throws {
        try await TestJournal.with { _, server in
            let identities = try await withThrowingTaskGroup(of: Set<String>.self) { daemons in
                for _ in 1...4 {
                    daemons.addTask {
                        try await NATSConnection.with(server) { nats in
                            let journal = Self.journal(8, on: nats)
                            try await journal.checkPartitions()
                            return try await withThrowingTaskGroup(of: String?.self) { tasks in
                                for partition in (0..<8).shuffled() {
                                    tasks.addTask { try await journal.provision(partition).incarnationPrefix }
                                }
                                tasks.addTask {
                                    await journal.waitUntilProvisioned()
                                    try await Self.useRoot(on: nats)
                                    return nil
                                }
                                return try await tasks.reduce(into: []) { if let log = $1 { $0.insert(log) } }
                            }
                        }
                    }
                }
                return try await daemons.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(identities.count == 1)
        }
    }

    @Test func `A root is provisioned when all of its logs are there, or were`() async throws {
        try await TestJournal.with { test, _ in
            let journal = Self.journal(2, on: test.connection)
            try await Self.makeLogs(0..<1, of: 2, on: test.connection)
            let isProvisioned = Task { await journal.waitUntilProvisioned() }
            try await Self.makeLogs(1..<2, of: 2, on: test.connection)
            await isProvisioned.value
            try await Self.useRoot(on: test.connection)
            try await test.connection.deleteStream("INK_LOG_0")
            await journal.waitUntilProvisioned()
        }
    }
}
