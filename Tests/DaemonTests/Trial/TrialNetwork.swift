import Foundation
import LinkForwarder
import Locking
import TestSupport

/// A host of a trial. Its servers listen on a loopback address; the way to them leads through doors, which delay what goes
/// between hosts.
struct TrialNode: Sendable {
    enum Service: Int, CaseIterable, Sendable {
        case nats, routes, http
    }

    /// From 1.
    let number: Int
    /// The address of its doors.
    let host: String
    let doors: [Int]
    /// The ports of its servers, on 127.0.0.1.
    let servers: [Int]
    /// The file of its network namespace; nil: that of this process.
    fileprivate let namespace: String?

    func door(_ service: Service) -> Int { doors[service.rawValue] }

    func server(_ service: Service) -> Int { servers[service.rawValue] }

    /// Where its NATS server takes clients.
    var url: String { "nats://\(host):\(door(.nats))" }

    /// Starts a program on this host; returns at once.
    func start(_ name: String, at path: String, _ arguments: [String], environment: [String: String] = [:]) throws
        -> LecternProcess
    {
        guard let namespace else {
            return try LecternProcess(arguments, program: name, at: path, environment: environment)
        }
        return try LecternProcess(
            ["--net=\(namespace)", path] + arguments, program: name, at: "/usr/bin/nsenter", environment: environment)
    }
}

/// Three hosts and a bridge between them, to which this process, with all clients, is connected too.
///
/// Delay and jitter are those of doors (the kernel need have no netem), losses and partitions those of iptables. All of it is
/// in namespaces that end with the trial's processes.
final class TrialNetwork: Sendable {
    /// What a direction of a link takes at least and at most.
    struct Delay: Sendable {
        var least: Duration
        var most: Duration
    }

    let nodes: [TrialNode]
    let hasNamespaces: Bool
    /// One for each node; any thread may call them.
    nonisolated(unsafe) private let forwarders: [OpaquePointer?]
    /// Rules of iptables in force, which `heal` takes away.
    private let rules = Locked<[(node: Int, rule: [String])]>([])

    /// - Parameter isIsolated: whether this process has a network namespace of its own, in which it may do what it likes;
    ///   without, all hosts are 127.0.0.1, and there are neither losses nor partitions.
    init(isIsolated: Bool, seed: UInt64) async throws {
        hasNamespaces = isIsolated
        nodes = isIsolated ? try await Self.namespaces() : try Self.loopback()
        forwarders = try nodes.map { node in
            let address = try Self.number(node.host)
            let loopback = try Self.number("127.0.0.1")
            let doors = TrialNode.Service.allCases.map { service in
                link_door(
                    host: address, port: UInt16(node.door(service)), target_host: loopback,
                    target_port: UInt16(node.server(service)))
            }
            var forwarder: OpaquePointer?
            let code = link_forwarder_start(
                node.namespace, doors, Int32(doors.count), seed &+ UInt64(node.number), &forwarder)
            guard code == 0 else { throw Unexpected("no doors on node \(node.number): errno \(code)") }
            return forwarder
        }
    }

    deinit { for case let forwarder? in forwarders { link_forwarder_stop(forwarder) } }

    private static let clients = "10.77.0.254"

    private static func loopback() throws -> [TrialNode] {
        let services = TrialNode.Service.allCases.count
        // A free port may be found twice.
        var ports: Set<Int> = []
        while ports.count < 3 * 2 * services { ports.insert(try FreePort.find()) }
        return (1...3).map { number in
            let own = (0..<2 * services).compactMap { _ in ports.popFirst() }
            return TrialNode(
                number: number, host: "127.0.0.1", doors: Array(own.prefix(services)),
                servers: Array(own.suffix(services)), namespace: nil)
        }
    }

    private static func namespaces() async throws -> [TrialNode] {
        try ip("link add trial type bridge")
        try ip("addr add \(clients)/24 dev trial")
        try ip("link set trial up")
        var nodes: [TrialNode] = []
        for number in 1...3 {
            // A namespace is there as long as this process.
            let holder = try LecternProcess(["--net", "sleep", "infinity"], program: "host", at: "/usr/bin/unshare")
            let namespace = "/proc/\(holder.identifier)/ns/net"
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net")
            try await eventually("node \(number) has a namespace") {
                try FileManager.default.destinationOfSymbolicLink(atPath: namespace) == own ? nil : ()
            }
            let node = TrialNode(
                number: number, host: "10.77.0.\(number)", doors: [4222, 6222, 8080], servers: [4222, 6222, 8080],
                namespace: namespace)
            try ip("link add node\(number) type veth peer name eth0 netns \(holder.identifier)")
            try ip("link set node\(number) master trial up")
            try ip("link set lo up", on: node)
            try ip("addr add \(node.host)/24 dev eth0", on: node)
            try ip("link set eth0 up", on: node)
            nodes.append(node)
        }
        return nodes
    }

