import ArgumentParser
import CBench
import Foundation
import NATSClient

/// The relay or the daemon, as a process of its own, and the processor time that it has used.
struct RelayProcess {
    let child: ChildProcess
    private let log: String

    /// Starts the program `lectern` with rooms that have no limits.
    /// - Parameters:
    ///   - http: where its gateway listens.
    ///   - cohorts: more members of `cohorts` in its YAML file, each after a comma.
    ///   - settings: more lines of that file.
    static func service(
        _ program: String?, url: String, root: String, journal: String, isGated: Bool, http: String = "off",
        cohorts: String = "", settings: String = "", in directory: URL
    ) throws -> RelayProcess {
        let beside = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("lectern").path
        guard let path = program ?? beside, FileManager.default.isExecutableFile(atPath: path) else {
            throw ValidationError("no program 'lectern' beside this one: build it, or name it with --program")
        }
        let file = directory.appendingPathComponent("lectern.yaml")
        try """
        nats: {url: "\(url)"}
        http: {listen: "\(http)"}
        subjects: {root: "\(root)"}
        journal: {mode: \(journal)}
        cohorts: {default: {gate: \(isGated ? "video" : "none")}\(cohorts)}
        limits: {messages_per_second: 100000, bytes_per_second: 1GiB}
        logging: {level: warning}
        \(settings)
        """.write(to: file, atomically: true, encoding: .utf8)
        return try RelayProcess(
            path, ["serve", "--config", file.path], log: directory.appendingPathComponent("lectern.log"))
    }

    /// Starts this program again, as the relay.
    static func relay(url: String, root: String, stream: String?, in directory: URL) throws -> RelayProcess {
        guard let program = Bundle.main.executablePath else { throw ExitCode.failure }
        return try RelayProcess(
            program, ["bare-relay", url, root] + (stream.map { [$0] } ?? []),
            log: directory.appendingPathComponent("relay.log"))
    }

    private init(_ program: String, _ arguments: [String], log: URL) throws {
        child = try ChildProcess(program, arguments: arguments, log: log.path)
        self.log = log.path
    }

    /// - Throws: what the process has said, if it has ended.
    func check() throws {
        guard child.hasExited else { return }
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw ValidationError("the process has ended: \(text)")
    }

    func end() { kill(child.identifier, SIGTERM) }

    /// Seconds of processor time so far, of all threads.
    var processorTime: Double { Self.processorTime(of: child.identifier) }

    static func processorTime(of process: Int32) -> Double {
        // Nanoseconds on the processor, for each thread: `stat` counts in ticks of 10 ms.
        let tasks = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        let nanoseconds = threads.reduce(0.0) { sum, thread in
            let text = try? String(contentsOfFile: "\(tasks)/\(thread)/schedstat", encoding: .utf8)
            return sum + (text?.split(separator: " ").first.flatMap { Double($0) } ?? 0)
        }
        return nanoseconds / 1e9
    }
}

/// `lectern-bench bare-relay`: the relay itself, started by `lectern-bench relay`.
struct BareRelay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-relay", abstract: "Republish what authors publish.", shouldDisplay: false)

    @Argument var url: String
    @Argument var root: String
    @Argument var stream: String?

    func run() throws {
        let status = relay_run(url, root, stream)
        Progress.say("libnats status \(status)")
        throw ExitCode.failure
    }
}
