import Metrics
import Testing

@testable import LecternGateway

@Suite("Recording from many threads")
struct RecordingTests {
    @Test("nothing is lost while others register and scrape")
    func concurrent() async {
        let registry = PrometheusRegistry()
        let (tasks, rounds) = (8, 2000)
        await withDiscardingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    let seconds = Recorder(label: "r_seconds", factory: registry)
                    let gauge = Meter(label: "g", factory: registry)
                    for round in 0..<rounds {
                        Counter(label: "c", dimensions: [("k", "\(round % 7)")], factory: registry).increment()
                        seconds.record(0.25)
                        if task.isMultiple(of: 2) { gauge.increment(by: 0.5) } else { gauge.decrement(by: 0.5) }
                        if round.isMultiple(of: 500) { #expect(registry.text().hasSuffix("\n")) }
                    }
                }
            }
        }
        let lines = registry.text().split(separator: "\n")
        let counted = lines.filter { $0.hasPrefix("c_total{") }.compactMap { Int($0.split(separator: " ")[1]) }
        #expect(counted.reduce(0, +) == tasks * rounds)
        #expect(lines.contains("r_seconds_count \(tasks * rounds)"))
        #expect(lines.contains("r_seconds_sum \(tasks * rounds / 4)"))
        #expect(lines.contains("g 0"))
    }
}