    private static func ip(_ command: String, on node: TrialNode? = nil) throws {
        try run("ip", command.split(separator: " ").map(String.init), on: node)
    }

    private static func run(_ program: String, _ arguments: [String], on node: TrialNode?) throws {
        let command = [program] + arguments
        let inside = node?.namespace.map { ["nsenter", "--net=\($0)"] + command } ?? command
        guard let tool = InstalledProgram(inside[0]), try tool.run(Array(inside.dropFirst())) != nil else {
            throw Unexpected("failed: \(inside.joined(separator: " "))")
        }
    }

    private static func number(_ address: String) throws -> UInt32 {
        let parts = address.split(separator: ".").compactMap { UInt32($0) }
        guard parts.count == 4 else { throw Unexpected("no address: \(address)") }
        return parts.reduce(0) { $0 << 8 | $1 }
    }
}

/// What a trial does to its network.
extension TrialNetwork {
    /// Delays each link between two hosts, and those to the clients, at random up to `longest`, with as much jitter.
    /// - Returns: the delays, as text.
    func delay(upTo longest: Duration, _ random: inout SeededGenerator) throws -> String {
        var words: [String] = []
        for node in nodes {
            for other in hasNamespaces ? nodes.filter({ $0.number > node.number }).map(\.host) + [Self.clients] : [""] {
                let least = longest * Double.random(in: 0.1..<0.6, using: &random)
                let delay = Delay(least: least, most: longest)
                try set(delay, from: other, at: node)
                if let peer = nodes.first(where: { hasNamespaces && $0.host == other }) {
                    try set(delay, from: node.host, at: peer)
                }
                words.append("\(Int(least / .milliseconds(1)))")
            }
        }
        return "\(words.joined(separator: ", ")) to \(Int(longest / .milliseconds(1))) ms by link"
    }

    /// - Parameter host: empty for all.
    private func set(_ delay: Delay, from host: String, at node: TrialNode) throws {
        let address = host.isEmpty ? 0 : try Self.number(host)
        link_forwarder_delay(
            forwarders[node.number - 1], address, Int64(delay.least / .microseconds(1)),
            Int64(delay.most / .microseconds(1)))
    }

    func endDelay() throws {
        let none = Delay(least: .zero, most: .zero)
        for node in nodes {
            for host in hasNamespaces ? nodes.map(\.host) + [Self.clients] : [""] {
                try set(none, from: host, at: node)
            }
        }
    }

    /// Loses packets that come in, at every host and at the clients.
    /// - Parameter part: 0 … 1.
    func lose(_ part: Double) throws {
        for node in 0...nodes.count {
            try add(
                [
                    "INPUT", "-i", node == 0 ? "trial" : "eth0", "-m", "statistic", "--mode", "random", "--probability",
                    "\(part)", "-j", "DROP",
                ], on: node)
        }
    }

    /// Cuts a host off the other two, not off the clients.
    func isolate(_ node: TrialNode) throws {
        for other in nodes where other.number != node.number {
            try add(["INPUT", "-s", other.host, "-j", "DROP"], on: node.number)
            try add(["OUTPUT", "-d", other.host, "-j", "DROP"], on: node.number)
        }
    }

    /// Ends losses and partitions.
    func heal() throws {
        let all = rules.withLock { rules in
            defer { rules = [] }
            return rules
        }
        for (node, rule) in all { try change("-D", rule, on: node) }
    }

    /// - Parameter node: its number; 0 for the clients.
    private func add(_ rule: [String], on node: Int) throws {
        try change("-I", rule, on: node)
        rules.withLock { $0.append((node, rule)) }
    }

    private func change(_ what: String, _ rule: [String], on node: Int) throws {
        try Self.run("iptables", ["-w", what] + rule, on: node == 0 ? nil : nodes[node - 1])
    }
}
