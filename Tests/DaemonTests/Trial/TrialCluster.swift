import Foundation
import Locking
import NATSClient
import NATSTestServer
import TestSupport

/// A process of a trial's cluster.
struct TrialPart: Sendable, Hashable, CustomStringConvertible {
    enum Kind: String, Sendable, CaseIterable {
        case nats = "nats-server"
        case daemon
        case gateway
    }

    let kind: Kind
    /// The number of its node.
    let node: Int

    var description: String { "\(kind.rawValue) \(node)" }
}

/// Three NATS servers, three daemons and two gateways, which can be killed and started again.
final class TrialCluster: Sendable {
    static let gatewayNodes = [2, 3]
    static let parts =
        (1...3).map { TrialPart(kind: .nats, node: $0) } + (1...3).map { TrialPart(kind: .daemon, node: $0) }
        + gatewayNodes.map { TrialPart(kind: .gateway, node: $0) }

    let network: TrialNetwork
    let partitions: Int
    private let natsServer: String
    private let store: URL
    private let running = Locked<[TrialPart: LecternProcess]>([:])

    init(_ network: TrialNetwork, partitions: Int) throws {
        self.network = network
        self.partitions = partitions
        store = FileManager.default.temporaryDirectory.appendingPathComponent("trial-\(UUID())")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        natsServer = try Self.natsServer()
    }

    deinit { try? FileManager.default.removeItem(at: store) }

    /// The program in `LECTERN_NATS_SERVER`, or the installed one.
    private static func natsServer() throws -> String {
        if let given = NATSTestServer.program { return given }
        let folders = (EnvironmentVariable("PATH").text ?? "").split(separator: ":") + ["/usr/local/sbin", "/usr/sbin"]
        guard let file = folders.map({ "\($0)/nats-server" }).first(where: FileManager.default.isExecutableFile) else {
            throw Unexpected("no nats-server")
        }
        return file
    }

