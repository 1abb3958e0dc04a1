import Foundation
import LecternConfiguration
import LecternGateway
import LecternServer
import Logging
import NATSClient
import ServiceLifecycle
import StrokeWire
import Whiteboard

/// The NATS server, the service and the pages of the demo, all ended with it.
struct DemoEnvironment {
    let address: RoomAddress
    let configuration: ServerConfiguration
    private let nats: EmbeddedServer
    private let store: URL
    private let logger: Logger

    static func start(room: RoomID, logger: Logger) async throws -> DemoEnvironment {
        var configuration = demoConfiguration.serverConfiguration
        configuration.room.cohorts.defaults.ink = .progressive
        // What comes before the first sample waits for the video, too.
        configuration.room.cohorts.defaults.gate = .video
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

    /// The lesson on slides needs everything that a board can show.
    static var demoConfiguration: DaemonConfiguration {
        var configuration = DaemonConfiguration()
        configuration.board.features = Set(DaemonConfiguration.Board.Feature.allCases)
        return configuration
    }

    /// Runs the service and its pages while `body` runs, then ends them and the NATS server.
    ///
    /// - Parameters:
    ///   - port: of the pages on this machine; 0 for any free one.
    ///   - body: called with the port.
    func withService<Result: Sendable>(
        port: Int, _ body: @Sendable (_ port: Int) async throws -> Result
    ) async throws -> Result {
        let connection = NATSConnection(NATSSettings(url: nats.url, name: "lectern service"), logger: logger)
        let pages = NATSConnection(NATSSettings(url: nats.url, name: "lectern gateway"), logger: logger)
        let (serving, isServing) = AsyncStream.makeStream(of: Never.self)
        let (ports, isListening) = AsyncStream.makeStream(of: Int.self)
        let server = Server(
            configuration: configuration, connection: connection, logger: logger, onServing: { isServing.finish() })
        let gateway = Gateway(
            GatewayConfiguration(port: port, root: configuration.root, partitions: configuration.partitions),
            connection: pages, registry: PrometheusRegistry(help: [:]), logger: logger,
            onListening: { isListening.yield($0) })
        let service = ServiceGroup(services: [server, gateway], logger: logger)
        do {
            try await pages.connect(within: NATSConnection.stallLimit)
            let result = try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer {
                        isServing.finish()
                        isListening.finish()
                    }
                    try await service.run()
                }
                for await _ in serving {}
                guard let port = await ports.first(where: { _ in true }) else {
                    try await group.waitForAll()
                    throw DemoFailure.notAnswered
                }
                let result = try await body(port)
                await service.triggerGracefulShutdown()
                try await group.waitForAll()
                return result
            }
            await pages.close()
            await close()
            return result
        } catch {
            await pages.close()
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
        let connection = NATSConnection(NATSSettings(url: nats.url, name: name), logger: logger)
        // The server is there: only a stall can keep it from accepting.
        try await connection.connect(within: NATSConnection.stallLimit)
        return connection
    }
}
