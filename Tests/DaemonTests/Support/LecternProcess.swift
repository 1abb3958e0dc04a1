import Foundation
import NATSClient
import NATSTestServer
import TestSupport

/// The built `lectern` with some arguments, as a child process that ends with the test.
final class LecternProcess: Sendable {
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
    ///
    /// - Parameter environment: for what it needs to be told beside its arguments.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        guard let started = StartedProcesses.ofThisTest else { throw Unexpected("nobody would end the program") }
        logFile = FileManager.default.temporaryDirectory.appendingPathComponent("lectern-\(UUID()).log")
        // What is said to the tests by LECTERN_… is no setting of the program's.
        let foreign = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("LECTERN_") }
        child = try ChildProcess(
            "/usr/bin/env",
            arguments: foreign.flatMap { ["-u", $0] } + environment.map { "\($0)=\($1)" } + [Self.executable]
                + arguments, log: logFile.path)
        started.add(child)
    }

    deinit {
        try? FileManager.default.removeItem(at: logFile)
    }

    /// What it wrote to standard output and error.
    var log: String {
        (try? Data(contentsOf: logFile)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    var hasExited: Bool { child.hasExited }

    /// Waits for some text in what it writes.
    func waitForLog(_ text: String, within limit: Duration = .seconds(30)) async throws {
        do {
            _ = try await eventually("it says \"\(text)\"", within: limit) {
                guard !hasExited || log.contains(text) else { throw Unexpected("it has ended") }
                return log.contains(text) ? true : nil
            }
        } catch {
            throw Unexpected("\(error); it said:\n\(log)")
        }
    }

    /// Nil where a signal ended it, or it has not ended within `limit`.
    func exitCode(within limit: Duration = .seconds(30)) async -> Int32? { await child.exitCode(within: limit) }

    func send(_ signal: Int32) {
        if !child.hasExited { Foundation.kill(child.identifier, signal) }
    }

    /// SIGTERM, and SIGKILL after `patience`; returns when it has ended.
    func end(patience: Duration = .seconds(5)) async { await child.end(patience: patience) }
}

extension LecternProcess {
    /// Runs a command to its end.
    static func run(_ arguments: String...) async throws -> (exitCode: Int32?, log: String) {
        let process = try LecternProcess(arguments)
        let code = await process.exitCode()
        return (code, process.log)
    }
}
