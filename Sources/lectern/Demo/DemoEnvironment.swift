import EmbeddedNATS
import Foundation
import LecternConfiguration
import LecternServer
import Logging
import NATSClient
import ServiceLifecycle
import StrokeWire

/// The NATS server and the service of the demo, both ended with it.
struct DemoEnvironment {
    let address: RoomAddress
    let configuration: ServerConfiguration
    private let nats: EmbeddedServer
    private let store: URL
    private let logger: Logger

    static func start(room: RoomID, logger: Logger) async throws -> DemoEnvironment {
        let configuration = DaemonConfiguration().serverConfiguration
        let store = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-demo-\(UUID().uuidString)")
        var settings = EmbeddedServer.Settings()
        settings.storeDirectory = store.path
        let nats: EmbeddedServer
        do {
            nats = try await EmbeddedServer.start(settings)
        } catch {
            try? FileManager.default.removeItem(at: store)
            throw error
        }
        return DemoEnvironment(
            address: RoomAddress(root: configuration.root, room: room, partitions: configuration.partitions),
            configuration: configuration, nats: nats, store: store, logger: logger)
    }

    private var url: String { nats.url }

    /// Runs the service while `body` runs, then ends both it and the NATS server.
    func withService<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        let connection = NATSConnection(NATSSettings(url: url, name: "lectern service"), logger: logger)
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        let server = Server(
            configuration: configuration, connection: connection, logger: logger, onServing: { isServing.finish() })
        let service = ServiceGroup(services: [server], logger: logger)
        do {
            let result = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { isServing.finish() }
                    try await service.run()
                }
                for await _ in serving {}
                let result = try await body()
                await service.triggerGracefulShutdown()
                try await group.waitForAll()
                return result
            }
            await close()
            return result
        } catch {
            await close()
            throw error
        }
    }

    private func close() async {
        await nats.stop()
        try? FileManager.default.removeItem(at: store)
    }

    /// Connects one of the clients.
    func connect(_ name: String) async throws -> NATSConnection {
        let connection = NATSConnection(NATSSettings(url: url, name: name), logger: logger)
        try await connection.connect()
        return connection
    }
}
