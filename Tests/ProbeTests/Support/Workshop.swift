// `lectern-probe` beside streams that FFmpeg makes, whose pictures say their own times: what it prints is compared with that.

import Foundation
import NATSClient
import TestSupport

/// A folder of a test, and the programs that run in it. All end with the test.
final class Workshop: Sendable {
    let folder: URL

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Runs a body with a folder of its own, and removes it afterwards, also when the body throws.
    static func with<Result: Sendable>(_ body: @Sendable (Workshop) async throws -> Result) async throws -> Result {
        let workshop = try Workshop()
        defer { try? FileManager.default.removeItem(at: workshop.folder) }
        return try await body(workshop)
    }

    func path(_ file: String) -> String { folder.appending(path: file).path }

    func read(_ file: String) throws -> [UInt8] {
        try Array(Data(contentsOf: folder.appending(path: file)))
    }

    func write(_ bytes: [UInt8], to file: String) throws {
        try Data(bytes).write(to: folder.appending(path: file))
    }

    /// The built `lectern-probe`.
    static func probe() throws -> String {
        let test = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let path = test.resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "lectern-probe").path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Unexpected("no program at \(path)") }
        return path
    }

    /// Starts a command line of the shell in the folder; returns at once. `$probe` is the built program, `$ffmpeg` FFmpeg
    /// without its banner.
    func start(_ command: String) throws -> RunningCommand {
        let log = path("log-\(UUID().uuidString)")
        let preamble = """
            cd '\(folder.path)'; probe='\(try Self.probe())'; ffmpeg='ffmpeg -hide_banner -nostdin -y'
            """
        let child = try ChildProcess("/bin/sh", arguments: ["-c", "\(preamble); \(command)"], log: log)
        return RunningCommand(child: child, log: log)
    }

    /// Runs a command line of the shell to its end.
    /// - Returns: what it printed.
    @discardableResult
    func run(_ command: String, exitCode expected: Int32 = 0, within limit: Duration = .hangLimit) async throws
        -> String
    {
        let running = try start(command)
        let code = await running.child.exitCode(within: limit)
        guard code == expected else {
            await running.end()
            throw Unexpected("\(command)\nended with \(code.map(String.init) ?? "no code"):\n\(running.output)")
        }
        return running.output
    }
}

/// A command that runs beside a test.
struct RunningCommand: Sendable {
    let child: ChildProcess
    fileprivate let log: String

    /// What it has printed, errors too.
    var output: String {
        (try? Data(contentsOf: URL(filePath: log))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    func exitCode(within limit: Duration = .hangLimit) async -> Int32? { await child.exitCode(within: limit) }

    func send(_ signal: Int32) {
        if !child.hasExited { kill(child.identifier, signal) }
    }

    func end() async { await child.end(timeout: .seconds(5)) }
}