    /// The version of its NATS servers.
    func natsVersion() throws -> String {
        let output = try InstalledProgram(path: natsServer)?.run(["--version"]) ?? []
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func node(_ part: TrialPart) -> TrialNode { network.nodes[part.node - 1] }

    /// The URLs of all servers, that of one node first.
    func url(from node: Int = 1) -> String {
        let nodes = network.nodes
        return (0..<nodes.count).map { nodes[(node - 1 + $0) % nodes.count].url }.joined(separator: ",")
    }

    func client(of gateway: Int) -> HTTPClient {
        let node = network.nodes[gateway - 1]
        return HTTPClient(host: node.host, port: node.door(.http))
    }

    /// The process ids of what runs.
    var identifiers: [TrialPart: Int32] { running.withLock { $0.mapValues(\.identifier) } }

    func log(of part: TrialPart) -> String { running.withLock { $0[part] }?.log ?? "" }

    /// Starts a part; returns at once.
    func start(_ part: TrialPart) throws {
        let process =
            switch part.kind {
            case .nats: try startServer(node(part))
            case .daemon: try startLectern(part, http: "off", ["node.roles=core"])
            case .gateway:
                try startLectern(
                    part, http: "127.0.0.1:\(node(part).server(.http))", ["node.roles=gateway", "auth.insecure=true"])
            }
        running.withLock { $0[part] = process }
    }

    private func startServer(_ node: TrialNode) throws -> LecternProcess {
        let routes = network.nodes.filter { $0.number != node.number }.map { "nats://\($0.host):\($0.door(.routes))" }
        let file = store.appendingPathComponent("nats-\(node.number).conf")
        try """
        server_name: node\(node.number)
        listen: "127.0.0.1:\(node.server(.nats))"
        client_advertise: "\(node.host):\(node.door(.nats))"
        max_payload: 1MB
        jetstream: { store_dir: "\(store.path)/store-\(node.number)", max_memory_store: 64MB, max_file_store: 20GB }
        cluster: {
          name: trial
          listen: "127.0.0.1:\(node.server(.routes))"
          advertise: "\(node.host):\(node.door(.routes))"
          routes: [\(routes.map { "\"\($0)\"" }.joined(separator: ", "))]
        }
        """.write(to: file, atomically: true, encoding: .utf8)
        return try node.start("nats-server", at: natsServer, ["-c", file.path])
    }

    private func startLectern(_ part: TrialPart, http: String, _ settings: [String]) throws -> LecternProcess {
        let all =
            [
                "node.id=\(part.kind.rawValue)\(part.node)", "subjects.partitions=\(partitions)", "journal.replicas=3",
                "cohorts.default.gate=video",
            ] + settings
        return try node(part).start(
            "lectern", at: try LecternProcess.path(of: "lectern"),
            ["serve", "--nats", url(from: part.node), "--http", http] + all.flatMap { ["--set", $0] },
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    /// Kills a part with SIGKILL.
    func kill(_ part: TrialPart) async {
        guard let process = running.withLock({ $0.removeValue(forKey: part) }) else { return }
        process.send(SIGKILL)
        await process.end()
    }

    /// - Throws: what a part has said that has ended by itself.
    func check() throws {
        for (part, process) in running.withLock({ $0 }) where process.hasExited {
            throw Unexpected("\(part) has ended: \(process.log.suffix(2000))")
        }
    }

    /// Starts all parts and waits until they serve.
    func startAll(_ connection: NATSConnection, _ members: MemberMonitor) async throws {
        try await start(TrialPart.Kind.allCases, connection, members)
    }

    private func start(
        _ kinds: [TrialPart.Kind], _ connection: NATSConnection, _ members: MemberMonitor
    ) async throws {
        for part in Self.parts where part.kind == .nats && kinds.contains(.nats) { try start(part) }
        try await connection.waitForLeader(within: .seconds(60))
        for part in Self.parts where part.kind != .nats && kinds.contains(part.kind) { try start(part) }
        try await waitUntilServing(members)
        for gateway in Self.gatewayNodes {
            let client = client(of: gateway)
            try await eventually(
                "gateway \(gateway) is ready", within: .seconds(60), is: await client.get("/readyz").statusCode == 200)
        }
    }

    /// Waits until each partition is served, by one daemon alone.
    func waitUntilServing(_ members: MemberMonitor) async throws {
        do {
            try await eventually("each partition is served by one daemon", within: .seconds(60)) {
                try check()
                return (0..<partitions).allSatisfy { members.servers(of: $0).count == 1 } ? () : nil
            }
        } catch {
            let logs = Self.parts.map { "\($0): \(log(of: $0).suffix(1500))" }
            throw Unexpected("\(error)\n\(logs.joined(separator: "\n"))")
        }
    }

    /// Kills everything of these kinds, and starts it again.
    func restart(
        _ kinds: [TrialPart.Kind], _ connection: NATSConnection, _ members: MemberMonitor
    ) async throws {
        for part in Self.parts.reversed() where kinds.contains(part.kind) { await kill(part) }
        try await start(kinds, connection, members)
    }

    /// Kills everything of these kinds, takes the ends of the logs of all servers, of each one's another part, and starts it
    /// again.
    /// - Returns: once all partitions have been restored, after how long.
    func losePower(
        _ kinds: [TrialPart.Kind], _ random: inout SeededGenerator, _ connection: NATSConnection,
        _ members: MemberMonitor
    ) async throws -> Duration {
        for part in Self.parts.reversed() where kinds.contains(part.kind) { await kill(part) }
        let before = restorations
        for number in 1...network.nodes.count {
            try PowerCut("\(store.path)/store-\(number)")
                .cut("INK_LOG_", marked: ".in.", keeping: Double.random(in: 0.2...0.95, using: &random))
        }
        let begin = ContinuousClock.now
        for part in Self.parts where part.kind == .nats { try start(part) }
        try await waitForLeaders(connection)
        try await start(kinds.filter { $0 != .nats }, connection, members)
        try await eventually("all partitions are restored", within: .seconds(120), every: .milliseconds(200)) {
            try check()
            return restorations - before >= partitions ? () : nil
        }
        try await waitUntilServing(members)
        return begin.duration(to: .now)
    }

    /// Waits until all logs and checkpoints have leaders. nats-server 2.12.8 elects none where all servers have lost what their
    /// Raft snapshots refer to: their replicas are set to 1 and back, as an operator would.
    private func waitForLeaders(_ connection: NATSConnection) async throws {
        let streams = (0..<partitions).flatMap { ["INK_LOG_\($0)", "INK_CHECKPOINT_\($0)"] }
        try await concurrently(streams) { try await self.waitForLeader(of: $0, connection) }
    }

    private func waitForLeader(of stream: String, _ connection: NATSConnection) async throws {
        var patience = Duration.seconds(30)
        var asked = ContinuousClock.now
        try await eventually("\(stream) has a leader", within: .seconds(180), every: .milliseconds(200)) {
            let reply = try await connection.request(to: "$JS.API.STREAM.INFO.\(stream)", timeout: .seconds(1))
            let state = try JSONDecoder().decode(StreamState.self, from: Data(reply.payload))
            if state.cluster?.leader != nil {
                if state.config.replicas > 1 { return }
                try await JetStream(connection).setReplicas(3, of: stream)
            } else if asked.duration(to: .now) > patience {
                (asked, patience) = (.now, .seconds(10))
                print("\(stream) has no leader; its replicas are set to 1 and back")
                try await JetStream(connection).setReplicas(1, of: stream)
            }
            throw Unexpected(String(decoding: reply.payload, as: UTF8.self))
        }
    }

    /// How many partitions the daemons that run have restored.
    private var restorations: Int {
        Self.parts.filter { $0.kind == .daemon }.reduce(0) { sum, part in
            sum + log(of: part).split(separator: "\n").count { $0.contains("the log has lost its end; rooms go on") }
        }
    }
}

/// Processor time and memory of a trial's processes, sampled each second.
final class TrialMeter: Sendable {
    struct Usage: Sendable {
        /// Seconds of processor time.
        var processor = 0.0
        /// Greatest resident memory, in bytes.
        var memory = 0
    }

    private struct State {
        var usage: [String: Usage] = [:]
        /// Clock ticks of each process at the last sample.
        var ticks: [Int32: Int] = [:]
    }

    private let cluster: TrialCluster
    private let state = Locked(State())

    init(of cluster: TrialCluster) {
        self.cluster = cluster
        sample()
        state.withLock { $0.usage = [:] }
    }

    /// By the name of the process; the trial's own is `trial`.
    var usage: [String: Usage] { state.withLock { $0.usage } }

    /// Samples until cancelled.
    func watch() async {
        while !Task.isCancelled {
            sample()
            try? await Task.sleep(for: .seconds(1))
        }
    }

    func sample() {
        let processes = cluster.identifiers.map { ("\($0)", $1) } + [("trial", getpid())]
        for (name, process) in processes {
            let ticks = Self.ticks(of: process)
            let memory = ProcessMemory(of: process).resident ?? 0
            state.withLock { state in
                var usage = state.usage[name] ?? Usage()
                usage.processor += Double(ticks - (state.ticks[process] ?? 0)) / Double(sysconf(Int32(_SC_CLK_TCK)))
                usage.memory = max(usage.memory, memory)
                state.usage[name] = usage
                state.ticks[process] = ticks
            }
        }
    }

    private static func ticks(of process: Int32) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        // After the name, which may have blanks: state, and eleven fields before user and system time.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12 else { return 0 }
        return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
    }
}
