// What tests do with real NATS servers: start and kill them, cut their power, change their files, and record what they
// send.

internal import Foundation
internal import Locking
package import Logging
package import NATSClient
internal import TestSupport

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A test's own `nats-server`, which can be killed and restarted on the same port with the same store.
public actor NATSTestServer {
    /// The URL, also after a restart.
    public nonisolated let url: String
    /// The port, also after a restart.
    public nonisolated let port: Int
    /// The folder of its streams; nil without JetStream.
    public nonisolated let store: String?
    private var settings: EmbeddedServer.Settings
    private var running: EmbeddedServer?

    /// Starts a server on a free port, optionally with JetStream in a directory of its own. The configuration may limit
    /// the store: `jetstream: { max_file_store: 1M }`.
    public init(jetStream: Bool = false, configuration: String? = nil) async throws {
        var settings = EmbeddedServer.Settings()
        if let program = Self.program { settings.program = program }
        settings.configuration = configuration
        if jetStream {
            let store = FileManager.default.temporaryDirectory.appendingPathComponent("nats-\(UUID().uuidString)")
            settings.storeDirectory = store.path
        }
        // None of those that the kernel gives to connections: while the server is down, nobody may take its port.
        settings.port = try FreePort.find()
        let server = try await EmbeddedServer.start(settings)
        store = settings.storeDirectory
        url = server.url
        port = server.port
        running = server
        self.settings = settings
    }

    /// The program in `LECTERN_NATS_SERVER`, for tests with another version; nil: the installed one.
    public static let program = ProcessInfo.processInfo.environment["LECTERN_NATS_SERVER"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// Runs a body with a server and removes the server and its files afterwards, also when the body throws.
    public static func with<Result: Sendable>(
        jetStream: Bool = false, configuration: String? = nil, _ body: @Sendable (NATSTestServer) async throws -> Result
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

    /// Runs a body with a server and a connection to it, and removes both afterwards, also when the body throws.
    package static func withConnection<Result: Sendable>(
        jetStream: Bool = false, configuration: String? = nil,
        _ body: @Sendable (NATSTestServer, NATSConnection) async throws -> Result
    ) async throws -> Result {
        try await with(jetStream: jetStream, configuration: configuration) { server in
            try await NATSConnection.with(server) { try await body(server, $0) }
        }
    }

    /// The configuration of an account with one user, whose password is the name.
    public static func account(of user: String, permissions: String = "", jetStream: Bool = false) -> String {
        """
        accounts: { CLASS: { \(jetStream ? "jetstream: enabled, " : "")users: [
          { user: \(user), password: \(user)\(permissions.isEmpty ? "" : ", permissions: { \(permissions) }") } ] } }
        """
    }

    /// Runs a body with a connection of a user with these permissions to a server of its own.
    package static func withUser(
        permissions: String, jetStream: Bool = false, _ body: @Sendable (NATSConnection) async throws -> Void
    ) async throws {
        let configuration = account(of: "ada", permissions: permissions, jetStream: jetStream)
        try await with(jetStream: jetStream, configuration: configuration) { server in
            try await NATSConnection.with(server, { $0 = NATSSettings(server, user: "ada") }, body)
        }
    }

    /// Ends the server with SIGTERM.
    public func stop() async {
        await running?.stop()
        running = nil
    }

    /// Ends the server with SIGKILL.
    public func kill() async {
        if let running { sendSignal(SIGKILL, to: running) }
        await stop()
    }

    /// Stops the server with SIGSTOP until `resume()`; returns when it stands still.
    public func pause() {
        guard let running else { return }
        sendSignal(SIGSTOP, to: running)
        // On a busy machine its threads run for some more milliseconds.
        var information = siginfo_t()
        _ = waitid(P_PID, id_t(running.processIdentifier), &information, WSTOPPED | WNOWAIT)
    }

    /// Continues a paused server with SIGCONT.
    public func resume() {
        if let running { sendSignal(SIGCONT, to: running) }
    }

    /// Restarts the server on the same port with the same store, optionally with another configuration.
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

extension NATSTestServer {
    /// Starts a cluster with JetStream. It may have no leader yet: repeat requests until it answers.
    public static func cluster(of count: Int) async throws -> [NATSTestServer] {
        var ports: Set<Int> = []
        while ports.count < count { ports.insert(try FreePort.find()) }
        let routes = ports.map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
        var servers: [NATSTestServer] = []
        do {
            for (number, port) in ports.enumerated() {
                let configuration = """
                    server_name: node\(number)
                    cluster: { name: class, listen: "127.0.0.1:\(port)", routes: [\(routes)] }
                    """
                servers.append(try await NATSTestServer(jetStream: true, configuration: configuration))
            }
        } catch {
            for server in servers { await server.remove() }
            throw error
        }
        return servers
    }

    /// Runs a body with a cluster and removes it afterwards, also when the body throws.
    public static func withCluster<Result: Sendable>(
        of count: Int, _ body: @Sendable ([NATSTestServer]) async throws -> Result
    ) async throws -> Result {
        let servers = try await cluster(of: count)
        do {
            let result = try await body(servers)
            for server in servers { await server.remove() }
            return result
        } catch {
            for server in servers { await server.remove() }
            throw error
        }
    }
}

extension NATSSettings {
    /// Settings for a test's own server, with short waits before reconnecting.
    package init(_ server: NATSTestServer, user: String? = nil) {
        let credentials = user.map { "\($0):\($0)@" } ?? ""
        self.init(url: "nats://\(credentials)127.0.0.1:\(server.port)", name: "test")
        reconnectWait = .milliseconds(5) ... .milliseconds(20)
    }
}

extension NATSConnection {
    /// All replies to a request within a window.
    package func requestMany(
        _ payload: [UInt8] = [], to subject: String, window: Duration
    ) async throws(NATSError) -> [NATSReply] {
        var replies: [NATSReply] = []
        try await requestMany(payload, to: subject, window: window) { reply in
            replies.append(reply)
            return false
        }
        return replies
    }

    /// Runs a body with a connection to a test's own server, and closes it afterwards.
    package static func with<Result: Sendable>(
        _ server: NATSTestServer, _ configure: (inout NATSSettings) -> Void = { _ in },
        _ body: @Sendable (NATSConnection) async throws -> Result
    ) async throws -> Result {
        var settings = NATSSettings(server)
        configure(&settings)
        let connection = NATSConnection(settings, logger: .silent)
        try await connection.connect(within: .seconds(30))
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Answers each request to a subject of which the function makes something.
    package func answer(
        _ subject: String, _ answer: @escaping @Sendable (_ request: [UInt8]) -> [UInt8]?
    ) throws(NATSError) {
        try subscribe(subject) { message in
            guard let reply = message.reply, let bytes = answer(message.copyPayload()) else { return }
            try? self.publish(bytes, to: reply)
        }
    }

    /// Waits until the servers of a cluster have elected who makes its streams.
    package func waitForLeader(within limit: Duration = .hangLimit) async throws {
        try await eventually("the cluster has a leader", within: limit) {
            let reply = try await request(to: "$JS.API.STREAM.NAMES", timeout: .milliseconds(500))
            return String(decoding: reply.payload, as: UTF8.self).contains(#""error""#) ? nil : ()
        }
    }

    /// Records the state changes from now on.
    package func recordStates() -> Recorder<ConnectionState> {
        let states = Recorder<ConnectionState>()
        onStateChange { states.append($0) }
        return states
    }
}

extension Logger {
    /// Logs nothing: errors of the server are expected here.
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// Hands each event of a log to a function.
private struct CallingLogHandler: LogHandler {
    let onEvent: @Sendable (LogEvent) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { onEvent(event) }
}

extension Logger {
    /// A log whose events go to a function.
    package static func calling(_ onEvent: @escaping @Sendable (LogEvent) -> Void) -> Logger {
        Logger(label: "test") { _ in CallingLogHandler(onEvent: onEvent) }
    }
}

/// Collects values from handlers, in order, and waits for a number of them.
package final class Recorder<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiting: [(count: Int, promise: Promise<Void>)] = []
    }

    private let state = Locked(State())

    package init() {}

    package func append(_ value: Value) {
        let reached = state.withLock { state in
            state.values.append(value)
            let count = state.values.count
            defer { state.waiting.removeAll { $0.count <= count } }
            return state.waiting.filter { $0.count <= count }
        }
        for waiter in reached { waiter.promise.fulfil(.success(())) }
    }

    package var values: [Value] { state.withLock { $0.values } }

    /// Waits for this many values. Throws `.timeout` when they do not come.
    package func values(_ count: Int, within limit: Duration = .hangLimit) async throws(NATSError) -> [Value] {
        let promise = Promise<Void>()
        state.withLock { state in
            if state.values.count >= count {
                promise.fulfil(.success(()))
            } else {
                state.waiting.append((count, promise))
            }
        }
        try await promise.value(within: limit).get()
        return values
    }
}
