import Metrics
import Testing

@testable import LecternGateway

@Suite("Series of a metric")
struct SeriesTests {
    @Test("the same labels in another order are the same series")
    func sameSeries() {
        let registry = PrometheusRegistry()
        Counter(label: "c", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
        Counter(label: "c_total", dimensions: [("b", "2"), ("a", "1")], factory: registry).increment()
        #expect(registry.text() == "# TYPE c_total counter\nc_total{a=\"1\",b=\"2\"} 2\n")
    }

    @Test("combinations beyond the bound share one series, and are counted")
    func overflow() {
        let registry = PrometheusRegistry(maxSeries: 3)
        for number in 0..<10 {
            Counter(label: "c", dimensions: [("k", "v\(number)"), ("z", "y")], factory: registry).increment(by: 2)
        }
        #expect(
            registry.text() == """
                # TYPE c_total counter
                c_total{k="other",z="other"} 14
                c_total{k="v0",z="y"} 2
                c_total{k="v1",z="y"} 2
                c_total{k="v2",z="y"} 2
                # TYPE lectern_metrics_refused_total counter
                lectern_metrics_refused_total{metric="c_total"} 7

                """)
    }

    @Test("metrics beyond the bound work, are not shown, and are counted")
    func tooManyMetrics() {
        let registry = PrometheusRegistry()
        for number in 0...MetricTable.maxMetrics {
            Meter(label: "m\(number)", factory: registry).set(1)
        }
        let lines = registry.text().split(separator: "\n")
        #expect(lines.contains("m999 1"))
        #expect(!lines.contains("m1000 1"))
        #expect(lines.contains("lectern_metrics_refused_total{metric=\"m1000\"} 1"))
    }

    @Test("a metric asked for as another kind stays what it was")
    func otherKind() {
        let registry = PrometheusRegistry()
        Meter(label: "x_total", factory: registry).set(5)
        Counter(label: "x", factory: registry).increment(by: 100)
        let text = registry.text()
        #expect(text.contains("# TYPE x_total gauge\nx_total 5\n"))
        #expect(text.contains("lectern_metrics_refused_total{metric=\"x_total\"} 1"))
    }

    @Test("a destroyed series is gone, and one made later starts at 0")
    func destroyed() {
        let registry = PrometheusRegistry()
        let gone = Counter(label: "c", dimensions: [("k", "gone")], factory: registry)
        gone.increment(by: 4)
        Counter(label: "c", dimensions: [("k", "kept")], factory: registry).increment()
        gone.destroy()
        gone.increment()
        #expect(registry.text() == "# TYPE c_total counter\nc_total{k=\"kept\"} 1\n")
        Counter(label: "c", dimensions: [("k", "gone")], factory: registry).increment()
        #expect(registry.text().contains("c_total{k=\"gone\"} 1\n"))
    }

    @Test("the series of all that overflowed outlives each of them")
    func sharedSeriesStays() {
        let registry = PrometheusRegistry(maxSeries: 1)
        Counter(label: "c", dimensions: [("k", "first")], factory: registry).increment()
        let second = Counter(label: "c", dimensions: [("k", "second")], factory: registry)
        second.increment()
        second.destroy()
        #expect(registry.text().contains("c_total{k=\"other\"} 1\n"))
    }

    @Test("counters only grow, whatever they are given")
    func onlyUp() {
        let whole = CounterSeries()
        whole.increment(by: .max)
        whole.increment(by: .max)
        whole.increment(by: -5)
        #expect(written(whole) == "m \(2 * UInt64(Int64.max))\n")
        whole.reset()
        #expect(written(whole) == "m 0\n")
        let fractions = FloatingPointCounterSeries()
        for amount in [0.5, -1, .nan, .infinity, 0.25] { fractions.increment(by: amount) }
        #expect(written(fractions) == "m 0.75\n")
        fractions.reset()
        #expect(written(fractions) == "m 0\n")
    }

    @Test("a gauge goes both ways")
    func bothWays() {
        let gauge = GaugeSeries()
        gauge.set(Int64(10))
        gauge.increment(by: 2.5)
        gauge.decrement(by: 20)
        gauge.increment(by: .nan)
        #expect(written(gauge) == "m -7.5\n")
    }
}

/// The lines of one series named `m`.
func written(_ series: some MetricSeries) -> String {
    var writer = ExpositionWriter()
    series.write(name: "m", labels: LabelSet([]), into: &writer)
    return writer.text
}
