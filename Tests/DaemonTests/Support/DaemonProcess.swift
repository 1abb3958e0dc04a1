import Foundation
import NATSClient
import NATSTestServer
import Synchronization
import TestSupport

/// The built `lectern serve`, as a child process that ends with the test.
final class DaemonProcess: Sendable {
    let name: String
    private let child: ChildProcess
    private let logFile: URL

    /// Where the build has put it: beside the test program.
    private static var executable: String {
        get throws {
            let program = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
            let path = program.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("lectern")
            guard FileManager.default.isExecutableFile(atPath: path.path) else {
                throw Unexpected("no lectern at \(path.path)")
            }
            return path.path
        }
    }

    /// Starts it; returns at once.
    init(_ name: String, nats: String, _ settings: [String] = []) throws {
        self.name = name
        logFile = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(name)-\(UUID()).log")
        let arguments =
            [try Self.executable, "serve", "--nats", nats, "--http", "off"]
            + (["node.id=\(name)"] + settings).flatMap { ["--set", $0] }
        // What is said to the tests by LECTERN_… is no setting of the daemon's.
        let foreign = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("LECTERN_") }
        child = try ChildProcess(
            "/usr/bin/env", arguments: foreign.flatMap { ["-u", $0] } + arguments, log: logFile.path)
    }

    deinit {
        try? FileManager.default.removeItem(at: logFile)
    }

    var log: String {
        (try? Data(contentsOf: logFile)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    var hasExited: Bool { child.hasExited }

    /// Waits for a line of its log.
    func waitForLog(_ text: String, within limit: Duration = .seconds(30)) async throws {
        do {
            _ = try await eventually("\(name) says \"\(text)\"", within: limit) {
                guard !hasExited || log.contains(text) else { throw Unexpected("it has ended") }
                return log.contains(text) ? true : nil
            }
        } catch {
            throw Unexpected("\(error); it said:\n\(log)")
        }
    }

    func waitUntilServing() async throws { try await waitForLog(" serving") }

    /// Ends it as a crash does.
    func kill() async {
        send(SIGKILL)
        await child.end(patience: .seconds(5))
    }

    /// Asks it to end in an orderly way.
    /// - Returns: its exit code.
    func terminate(within limit: Duration = .seconds(30)) async -> Int32? {
        send(SIGTERM)
        return await exitCode(within: limit)
    }

    func exitCode(within limit: Duration) async -> Int32? { await child.exitCode(within: limit) }

    /// The same without waiting for it.
    func terminateSoon() { send(SIGTERM) }

    /// Lets it stand still.
    func pause() { Foundation.kill(child.identifier, SIGSTOP) }

    func resume() {
        if !child.hasExited { Foundation.kill(child.identifier, SIGCONT) }
    }

    private func send(_ signal: Int32) {
        if !child.hasExited { Foundation.kill(child.identifier, signal) }
    }
}
