import Foundation
import TestSupport
import Testing

/// The files that watch a daemon name what a daemon has.
@Suite struct WatchingTests {
    private static let folder = PackageRoot.path(to: "config")

    @Test(arguments: ["prometheus/lectern.rules.yml", "prometheus/lectern.rules.test.yml", "grafana/lectern.json"])
    func `alerts and dashboard name metrics that there are`(file: String) throws {
        let text = try String(contentsOfFile: "\(Self.folder)/\(file)", encoding: .utf8)
        let known = try MetricNames.inSources()
        let used = Set(text.matches(of: /lectern_[a-z_]+/).map { String($0.0) })
        #expect(used.count > 10)
        for name in used {
            let base = name.replacing(/_(bucket|sum|count)$/, with: "")
            #expect(known.contains(name) || known.contains(base), "\(name)")
        }
    }

    @Test func `the guide for operators lists every metric`() throws {
        let guide = try String(
            contentsOfFile: PackageRoot.path(to: "Sources/lectern/Operating.docc/Metrics.md"), encoding: .utf8)
        let listed = guide.matches(of: /(?m)^\| `(lectern_[a-z_]+)` \|/).map { String($0.1) }
        #expect(listed.count == Set(listed).count)
        #expect(try Set(listed).symmetricDifference(MetricNames.inSources()).sorted() == [])
    }

    @Test func `every runbook that an alert names is in the guide`() throws {
        let rules = try String(contentsOfFile: "\(Self.folder)/prometheus/lectern.rules.yml", encoding: .utf8)
        let guide = try String(
            contentsOfFile: PackageRoot.path(to: "Sources/lectern/Operating.docc/Alerts.md"), encoding: .utf8)
        for runbook in rules.matches(of: /runbook: ([A-Za-z]+)/) {
            #expect(guide.contains("### \(runbook.1)\n"), "\(runbook.1)")
        }
    }

    @Test func `the dashboard is JSON whose panels have queries and say what they show`() throws {
        let bytes = try Data(contentsOf: URL(filePath: "\(Self.folder)/grafana/lectern.json"))
        let board = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let panels = try #require(board["panels"] as? [[String: Any]])
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        for panel in panels where panel["type"] as? String != "row" {
            let targets = panel["targets"] as? [[String: Any]] ?? []
            #expect(!targets.isEmpty && targets.allSatisfy { $0["expr"] is String })
            #expect((panel["description"] as? String)?.isEmpty == false)
        }
    }

    @Test func `every alert says whom it wakes, and where the guide says what to do`() throws {
        let rules = try String(contentsOfFile: "\(Self.folder)/prometheus/lectern.rules.yml", encoding: .utf8)
        let alerts = rules.split(separator: "- alert: ").dropFirst()
        #expect(alerts.count > 10)
        for alert in alerts {
            #expect(alert.contains("severity: page") || alert.contains("severity: ticket"))
            #expect(alert.contains("summary:") && alert.contains("runbook:"))
        }
    }
}
