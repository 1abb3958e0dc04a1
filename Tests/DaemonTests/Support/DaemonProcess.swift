import Foundation

/// The built `lectern serve`, as a child process that ends with the test.
final class DaemonProcess: Sendable {
    let name: String
    private let process: LecternProcess

    /// Starts it; returns at once.
    init(_ name: String, nats: String, http: String = "off", _ settings: [String] = []) throws {
        self.name = name
        process = try LecternProcess(
            ["serve", "--nats", nats, "--http", http] + (["node.id=\(name)"] + settings).flatMap { ["--set", $0] })
    }

    var log: String { process.log }

    /// Lines of its log that have a text.
    func lines(with text: String) -> [Substring] { log.split(separator: "\n").filter { $0.contains(text) } }

    var hasExited: Bool { process.hasExited }

    /// Waits for a line of its log.
    func waitForLog(_ text: String, within limit: Duration = .seconds(30)) async throws {
        try await process.waitForLog(text, within: limit)
    }

    func waitUntilServing() async throws { try await waitForLog(" serving") }

    /// Ends it as a crash does.
    func kill() async {
        process.send(SIGKILL)
        await process.end()
    }

    /// Asks it to end in an orderly way.
    /// - Returns: its exit code.
    func terminate(within limit: Duration = .seconds(30)) async -> Int32? {
        terminateSoon()
        return await exitCode(within: limit)
    }

    func exitCode(within limit: Duration) async -> Int32? { await process.exitCode(within: limit) }

    /// The same without waiting for it.
    func terminateSoon() { process.send(SIGTERM) }

    /// Lets it stand still.
    func pause() { process.send(SIGSTOP) }

    func resume() { process.send(SIGCONT) }
}
