import Journal
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport

@testable import LecternServer

/// A service in the test process.
final class RunningDaemon: Sendable {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Returns once it serves.
    init(
        _ configuration: ServerConfiguration, _ nats: NATSTestServer,
        settings: (inout NATSSettings) -> Void = { _ in },
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
    /// - Parameter replies: replaces the sink for replies.
    static func with(
        _ configuration: ServerConfiguration = ServerConfiguration(),
        replies: @escaping @Sendable (ReplySink) -> ReplySink = { $0 },
        _ body: @escaping @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await NATSTestServer.with { nats in
            try await RunningDaemon.with(configuration, nats, replies: replies) {
                try await NATSConnection.with(nats) { client in
                    try await body(RunningService(nats: nats, client: client, configuration: configuration))
                }
            }
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
    func address(_ room: String) throws -> RoomAddress {
        guard let id = RoomID(room) else { throw Unexpected("not a room: \(room)") }
        return RoomAddress(root: root, room: id, partitions: partitions)
    }
}

/// Services started and stopped on one nats-server with JetStream.
struct DurableClass: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body, then stops everything, also if the body throws.
    static func with(
        partitions: Int = 1, _ adjust: @Sendable (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (DurableClass) async throws -> Void
    ) async throws {
        var configuration = ServerConfiguration()
        configuration.journal = JournalSettings()
        configuration.partitions = partitions
        adjust(&configuration)
        let settings = configuration
        try await NATSTestServer.with(jetStream: true) { nats in
            try await NATSConnection.with(nats) { client in
                try await body(DurableClass(nats: nats, client: client, configuration: settings))
            }
        }
    }

    func address(_ room: String) throws -> RoomAddress { try configuration.address(room) }

    /// Runs a service while `body` runs, then shuts it down.
    func serve<Result: Sendable>(
        as name: String = "a", _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await RunningDaemon.with(named(name), nats, body)
    }

    /// Starts another service.
    func daemon(_ name: String) async throws -> RunningDaemon { try await RunningDaemon(named(name), nats) }

    private func named(_ name: String) -> ServerConfiguration {
        var configuration = configuration
        configuration.name = name
        return configuration
    }
}

extension NATSConnection {
    /// Publishes to the journal and waits for the acknowledgement.
    func publishDurably(_ text: String, to address: RoomAddress, author: String = "anna") async throws {
        guard let id = AuthorID(author) else { throw Unexpected("not an author: \(author)") }
        let reply = try await request(Array(text.utf8), to: address.subject(.input(id)))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        // An error reply has a "seq", too.
        guard answer.contains(#""seq""#), !answer.contains(#""error""#) else {
            throw Unexpected("not acknowledged: \(answer)")
        }
    }

    func join(_ address: RoomAddress, cohort: CohortName = .main) async throws -> JoinReply {
        try JoinReply(
            decoding: try await requestParts(JoinRequest().encoded(), to: address.subject(.join(cohort))).payload)
    }
}
