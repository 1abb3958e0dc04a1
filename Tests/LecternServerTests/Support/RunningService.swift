// The service in the test's process on a real nats-server: without a journal (`RunningService`), or started and stopped on one
// (`DurableClass`). What needs no server is tested on the types themselves. `Pictures` renders boards, `Operators` has what
// operators do.

import Journal
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport
import Whiteboard

@testable import LecternServer

/// A service in the test process.
final class RunningDaemon: Sendable {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Returns once it serves.
    init(
        _ configuration: ServerConfiguration, _ nats: NATSTestServer, settings: (inout NATSSettings) -> Void = { _ in },
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 }
    ) async throws {
        var connectionSettings = NATSSettings(url: nats.url)
        settings(&connectionSettings)
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        var server = Server(
            configuration: configuration, connection: NATSConnection(connectionSettings, logger: .silent),
            logger: .silent, onServing: { isServing.finish() })
        server.replySink = replies
        let group = ServiceGroup(services: [server], logger: .silent)
        self.group = group
        running = Task {
            defer { isServing.finish() }
            try await group.run()
        }
        for await _ in serving {}
    }

    /// Runs a service while `body` runs, then shuts it down.
    static func with<Result: Sendable>(
        _ configuration: ServerConfiguration, _ nats: NATSTestServer,
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 },
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let daemon = try await RunningDaemon(configuration, nats, replies: replies)
        do {
            let result = try await body()
            try await daemon.stop()
            return result
        } catch {
            try? await daemon.stop()
            throw error
        }
    }

    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

/// A service on a nats-server of its own, and a client connection.
struct RunningService: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body, then stops everything, also if the body throws.
    /// - Parameters:
    ///   - server: the configuration of the nats-server.
    ///   - replies: replaces the sink for replies.
    static func with(
        _ configuration: ServerConfiguration = ServerConfiguration(), server: String? = nil,
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 },
        _ body: @escaping @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await NATSTestServer.with(configuration: server) { nats in
            try await RunningDaemon.with(configuration, nats, replies: replies) {
                try await NATSConnection.with(nats) { client in
                    try await body(RunningService(nats: nats, client: client, configuration: configuration))
                }
            }
        }
    }

    /// The same with the address of a room and an author of it.
    static func withRoom(
        _ room: String, _ configuration: ServerConfiguration = ServerConfiguration(), server: String? = nil,
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 },
        _ body: @escaping @Sendable (RunningService, RoomAddress, Hand) async throws -> Void
    ) async throws {
        try await with(configuration, server: server, replies: replies) { service in
            let address = try configuration.address(room)
            try await body(service, address, try Hand(service.client, address))
        }
    }

    func address(_ room: String) throws -> RoomAddress { try configuration.address(room) }

    func connect() async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: nats.url), logger: .silent)
        try await connection.connect()
        return connection
    }
}

extension ServerConfiguration {
    static func test(_ adjust: (inout ServerConfiguration) -> Void) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        adjust(&configuration)
        return configuration
    }

    func address(_ room: String) throws -> RoomAddress {
        RoomAddress(root: root, room: try .test(room), partitions: partitions)
    }
}

extension SubjectToken {
    static func test(_ text: String) throws -> Self {
        guard let token = Self(text) else { throw Unexpected("not a name: \(text)") }
        return token
    }
}

extension WorkerPool {
    /// Runs one worker, without a journal.
    /// - Parameter first: gives it something before it starts, so that this is one batch.
    static func with(
        _ configuration: ServerConfiguration, _ connection: NATSConnection, first: (RoomWorker) throws -> Void,
        _ body: () async throws -> Void
    ) async throws {
        let pool = WorkerPool(
            configuration, connection, connection,
            replies: ReplySender(connection: connection, logger: .silent).sink, probe: WorkerProbe(), .silent)
        let worker = pool.workers.all[0]
        worker.post(.partition(.open(0, prefix: "test", stored: [:], kept: nil)))
        worker.post(.partition(.caughtUp(0)))
        try first(worker)
        let journal = VolatileJournal(root: configuration.root, partitions: 1, logger: .silent)
        let threads = pool.start(journal, keeper: nil)
        try await body()
        await pool.stop(threads)
    }
}

extension RoomWorker {
    func deliver(_ text: String, sequence: Int, in room: RoomID) throws {
        let record = JournalRecord(
            partition: 0, room: room,
            content: .message(author: try .test("anna"), session: nil, bytes: Array(text.utf8)),
            sequence: UInt64(sequence), loggedAt: MonotonicClock.now())
        deliver(record, mustNotBeLost: true)
    }
}
