import Foundation
import NATSClient
import NATSTestServer
import TestSupport
import Testing

/// A real Prometheus with the alerts of `config/prometheus`, beside daemons in trouble. By `make alerts`.
@Suite(
    .timeLimit(.minutes(10)), .endsProcesses,
    .enabled(if: EnvironmentVariable("LECTERN_PROMETHEUS").text != nil, "needs Prometheus: make alerts"))
struct AlertTests {
    @Test
    func `a dead clock, a full log, a thread that lags and a daemon that is gone fire their alerts`() async throws {
        try await NATSTestServer.withConnection(jetStream: true) { nats, connection in
            let lesson = try LecternProcess([
                "serve", "--nats", nats.url, "--http", "127.0.0.1:0", "--set", "journal.max_bytes=1MiB", "--set",
                "cohorts.default.policy=hold", "--set", "checkpoint.interval=1h", "--set",
                "checkpoint.operations=1000000",
            ])
            let flooded = try LecternProcess([
                "serve", "--nats", nats.url, "--http", "127.0.0.1:0", "--journal", "none", "--set",
                "subjects.root=flood", "--set", "server.workers=1", "--set", "limits.messages_per_second=100000",
            ])
            let gone = try LecternProcess([
                "serve", "--nats", nats.url, "--http", "127.0.0.1:0", "--journal", "none", "--set",
                "subjects.root=gone",
            ])
            let ports = try await [lesson.httpPort(), flooded.httpPort(), gone.httpPort()]
            for daemon in [lesson, flooded, gone] { try await daemon.waitForLog("] serving") }
            let prometheus = try await Prometheus(targets: ports)

            // Well: nothing fires.
            try await eventually("all are scraped", is: await prometheus.value("sum(up)") == "3")
            #expect(try await prometheus.firing().isEmpty)

            await gone.end()
            try await starveClock(connection)
            try await fillLog(connection)
            try await flood(connection)
            let expected: Set = [
                "LecternClockDead main", "LecternLogAlmostFull ", "LecternWorkerStalled ", "LecternDown ",
            ]
            var seen: Set<String> = []
            _ = try await eventually("all alerts have fired", within: .seconds(180)) {
                try await flood(connection)
                seen.formUnion(try await prometheus.firing())
                return expected.isSubset(of: seen) ? true : nil
            }
            print("fired: \(seen.sorted())")
            await prometheus.end()
        }
    }

    /// A stroke that waits for a clock that says one thing and then no more.
    private func starveClock(_ connection: NATSConnection) async throws {
        try connection.publish(Array(#"{"m":1000}"#.utf8), to: "ink.0.dead.clock.main")
        try connection.publish(Array(#"{"n":1,"t":900000,"d":[{"x":1,"y":1}]}"#.utf8), to: "ink.0.dead.in.anna")
        try await connection.flush()
    }

    /// Records that no checkpoint has, so that none may go.
    private func fillLog(_ connection: NATSConnection) async throws {
        let points = (0..<300).map { #"{"x":\#($0),"y":\#($0)}"# }.joined(separator: ",")
        for number in 1...200 {
            try connection.publish(Array(#"{"n":\#(number),"d":[\#(points)]}"#.utf8), to: "ink.0.full.in.ben")
        }
        try await connection.flush()
    }

    private func flood(_ connection: NATSConnection) async throws {
        let points = (0..<200).map { #"{"x":\#($0),"y":\#($0)}"# }.joined(separator: ",")
        for number in 1...4000 {
            let message = #"{"n":\#(number),"d":[\#(points)]}"#
            try connection.publish(Array(message.utf8), to: "flood.0.busy.in.author\(number % 30)")
        }
        try await connection.flush()
    }
}

/// A Prometheus with a folder of its own, on a free port.
private final class Prometheus: Sendable {
    private let process: LecternProcess
    private let http: HTTPClient
    private let folder: URL

    init(targets: [Int]) async throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("prometheus-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The same rules, without the minutes that keep people asleep.
        let rules = try String(
            contentsOfFile: PackageRoot.path(to: "config/prometheus/lectern.rules.yml"), encoding: .utf8)
        try rules.replacing(/for: [0-9]+[sm]/, with: "for: 1s").write(
            to: folder.appendingPathComponent("rules.yml"), atomically: true, encoding: .utf8)
        let addresses = targets.map { "\"127.0.0.1:\($0)\"" }.joined(separator: ", ")
        try """
        global: { scrape_interval: 1s, evaluation_interval: 1s }
        rule_files: [rules.yml]
        scrape_configs:
          - job_name: lectern
            static_configs: [{ targets: [\(addresses)] }]
        """.write(to: folder.appendingPathComponent("prometheus.yml"), atomically: true, encoding: .utf8)
        let port = try FreePort.find()
        process = try LecternProcess(
            [
                "--config.file=\(folder.path)/prometheus.yml", "--storage.tsdb.path=\(folder.path)/data",
                "--web.listen-address=127.0.0.1:\(port)",
            ], at: "/usr/bin/prometheus")
        http = HTTPClient(port: port)
        try await eventually("Prometheus is ready", is: (try? await http.get("/-/ready"))?.statusCode == 200)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func end() async { await process.end() }

    /// The value of an instant query; nil for none.
    func value(_ query: String) async throws -> String? {
        let answer = try await json("/api/v1/query?query=\(query)")
        let results = (answer["data"] as? [String: Any])?["result"] as? [[String: Any]]
        return (results?.first?["value"] as? [Any])?.last as? String
    }

    /// Alerts that fire, each with its cohort where it has one.
    func firing() async throws -> Set<String> {
        let answer = try await json("/api/v1/alerts")
        let alerts = (answer["data"] as? [String: Any])?["alerts"] as? [[String: Any]] ?? []
        return Set(
            alerts.filter { $0["state"] as? String == "firing" }.compactMap { alert in
                let labels = alert["labels"] as? [String: String] ?? [:]
                return labels["alertname"].map { "\($0) \(labels["cohort"] ?? "")" }
            })
    }

    private func json(_ path: String) async throws -> [String: Any] {
        let bytes = try await http.get(path).bytes
        return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
    }
}
