// The journal, its checkpoints and the store of assets on a real nats-server, which is killed, damaged and changed behind
// their back. `TestJournal` and `TestStore` are the fixtures.

import Foundation
import Hosting
import Journal
import NATSTestServer
import StrokeWire
import TestSupport
import Testing
import Whiteboard

@testable import NATSClient

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
        try await NATSTestServer.withConnection(jetStream: true) { server, nats in
            try await body(TestJournal(nats, settings: settings, heartbeat: heartbeat), server)
        }
    }

    /// The same with the streams of the partition.
    static func provisioned<Result: Sendable>(
        _ settings: JournalSettings = JournalSettings(), heartbeat: Duration = .milliseconds(200),
        _ body: @Sendable (TestJournal, NATSTestServer) async throws -> Result
    ) async throws -> Result {
        try await with(settings, heartbeat: heartbeat) { test, server in
            _ = try await test.journal.provision(0)
            return try await body(test, server)
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

    /// Saves a whole checkpoint.
    func save(_ bytes: [UInt8], at sequence: UInt64) async throws -> CheckpointManifest {
        let before = try await store.newest(notBeyond: sampleManifest(at: sequence))
        let state = try await store.save(state: bytes, room: .physics, beside: before)
        let saved = try sampleManifest(at: sequence, state: state, previous: before?.generations.first)
        try await store.save(saved)
        return saved
    }

    /// The newest state that a manifest names.
    func state(of manifest: CheckpointManifest) async throws -> [UInt8]? {
        guard let state = manifest.state else { return nil }
        return try await store.bytes(of: state, room: manifest.room)
    }

    /// The one consumer of the log.
    func consumerName() async throws -> String {
        try await eventually("the log has a consumer") { try await connection.consumers(of: "INK_LOG_0").first }
    }
}

extension RoomID {
    static var physics: RoomID { get throws { try #require(RoomID("physics")) } }
    static var chemistry: RoomID { get throws { try #require(RoomID("chemistry")) } }
}

func sampleManifest(
    _ room: String = "physics", at sequence: UInt64, state: CheckpointManifest.State? = nil,
    previous: CheckpointManifest.Generation? = nil
) throws -> CheckpointManifest {
    CheckpointManifest(
        room: try #require(RoomID(room)), log: "abc", incarnation: "abc-1", sequence: sequence, handled: sequence,
        cursors: [.main: 7], isQuiet: true, state: state, previous: previous)
}

extension CheckpointManifest {
    var subject: String { "ink.0.\(room).checkpoint" }
}

/// Bytes that fill this many parts.
func sampleBytes(parts: Int, _ salt: Int) -> [UInt8] {
    (0..<(parts - 1) * (512 << 10) + 1).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ salt) }
}

/// The events of a reader, in order; barriers are passed at once.
struct LogBook: Sendable {
    enum Entry: Sendable, Equatable {
        case record(UInt64)
        case caughtUp
        case clock(Duration)
        case missing(ClosedRange<UInt64>)
        case rewound(UInt64)
    }

    let records = Recorder<JournalRecord>()
    /// All but records, the clock and the level.
    let besides = Recorder<Entry>()
    /// All events but barriers and the level.
    let entries = Recorder<Entry>()
    /// Until when the log counted as read to its end.
    let levels = Recorder<Instant>()

    func add(_ event: PartitionEvent) {
        switch event {
        case .record(let record):
            records.append(record)
            entries.append(.record(record.sequence))
        case .logClock(let ahead): entries.append(.clock(ahead))
        case .barrier(let barrier): barrier.pass()
        case .level(let until): levels.append(until)
        case .caughtUp: add(besides: .caughtUp)
        case .missing(let from, let through): add(besides: .missing(from...through))
        case .rewound(let last): add(besides: .rewound(last))
        }
    }

    private func add(besides entry: Entry) {
        besides.append(entry)
        entries.append(entry)
    }

    /// The sequences of all records.
    var sequences: [UInt64] { records.values.map(\.sequence) }
}

/// An operator's changes to streams, as with the `nats` program.
extension NATSConnection {
    func purge(_ stream: String, before sequence: UInt64) async throws {
        _ = try await request(Array("{\"seq\":\(sequence)}".utf8), to: "$JS.API.STREAM.PURGE.\(stream)")
    }

    func deleteStream(_ name: String) async throws {
        _ = try await request(to: "$JS.API.STREAM.DELETE.\(name)")
    }

    func makeStream(_ name: String, _ configuration: String) async throws {
        let body = "{\"name\":\"\(name)\",\"storage\":\"file\",\"num_replicas\":1,\(configuration)}"
        _ = try await request(Array(body.utf8), to: "$JS.API.STREAM.CREATE.\(name)")
    }

    func deleteMessage(_ stream: String, _ sequence: UInt64) async throws {
        _ = try await request(Array("{\"seq\":\(sequence)}".utf8), to: "$JS.API.STREAM.MSG.DELETE.\(stream)")
    }

    /// The names of a stream's consumers.
    func consumers(of stream: String) async throws -> [String] {
        let reply = try await request(Array("{}".utf8), to: "$JS.API.CONSUMER.NAMES.\(stream)")
        let text = String(decoding: reply.payload, as: UTF8.self)
        guard let open = text.range(of: "\"consumers\":["), let close = text[open.upperBound...].firstIndex(of: "]")
        else { return [] }
        return text[open.upperBound..<close].split(separator: ",").map { $0.filter { $0 != "\"" } }
    }

    func deleteConsumer(_ name: String, of stream: String) async throws {
        _ = try await request(to: "$JS.API.CONSUMER.DELETE.\(stream).\(name)")
    }
}

extension NATSConnection {
    /// Ends the server connection as a lost network does; a new one is made.
    func cut() {
        try? core.current().end("cut by the test")
    }
}

/// A monotonic clock from an arbitrary origin.
enum MonotonicClock {
    private static let origin = ContinuousClock.now

    static func now() -> Instant {
        let (seconds, attoseconds) = origin.duration(to: .now).components
        return Instant(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
