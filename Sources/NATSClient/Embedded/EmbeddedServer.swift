internal import Foundation

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A `nats-server` child process on 127.0.0.1, without authentication unless its configuration says otherwise.
///
/// It ends at `stop()`, and whenever this process ends.
package final class EmbeddedServer: Sendable {
    package struct Settings: Sendable {
        /// The program: a path, or a name to be found on PATH or in the usual `sbin` directories.
        package var program = "nats-server"
        /// The port; 0 lets the server choose a free one.
        package var port = 0
        /// The directory of JetStream's files, which stay after the end; without it JetStream is off. Of the servers that are
        /// started so one has it at a time.
        package var storeDirectory: String?
        /// The text of a configuration file: accounts, permissions, limits.
        package var configuration: String?
        /// Whether JetStream syncs a message to disk before it acknowledges it, where the program can: from 2.10 on. Against
        /// power cuts; it costs a sync for each message or batch of them. Not where `configuration` has a block `jetstream`.
        package var syncsAlways = false
        /// The time limit for the server to listen.
        package var startTimeout: Duration = .seconds(30)

        /// The defaults above.
        package init() {}
    }

    /// `nats://127.0.0.1:PORT`.
    package let url: String
    package let port: Int
    /// Whether it syncs each message before it acknowledges it.
    package let syncsAlways: Bool
    /// The number of the server's process.
    package var processIdentifier: Int32 { child.identifier }

    private let child: ChildProcess
    private let directory: ServerDirectory

    private init(child: ChildProcess, directory: ServerDirectory, port: Int, syncsAlways: Bool) {
        self.child = child
        self.syncsAlways = syncsAlways
        self.directory = directory
        self.port = port
        url = "nats://127.0.0.1:\(port)"
    }

    /// Starts a server and waits until it listens.
    ///
    /// - Throws: `EmbeddedServerError`, or an error of the file system.
    package static func start(_ settings: Settings = Settings()) async throws -> EmbeddedServer {
        var settings = settings
        let lock = settings.storeDirectory.flatMap { StoreLock($0) }
        try await lock?.take()
        if settings.syncsAlways, let store = settings.storeDirectory, try await canSyncAlways(settings) {
            let block = "jetstream { store_dir: \"\(store)\", sync_interval: always }"
            settings.configuration = [block, settings.configuration].compactMap(\.self).joined(separator: "\n")
            settings.storeDirectory = nil
        } else {
            settings.syncsAlways = false
        }
        let directory = try ServerDirectory(configuration: settings.configuration)
        do {
            let child = try withExtendedLifetime(lock) {
                try ChildProcess(
                    settings.program, arguments: directory.arguments(for: settings), log: directory.logFile.path,
                    keeping: lock?.descriptor)
            }
            let port = try await directory.port(of: child, settings)
            return EmbeddedServer(child: child, directory: directory, port: port, syncsAlways: settings.syncsAlways)
        } catch {
            directory.remove()
            throw error
        }
    }

    /// Asks the program for its version.
    private static func canSyncAlways(_ settings: Settings) async throws -> Bool {
        let directory = try ServerDirectory(configuration: nil)
        defer { directory.remove() }
        let child = try ChildProcess(settings.program, arguments: ["--version"], log: directory.logFile.path)
        guard await child.exitCode(within: settings.startTimeout) == 0 else {
            await child.end(timeout: .zero)
            return false
        }
        // nats-server: v2.10.27
        let words = directory.logTail().split { $0.isWhitespace }
        guard let version = words.first(where: { $0.hasPrefix("v") }) else { return false }
        let numbers = version.dropFirst().split(separator: ".").prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (2, 10)
    }

    /// Waits until the server has ended, or the task is cancelled.
    /// - Returns: whether it has ended.
    package func waitForExit() async -> Bool {
        await child.waitForExit()
        return child.hasExited
    }

    /// Sends SIGTERM, and SIGKILL after `timeout`; returns when the server has ended. The store directory stays.
    package func stop(timeout: Duration = .seconds(5)) async {
        await child.end(timeout: timeout)
        directory.remove()
    }
}

