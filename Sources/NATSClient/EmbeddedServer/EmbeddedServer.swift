internal import Foundation

/// A `nats-server` child process on 127.0.0.1, without credentials unless its configuration asks for them.
///
/// It ends with `stop()`, and also when this process ends in any other way.
public final class EmbeddedServer: Sendable {
    /// What the child is started with.
    public struct Settings: Sendable {
        /// The program; looked for on PATH and in the usual `sbin` directories when it has no slash.
        public var program = "nats-server"
        /// 0 lets the server choose a free port.
        public var port = 0
        /// Where JetStream keeps its files, and leaves them; without it JetStream is off.
        public var storeDirectory: String?
        /// The text of a configuration file: accounts, permissions, limits.
        public var configuration: String?
        /// How long the server may take to listen.
        public var startTimeout: Duration = .seconds(10)

        /// The defaults above.
        public init() {}
    }

    /// `nats://127.0.0.1:PORT`.
    public let url: String
    /// The port it listens on.
    public let port: Int
    /// The server's process.
    public var processIdentifier: Int32 { child.identifier }

    private let child: ChildProcess
    private let directory: ServerDirectory

    private init(child: ChildProcess, directory: ServerDirectory, port: Int) {
        self.child = child
        self.directory = directory
        self.port = port
        url = "nats://127.0.0.1:\(port)"
    }

    /// Starts a server and waits until it listens.
    ///
    /// - Throws: `EmbeddedServerError`, or what the file system says.
    public static func start(_ settings: Settings = Settings()) async throws -> EmbeddedServer {
        let directory = try ServerDirectory(configuration: settings.configuration)
        do {
            let child = try ChildProcess(
                settings.program, arguments: directory.arguments(for: settings), log: directory.logFile.path)
            let deadline = ContinuousClock.now + settings.startTimeout
            while true {
                if let port = directory.port(of: child.identifier) {
                    return EmbeddedServer(child: child, directory: directory, port: port)
                }
                if child.hasExited {
                    throw EmbeddedServerError(
                        exitedWith: await child.exitCode(within: .zero), log: directory.logTail(), settings)
                }
                guard ContinuousClock.now < deadline, !Task.isCancelled else {
                    await child.end(patience: .zero)
                    try Task.checkCancellation()
                    throw EmbeddedServerError.notListening(within: settings.startTimeout)
                }
                // The server tells by a file that appears in a directory.
                try? await Task.sleep(for: .milliseconds(10))
            }
        } catch {
            directory.remove()
            throw error
        }
    }

    /// Waits until the server has ended, by itself or otherwise, or the task is cancelled.
    /// - Returns: whether it has ended.
    public func waitForExit() async -> Bool {
        await child.waitForExit()
        return child.hasExited
    }

    /// Asks the server to end (SIGTERM), after `patience` ends it (SIGKILL), and removes its own directory; the
    /// store directory stays.
    public func stop(patience: Duration = .seconds(5)) async {
        await child.end(patience: patience)
        directory.remove()
    }
}
