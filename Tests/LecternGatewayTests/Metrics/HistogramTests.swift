import Metrics
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Histograms")
struct HistogramTests {
    @Test("buckets are cumulative, and the last is the count", arguments: [1, 2, 3] as [UInt64])
    func cumulative(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let values = (0..<500).map { _ in Double.random(in: -1...100, using: &random) }
        let histogram = HistogramSeries(.seconds)
        for value in values { histogram.record(value) }
        let lines = written(histogram).split(separator: "\n")
        let bounds = HistogramBounds.seconds.upper + [.infinity]
        #expect(lines.count == bounds.count + 2, "seed \(seed)")
        for (line, bound) in zip(lines, bounds) {
            let expected = values.count { $0 <= bound }
            #expect(line == "m_bucket{le=\"\(ExpositionWriter.number(bound))\"} \(expected)", "seed \(seed)")
        }
        #expect(lines.last == "m_count 500")
        let sum = try #require(Double(lines[lines.count - 2].dropFirst("m_sum ".count)))
        #expect(abs(sum - values.reduce(0, +)) < 1e-6)
    }

    @Test("a value on a bound is below it", arguments: HistogramBounds.seconds.upper)
    func onTheBound(bound: Double) {
        let bounds = HistogramBounds.seconds
        #expect(bounds.upper[bounds.bucket(of: bound)] == bound)
        #expect(bounds.bucket(of: bound.nextUp) == bounds.bucket(of: bound) + 1)
    }

    @Test("bounds ascend, and reach from half a millisecond to a minute")
    func bounds() {
        for bounds in [HistogramBounds.seconds, .counts] {
            #expect(zip(bounds.upper, bounds.upper.dropFirst()).allSatisfy { $0 < $1 })
        }
        #expect(HistogramBounds.seconds.upper.first == 0.0005)
        #expect(HistogramBounds.seconds.upper.last == 60)
    }

    @Test("what is no number is left out")
    func notNumbers() {
        let histogram = HistogramSeries(.counts)
        for value in [Double.nan, .infinity, -.infinity] { histogram.record(value) }
        #expect(written(histogram).hasSuffix("m_sum 0\nm_count 0\n"))
    }

    @Test("a recorder in _seconds and a timer have the bounds of seconds, other recorders those of counts")
    func choice() {
        let registry = PrometheusRegistry()
        Recorder(label: "wait_seconds", factory: registry).record(0.004)
        Metrics.Timer(label: "work", factory: registry).recordNanoseconds(4_000_000)
        Recorder(label: "points", factory: registry).record(5)
        let text = registry.text()
        #expect(text.contains("wait_seconds_bucket{le=\"0.003\"} 0\nwait_seconds_bucket{le=\"0.004\"} 1\n"))
        #expect(text.contains("work_seconds_bucket{le=\"0.003\"} 0\nwork_seconds_bucket{le=\"0.004\"} 1\n"))
        #expect(text.contains("work_seconds_sum 0.004\n"))
        #expect(text.contains("points_bucket{le=\"4\"} 0\npoints_bucket{le=\"16\"} 1\n"))
    }
}
