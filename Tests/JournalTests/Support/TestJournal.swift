import Journal
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// A journal of one partition on a test's own server.
struct TestJournal: Sendable {
    let connection: NATSConnection
    let journal: JetStreamJournal
    let store: CheckpointStore
    let jetStream: JetStream

    init(
        _ connection: NATSConnection, settings: JournalSettings = JournalSettings(),
        heartbeat: Duration = .milliseconds(200)
    ) {
        var settings = settings
        settings.heartbeat = heartbeat
        self.connection = connection
        journal = JetStreamJournal(
            root: "ink", partitions: 1, settings: settings, connection: connection, logger: .silent)
        store = CheckpointStore(root: "ink", partitions: 1, connection: connection, logger: .silent)
        jetStream = JetStream(connection)
    }

    static func with<Result: Sendable>(
        _ settings: JournalSettings = JournalSettings(), heartbeat: Duration = .milliseconds(200),
        _ body: @Sendable (TestJournal, NATSTestServer) async throws -> Result
    ) async throws -> Result {
        try await NATSTestServer.with(jetStream: true) { server in
            try await NATSConnection.with(server) { nats in
                try await body(TestJournal(nats, settings: settings, heartbeat: heartbeat), server)
            }
        }
    }

    func read(from sequence: UInt64 = 1) -> (reader: PartitionReader, book: LogBook) {
        let book = LogBook()
        let reader = journal.read(0, from: sequence, now: MonotonicClock.now) { book.add($0) }
        return (reader, book)
    }

    @discardableResult
    func write(_ text: String, author: String = "anna", id: String? = nil) async throws -> PublishAcknowledgement {
        try await jetStream.publish(
            Array(text.utf8), to: "ink.0.physics.in.\(author)", headers: id.map { ["Nats-Msg-Id": $0] } ?? [:])
    }

    /// The one consumer of the log.
    func consumerName() async throws -> String {
        try await eventually("the log has a consumer") { try await connection.consumers(of: "INK_LOG_0").first }
    }
}

extension RoomID {
    static var physics: RoomID { get throws { try #require(RoomID("physics")) } }
}
