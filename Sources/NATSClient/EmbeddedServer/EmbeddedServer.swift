/// A `nats-server` child process on 127.0.0.1.
public final class EmbeddedServer: Sendable {
    /// What the child is started with.
    public struct Settings: Sendable {
        /// The program; looked for on PATH when it has no slash.
        public var program = "nats-server"
        /// 0 lets the server choose a free port.
        public var port = 0
        /// Where JetStream keeps its files; without it JetStream is off.
        public var storeDirectory: String?
        /// The text of a configuration file: accounts, permissions, limits.
        public var configuration: String?
        /// How long the server may take to listen.
        public var startTimeout: Duration = .seconds(10)

        /// The defaults above.
        public init() {}
    }

    /// Starts a server and waits until it listens.
    public static func start(_ settings: Settings = Settings()) async throws -> EmbeddedServer {
        fatalError("being written")
    }

    /// `nats://127.0.0.1:PORT`.
    public var url: String { fatalError("being written") }

    /// Asks the server to end (SIGTERM), after `patience` ends it (SIGKILL), and removes its own directory.
    public func stop(patience: Duration = .seconds(5)) async { fatalError("being written") }
}
