import Foundation
import Locking
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// The built `lectern` as a child process that ends with the test.
final class LecternProcess: Sendable {
    private let child: ChildProcess
    private let logFile: URL

    /// Of `lectern` the path in `LECTERN_PROGRAM`, of `lectern-probe` that in `LECTERN_PROBE`; else, and of other programs, the
    /// file beside the test program.
    static func path(of program: String) throws -> String {
        let variable = ["lectern": "LECTERN_PROGRAM", "lectern-probe": "LECTERN_PROBE"][program]
        if let given = variable.flatMap({ EnvironmentVariable($0).text }) { return given }
        let test = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let path = test.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(program).path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Unexpected("no \(program) at \(path)") }
        return path
    }

    /// Starts it; returns at once.
    ///
    /// - Parameters:
    ///   - program: `lectern`, or another program of the package.
    ///   - path: of a program that is none of the package's; nil for `program`.
    ///   - environment: variables added to those of the test, which passes on none of its `LECTERN_…`.
    ///   - input: the file that is its standard input; nil for none.
    init(
        _ arguments: [String], program: String = "lectern", at path: String? = nil, environment: [String: String] = [:],
        input: String? = nil
    ) throws {
        guard let started = StartedProcesses.ofThisTest else { throw Unexpected("nobody would end the program") }
        logFile = FileManager.default.temporaryDirectory.appendingPathComponent("\(program)-\(UUID()).log")
        // LECTERN_… variables of the tests are no settings of the program.
        let foreign = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("LECTERN_") }
        child = try ChildProcess(
            "/usr/bin/env",
            arguments: foreign.flatMap { ["-u", $0] } + environment.map { "\($0)=\($1)" }
                + (input.map { ["/bin/sh", "-c", #"exec "$@" <"$0""#, $0] } ?? [])
                + [try path ?? Self.path(of: program)] + arguments, log: logFile.path)
        started.add(child)
    }

    /// Its process id.
    var identifier: Int32 { child.identifier }

    deinit { try? FileManager.default.removeItem(at: logFile) }

    /// Its standard output and error.
    var log: String {
        (try? Data(contentsOf: logFile)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    var hasExited: Bool { child.hasExited }

    /// Waits for a text in its output.
    func waitForLog(_ text: String, within limit: Duration = .hangLimit) async throws {
        do {
            _ = try await eventually("it says \"\(text)\"", within: limit) {
                guard !hasExited || log.contains(text) else { throw Unexpected("it has ended") }
                return log.contains(text) ? true : nil
            }
        } catch {
            throw Unexpected("\(error); it said:\n\(log)")
        }
    }

    /// The port that its HTTP side has taken.
    func httpPort() async throws -> Int {
        try await waitForLog("gateway listens")
        guard let port = log.firstMatch(of: /port=([0-9]+).*gateway listens/).flatMap({ Int($0.1) }) else {
            throw Unexpected("no port in:\n\(log)")
        }
        return port
    }

    /// Nil if a signal ended it, or it has not ended within `limit`.
    func exitCode(within limit: Duration = .hangLimit) async -> Int32? { await child.exitCode(within: limit) }

    func send(_ signal: Int32) {
        if !child.hasExited { Foundation.kill(child.identifier, signal) }
    }

    /// Sends SIGTERM, and SIGKILL after `timeout`; returns when it has ended.
    func end(timeout: Duration = .seconds(5)) async { await child.end(timeout: timeout) }
}

extension LecternProcess {
    /// Runs a command to its end.
    static func run(_ arguments: String...) async throws -> (exitCode: Int32?, log: String) {
        try await run(arguments: arguments)
    }

    static func run(arguments: [String]) async throws -> (exitCode: Int32?, log: String) {
        let process = try LecternProcess(arguments)
        let code = await process.exitCode()
        return (code, process.log)
    }
}

/// The built `lectern serve`, as a child process that ends with the test.
final class DaemonProcess: Sendable {
    let name: String
    private let process: LecternProcess

    /// Starts it; returns at once. What comes before the first sample of a clock waits, unless the settings say otherwise.
    /// - Parameter program: the path of another `lectern` than the built one.
    init(
        _ name: String, nats: String, http: String = "off", _ settings: [String] = [],
        environment: [String: String] = [:], program: String? = nil
    ) throws {
        self.name = name
        process = try LecternProcess(
            ["serve", "--nats", nats, "--http", http]
                + (["node.id=\(name)", "cohorts.default.gate=video"] + settings).flatMap { ["--set", $0] },
            at: program, environment: environment)
    }

    /// Starts it; returns when it serves.
    static func serving(
        _ name: String, nats: String, http: String = "off", _ settings: [String] = [],
        environment: [String: String] = [:], program: String? = nil
    ) async throws -> DaemonProcess {
        let daemon = try DaemonProcess(
            name, nats: nats, http: http, settings, environment: environment, program: program)
        try await daemon.waitUntilServing()
        return daemon
    }

    /// Starts it with an HTTP side on a free port; returns when it serves.
    static func servingHTTP(
        _ name: String, nats: String, _ settings: [String] = [], program: String? = nil
    ) async throws -> (DaemonProcess, HTTPClient) {
        let daemon = try await serving(name, nats: nats, http: "127.0.0.1:0", settings, program: program)
        return (daemon, HTTPClient(port: try await daemon.httpPort()))
    }

    /// Its process id.
    var identifier: Int32 { process.identifier }

    var log: String { process.log }

    /// Lines of its log that contain a text.
    func lines(with text: String) -> [Substring] { log.split(separator: "\n").filter { $0.contains(text) } }

    var hasExited: Bool { process.hasExited }

    /// Waits for a line of its log.
    func waitForLog(_ text: String, within limit: Duration = .hangLimit) async throws {
        try await process.waitForLog(text, within: limit)
    }

    func waitUntilServing() async throws { try await waitForLog(" serving") }

    /// The port that its HTTP side has taken.
    func httpPort() async throws -> Int { try await process.httpPort() }

    /// Kills it with SIGKILL, as in a crash.
    func kill() async {
        process.send(SIGKILL)
        await process.end()
    }

    /// Shuts it down with SIGTERM.
    /// - Returns: its exit code.
    func terminate(within limit: Duration = .hangLimit) async -> Int32? {
        terminateSoon()
        return await exitCode(within: limit)
    }

    func exitCode(within limit: Duration = .hangLimit) async -> Int32? { await process.exitCode(within: limit) }

    /// Sends SIGTERM without waiting for the end.
    func terminateSoon() { process.send(SIGTERM) }

    /// Suspends it (SIGSTOP) until ``resume()``.
    func pause() { process.send(SIGSTOP) }

    func resume() { process.send(SIGCONT) }

    /// Sends SIGHUP: it reads again what may change while it runs.
    func reload() { process.send(SIGHUP) }
}

/// Number of rounds in a test: a few, unless `LECTERN_ROUNDS` is set.
func rounds(_ few: Int) -> Int { asked.map(Int.init) ?? few }

/// Whether to run the long versions of tests.
var isThorough: Bool { asked != nil }

private let asked = EnvironmentVariable("LECTERN_ROUNDS").number

/// Two daemons that share the partitions.
final class DaemonPair: Sendable {
    let monitor: MemberMonitor
    private let url: String
    private let settings: [String]
    private let state: Locked<[DaemonProcess]>

    convenience init(_ url: String, _ lesson: Lesson, _ settings: [String] = []) throws {
        try self.init(url, lesson.connection, settings)
    }

    init(_ url: String, _ connection: NATSConnection, _ settings: [String] = []) throws {
        self.url = url
        self.settings = settings
        monitor = try MemberMonitor(connection)
        state = Locked(try ["a", "b"].map { try DaemonProcess($0, nats: url, settings) })
    }

    var daemons: [DaemonProcess] { state.withLock { $0 } }

    /// The daemon that serves partition 0, once both are running and just one serves it.
    func owner() async throws -> DaemonProcess {
        let name = try await monitor.owner(among: 2)
        guard let daemon = daemons.first(where: { $0.name == name }) else { throw Unexpected("no daemon \(name)") }
        return daemon
    }

    func other(than daemon: DaemonProcess) -> DaemonProcess {
        daemons.first { $0.name != daemon.name } ?? daemon
    }

    /// Starts a daemon that has ended again.
    func replace(_ daemon: DaemonProcess) throws {
        let fresh = try DaemonProcess(daemon.name, nats: url, settings)
        state.withLock { $0 = $0.map { $0.name == daemon.name ? fresh : $0 } }
    }
}

/// The running daemons and the partitions they serve, from their announcements every second.
final class MemberMonitor: Sendable {
    private struct Announcement: Decodable {
        let id: String
        let serving: [Int]
    }

    private struct Entry {
        let serving: Set<Int>
        let at: ContinuousClock.Instant
    }

    private let members = Locked<[String: Entry]>([:])
    private let subscription: NATSSubscription

    init(_ connection: NATSConnection) throws {
        subscription = try connection.subscribe("ink.members.*") { [members] message in
            guard let message = try? JSONDecoder().decode(Announcement.self, from: Data(message.copyPayload())) else {
                return
            }
            members.withLock { $0[message.id] = Entry(serving: Set(message.serving), at: .now) }
        }
    }

    deinit { subscription.unsubscribe() }

    /// The daemons that announced within two seconds that they serve the partition.
    func servers(of partition: Int = 0) -> Set<String> {
        members.withLock { members in
            Set(members.filter { $1.at.duration(to: .now) < .seconds(2) && $1.serving.contains(partition) }.keys)
        }
    }

    /// The daemon that serves a partition, once `count` daemons are running and just one serves it.
    func owner(among count: Int, of partition: Int = 0) async throws -> String {
        try await eventually("one of \(count) daemons serves partition \(partition)") {
            let present = members.withLock { $0.values.count { $0.at.duration(to: .now) < .seconds(2) } }
            let servers = servers(of: partition)
            return present == count && servers.count == 1 ? servers.first : nil
        }
    }
}
