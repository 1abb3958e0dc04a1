internal import Foundation
internal import NATSClient

/// A `nats-server` of a test's own, which can crash and come back on the same port with the same store.
public actor NATSTestServer {
    /// Where it listens, also after a restart.
    public nonisolated let url: String
    /// The port, also after a restart.
    public nonisolated let port: Int
    private let store: String?
    private var settings: EmbeddedServer.Settings
    private var running: EmbeddedServer?

    /// Starts a server on a free port, with JetStream in a directory of its own if asked. The configuration may limit
    /// what JetStream stores: `jetstream: { max_file_store: 1M }`.
    public init(jetStream: Bool = false, configuration: String? = nil) async throws {
        var settings = EmbeddedServer.Settings()
        settings.configuration = configuration
        if jetStream {
            let store = FileManager.default.temporaryDirectory.appendingPathComponent("nats-\(UUID().uuidString)")
            settings.storeDirectory = store.path
        }
        let server = try await EmbeddedServer.start(settings)
        settings.port = server.port
        store = settings.storeDirectory
        url = server.url
        port = server.port
        running = server
        self.settings = settings
    }

    /// Runs a body with a server and removes the server and its files afterwards, also when the body throws.
    public static func with<Result: Sendable>(
        jetStream: Bool = false, configuration: String? = nil,
        _ body: @Sendable (NATSTestServer) async throws -> Result
    ) async throws -> Result {
        let server = try await NATSTestServer(jetStream: jetStream, configuration: configuration)
        do {
            let result = try await body(server)
            await server.remove()
            return result
        } catch {
            await server.remove()
            throw error
        }
    }

    /// Ends the server in an orderly way (SIGTERM).
    public func stop() async {
        await running?.stop()
        running = nil
    }

    /// Ends the server as a crash does (SIGKILL).
    public func kill() async {
        if let running { sendSignal(SIGKILL, to: running) }
        await stop()
    }

    /// Lets the server stand still (SIGSTOP) until `resume()`.
    public func pause() {
        if let running { sendSignal(SIGSTOP, to: running) }
    }

    /// Lets the server go on (SIGCONT).
    public func resume() {
        if let running { sendSignal(SIGCONT, to: running) }
    }

    /// Starts it again on the same port with the same store, maybe with another configuration; ends it before if it
    /// runs.
    public func restart(configuration: String? = nil) async throws {
        await stop()
        if let configuration { settings.configuration = configuration }
        running = try await EmbeddedServer.start(settings)
    }

    /// Ends the server and removes its store.
    public func remove() async {
        resume()
        await stop()
        if let store { try? FileManager.default.removeItem(atPath: store) }
    }

    private func sendSignal(_ signal: Int32, to server: EmbeddedServer) {
        Foundation.kill(server.processIdentifier, signal)
    }
}
