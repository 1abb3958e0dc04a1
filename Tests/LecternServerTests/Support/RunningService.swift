import LecternServer
import Logging
import NATSClient
import NATSTestServer
import ServiceLifecycle
import StrokeWire
import TestSupport

let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// The service on a nats-server of its own, and a client connection to try it with.
struct RunningService: Sendable {
    let nats: NATSTestServer
    let client: NATSConnection
    let configuration: ServerConfiguration

    /// Runs a body and takes everything down again, also when the body throws.
    static func with(
        _ configuration: ServerConfiguration = ServerConfiguration(),
        _ body: @escaping @Sendable (RunningService) async throws -> Void
    ) async throws {
        try await NATSTestServer.with { nats in
            let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
            let connection = NATSConnection(NATSSettings(url: nats.url), logger: silent)
            let server = Server(
                configuration: configuration, connection: connection, logger: silent,
                onServing: { isServing.finish() })
            let group = ServiceGroup(services: [server], logger: silent)
            let client = NATSConnection(NATSSettings(url: nats.url), logger: silent)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    defer { isServing.finish() }
                    try await group.run()
                }
                for await _ in serving {}
                do {
                    try await client.connect()
                    try await body(RunningService(nats: nats, client: client, configuration: configuration))
                } catch {
                    await client.close()
                    await group.triggerGracefulShutdown()
                    throw error
                }
                await client.close()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
    }

    func address(_ room: String) throws -> RoomAddress {
        guard let id = RoomID(room) else { throw Unexpected("not a room: \(room)") }
        return RoomAddress(root: configuration.root, room: id, partitions: configuration.partitions)
    }

    func connect() async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: nats.url), logger: silent)
        try await connection.connect()
        return connection
    }
}