/// Why an embedded server did not start.
package enum EmbeddedServerError: Error, Sendable, CustomStringConvertible {
    /// The system cannot start a process, with this `errno`.
    case notStarted(code: Int32)
    case programMissing(String)
    /// Another program listens on the port.
    case portTaken(Int)
    /// The server ended by itself; the last message of its log.
    case exited(why: String)
    /// The server did not listen in time.
    case notListening(within: Duration)
    /// Another server has this directory of JetStream's files.
    case storeInUse(String)

    /// The error for a server that ended by itself.
    ///
    /// - Parameters:
    ///   - code: the exit code; nil for a signal.
    ///   - log: the end of its log.
    fileprivate init(exitedWith code: Int32?, log: String, _ settings: EmbeddedServer.Settings) {
        // A shell exits with 127 when it does not find the program. Only the log shows that the port was taken.
        if code == 127 {
            self = .programMissing(settings.program)
        } else if log.contains(":\(settings.port): bind: address already in use") {
            self = .portTaken(settings.port)
        } else {
            self = .exited(why: Self.lastMessage(of: log))
        }
    }

    package var description: String {
        switch self {
        case .notStarted(let code): "nats-server cannot be started: error \(code)"
        case .programMissing(let program): "no program \(program) on the PATH or in the usual sbin directories"
        case .portTaken(let port): "port \(port) of 127.0.0.1 is taken"
        case .exited(let why): "nats-server ended by itself: \(why)"
        case .notListening(let limit): "nats-server does not listen after \(limit / .seconds(1)) s"
        case .storeInUse(let directory): "another nats-server, started in the same way, has its files in \(directory)"
        }
    }

    /// The message of the fatal line, or else of the last line, without what is before it:
    /// `[4711] 2026/01/31 12:00:00.000000 [FTL] Can't start JetStream: …`, or `nats-server: server.conf:1:0: …`.
    private static func lastMessage(of log: String) -> String {
        let lines = log.split(whereSeparator: \.isNewline)
        guard let line = lines.last(where: { $0.contains("[FTL]") }) ?? lines.last else { return "no reason given" }
        for mark in ["[FTL] ", "nats-server: "] {
            let parts = line.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { return String(parts[1]) }
        }
        return String(line)
    }
}

/// Keeps a store to one server: its process has the lock until it ends, whatever becomes of the one that started it.
///
/// A server opens its store before it finds that its port is taken, and so destroys what another one that runs has acknowledged
/// there (nats-server 2.9.10: after 15 such starts 3,551 of 9,152 messages were gone).
private final class StoreLock: Sendable {
    private let directory: String
    let descriptor: Int32

    /// How long a server may take to end whose starter has been killed.
    private static let patience = Duration.seconds(5)

    /// Nil where the directory cannot be had: the server says why.
    init?(_ directory: String) {
        self.directory = directory
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        descriptor = open("\(directory)/lectern.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    func take() async throws {
        let deadline = ContinuousClock.now + Self.patience
        // Not every file system has locks.
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            guard ContinuousClock.now < deadline else { throw EmbeddedServerError.storeInUse(directory) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

/// The directory of a server's configuration, its log, and the file with its port.
private struct ServerDirectory: Sendable {
    private let url: URL
    private let hasConfiguration: Bool

    /// A new directory for temporary files.
    init(configuration: String?) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-nats-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        hasConfiguration = configuration != nil
        if let configuration {
            try Data(configuration.utf8).write(to: configurationFile)
        }
    }

    var logFile: URL { url.appendingPathComponent("server.log") }

    private var configurationFile: URL { url.appendingPathComponent("server.conf") }

    func arguments(for settings: EmbeddedServer.Settings) -> [String] {
        let port = settings.port == 0 ? "-1" : String(settings.port)
        var arguments = ["-a", "127.0.0.1", "-p", port, "--ports_file_dir", url.path]
        if hasConfiguration { arguments += ["-c", configurationFile.path] }
        if let store = settings.storeDirectory { arguments += ["-js", "-sd", store] }
        return arguments
    }

    /// Waits until a server listens; ends it where it takes too long.
    func port(of child: ChildProcess, _ settings: EmbeddedServer.Settings) async throws -> Int {
        let deadline = ContinuousClock.now + settings.startTimeout
        while true {
            if let port = port(of: child.identifier) { return port }
            if child.hasExited {
                throw EmbeddedServerError(
                    exitedWith: await child.exitCode(within: .zero), log: logTail(), settings)
            }
            guard ContinuousClock.now < deadline, !Task.isCancelled else {
                await child.end(timeout: .zero)
                try Task.checkCancellation()
                throw EmbeddedServerError.notListening(within: settings.startTimeout)
            }
            // The server reports its port in a file that appears in a directory.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The server's port, once it listens: the file is named after the program and the process.
    private func port(of process: Int32) -> Int? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: url.path),
            let name = names.first(where: { $0.hasSuffix("_\(process).ports") }),
            let data = try? Data(contentsOf: url.appendingPathComponent(name)),
            let ports = try? JSONDecoder().decode(Ports.self, from: data)
        else { return nil }
        return ports.nats.lazy.compactMap { URL(string: $0)?.port }.first
    }

    private struct Ports: Decodable {
        var nats: [String]
    }

    func logTail() -> String {
        let log = (try? Data(contentsOf: logFile)) ?? Data()
        return String(decoding: log.suffix(1000), as: UTF8.self)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
