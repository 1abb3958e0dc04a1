import Journal
import LecternServer
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport

/// Services that come and go over one nats-server with JetStream.
struct DurableClass: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body and takes everything down again, also when the body throws.
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
            let client = NATSConnection(NATSSettings(url: nats.url), logger: silent)
            try await client.connect()
            do {
                try await body(DurableClass(nats: nats, client: client, configuration: settings))
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        }
    }

    func address(_ room: String) throws -> RoomAddress {
        guard let id = RoomID(room) else { throw Unexpected("not a room: \(room)") }
        return RoomAddress(root: configuration.root, room: id, partitions: configuration.partitions)
    }

    /// Runs a service while `body` runs, then ends it in an orderly way.
    func serve<Result: Sendable>(
        as name: String = "a", _ body: @escaping @Sendable (RunningDaemon) async throws -> Result
    ) async throws -> Result {
        let daemon = try await RunningDaemon(name: name, configuration, nats.url)
        do {
            let result = try await body(daemon)
            try await daemon.stop()
            return result
        } catch {
            try? await daemon.stop()
            throw error
        }
    }
}

/// One service of several.
final class RunningDaemon: Sendable {
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Returns when it serves.
    init(name: String, _ configuration: ServerConfiguration, _ url: String) async throws {
        var configuration = configuration
        configuration.name = name
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        let server = Server(
            configuration: configuration, connection: NATSConnection(NATSSettings(url: url), logger: silent),
            logger: silent, onServing: { isServing.finish() })
        let group = ServiceGroup(services: [server], logger: silent)
        self.group = group
        running = Task {
            defer { isServing.finish() }
            try await group.run()
        }
        for await _ in serving {}
    }

    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

extension NATSConnection {
    /// Publishes to the journal and waits until it has it.
    func publishDurably(_ text: String, to address: RoomAddress, author: String = "anna") async throws {
        guard let id = AuthorID(author) else { throw Unexpected("not an author: \(author)") }
        let reply = try await request(Array(text.utf8), to: address.subject(.input(id)))
        let answer = String(decoding: reply.payload, as: UTF8.self)
        guard answer.contains(#""seq""#) else { throw Unexpected("not acknowledged: \(answer)") }
    }

    func join(_ address: RoomAddress, cohort: CohortName = .main) async throws -> JoinReply {
        try JoinReply(
            decoding: try await requestParts(JoinRequest().encoded(), to: address.subject(.join(cohort))).payload)
    }
}
