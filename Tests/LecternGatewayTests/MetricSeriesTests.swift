import Dispatch
import Locking
import Metrics
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Series of a metric") struct SeriesTests {
    @Test func `the same labels in another order are the same series`() {
        let registry = PrometheusRegistry()
        Counter(label: "c", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
        Counter(label: "c_total", dimensions: [("b", "2"), ("a", "1")], factory: registry).increment()
        #expect(registry.text() == "# TYPE c_total counter\nc_total{a=\"1\",b=\"2\"} 2\n")
    }

    @Test func `combinations beyond the bound share one series, and are counted`() {
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

    @Test func `metrics beyond the bound work, are not shown, and are counted`() {
        let registry = PrometheusRegistry()
        for number in 0...MetricTable.maxMetrics { Meter(label: "m\(number)", factory: registry).set(1) }
        let lines = registry.text().split(separator: "\n")
        #expect(lines.contains("m999 1"))
        #expect(!lines.contains("m1000 1"))
        #expect(lines.contains("lectern_metrics_refused_total{metric=\"m1000\"} 1"))
    }

    @Test func `a metric asked for as another kind stays what it was`() {
        let registry = PrometheusRegistry()
        Meter(label: "x_total", factory: registry).set(5)
        Counter(label: "x", factory: registry).increment(by: 100)
        let text = registry.text()
        #expect(text.contains("# TYPE x_total gauge\nx_total 5\n"))
        #expect(text.contains("lectern_metrics_refused_total{metric=\"x_total\"} 1"))
    }

    @Test func `a destroyed series is gone, and one made later starts at 0`() {
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

    @Test func `the series of all that overflowed outlives each of them`() {
        let registry = PrometheusRegistry(maxSeries: 1)
        Counter(label: "c", dimensions: [("k", "first")], factory: registry).increment()
        let second = Counter(label: "c", dimensions: [("k", "second")], factory: registry)
        second.increment()
        second.destroy()
        #expect(registry.text().contains("c_total{k=\"other\"} 1\n"))
    }

    @Test func `counters only grow, whatever they are given`() {
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

    @Test func `a gauge goes both ways`() {
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

@Suite("Histograms") struct HistogramTests {
    @Test("buckets are cumulative, and the last is the count", arguments: TestSeed.choose(3))
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

    @Test func `bounds ascend, and reach from half a millisecond to a minute`() {
        for bounds in [HistogramBounds.seconds, .skew, .counts] {
            #expect(zip(bounds.upper, bounds.upper.dropFirst()).allSatisfy { $0 < $1 })
        }
        #expect(HistogramBounds.seconds.upper.first == 0.0005)
        #expect(HistogramBounds.seconds.upper.last == 60)
    }

    @Test func `a value that is not a number is left out`() {
        let histogram = HistogramSeries(.counts)
        for value in [Double.nan, .infinity, -.infinity] { histogram.record(value) }
        #expect(written(histogram).hasSuffix("m_sum 0\nm_count 0\n"))
    }

    @Test("a timer and a recorder in _seconds have the bounds of seconds, skew has its own, all others those of counts")
    func choice() {
        let registry = PrometheusRegistry()
        Recorder(label: "wait_seconds", factory: registry).record(0.004)
        Recorder(label: "lectern_skew_seconds", factory: registry).record(0.24)
        Metrics.Timer(label: "work", factory: registry).recordNanoseconds(4_000_000)
        Recorder(label: "points", factory: registry).record(5)
        let text = registry.text()
        #expect(text.contains("wait_seconds_bucket{le=\"0.003\"} 0\nwait_seconds_bucket{le=\"0.004\"} 1\n"))
        #expect(text.contains("skew_seconds_bucket{le=\"0.2\"} 0\nlectern_skew_seconds_bucket{le=\"0.25\"} 1\n"))
        #expect(text.contains("work_seconds_bucket{le=\"0.003\"} 0\nwork_seconds_bucket{le=\"0.004\"} 1\n"))
        #expect(text.contains("work_seconds_sum 0.004\n"))
        #expect(text.contains("points_bucket{le=\"4\"} 0\npoints_bucket{le=\"16\"} 1\n"))
    }
}

@Suite("Recording from many threads") struct RecordingTests {
    @Test func `nothing is lost while others register and scrape`() async {
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

@Suite("Text for Prometheus") struct ExpositionTextTests {
    @Test func `every kind of metric is written as the format 0.0.4 wants it, sorted by name and labels`() {
        let registry = PrometheusRegistry(help: [
            "lectern_released_total": "Operations released, by cohort.",
            "lectern_gate_depth": "Operations that wait.",
            "lectern_stroke_points": "Points of a stroke.",
            "never_used": "Not to be seen.",
        ])
        Counter(label: "lectern_released_total", dimensions: [("cohort", "main")], factory: registry).increment(by: 3)
        Counter(label: "lectern_released_total", dimensions: [("cohort", "hls")], factory: registry).increment(by: 2)
        Meter(label: "lectern_gate_depth", factory: registry).set(2.5)
        FloatingPointCounter(label: "lectern_busy_seconds", factory: registry).increment(by: 0.75)
        Gauge(label: "lectern_rooms", factory: registry).record(7)
        let points = Recorder(label: "lectern_stroke_points", factory: registry)
        points.record(1)
        points.record(3)
        points.record(1_000_000_000)
        #expect(
            registry.text() == """
                # TYPE lectern_busy_seconds_total counter
                lectern_busy_seconds_total 0.75
                # HELP lectern_gate_depth Operations that wait.
                # TYPE lectern_gate_depth gauge
                lectern_gate_depth 2.5
                # HELP lectern_released_total Operations released, by cohort.
                # TYPE lectern_released_total counter
                lectern_released_total{cohort="hls"} 2
                lectern_released_total{cohort="main"} 3
                # TYPE lectern_rooms gauge
                lectern_rooms 7
                # HELP lectern_stroke_points Points of a stroke.
                # TYPE lectern_stroke_points histogram
                lectern_stroke_points_bucket{le="1"} 1
                lectern_stroke_points_bucket{le="4"} 2
                lectern_stroke_points_bucket{le="16"} 2
                lectern_stroke_points_bucket{le="64"} 2
                lectern_stroke_points_bucket{le="256"} 2
                lectern_stroke_points_bucket{le="1024"} 2
                lectern_stroke_points_bucket{le="4096"} 2
                lectern_stroke_points_bucket{le="16384"} 2
                lectern_stroke_points_bucket{le="65536"} 2
                lectern_stroke_points_bucket{le="262144"} 2
                lectern_stroke_points_bucket{le="1048576"} 2
                lectern_stroke_points_bucket{le="4194304"} 2
                lectern_stroke_points_bucket{le="16777216"} 2
                lectern_stroke_points_bucket{le="67108864"} 2
                lectern_stroke_points_bucket{le="+Inf"} 3
                lectern_stroke_points_sum 1000000004
                lectern_stroke_points_count 3

                """)
    }

    @Test func `help and label values are escaped, each by its own rule`() {
        let registry = PrometheusRegistry(help: ["odd_total": "a \\ \"quoted\"\nline"])
        Counter(label: "odd", dimensions: [("what", "a \\ \"quoted\"\nline")], factory: registry).increment()
        #expect(
            registry.text() == #"""
                # HELP odd_total a \\ "quoted"\nline
                # TYPE odd_total counter
                odd_total{what="a \\ \"quoted\"\nline"} 1

                """#)
    }

    @Test(arguments: [
        ("http.server.requests", "http_server_requests_total"), ("7up", "_7up_total"), ("a:b_total", "a:b_total"),
        ("größe", "gr__e_total"), ("", "__total"),
    ])
    func `names and labels are made legal`(label: String, expected: String) {
        #expect(MetricName.counter(label) == expected)
        #expect(!MetricName.label(label).contains(":"))
    }

    @Test func `a label that the histogram needs itself steps aside`() {
        let registry = PrometheusRegistry()
        Recorder(label: "sizes", dimensions: [("le", "mine")], factory: registry).record(2)
        #expect(registry.text().contains(#"sizes_bucket{_le="mine",le="4"} 1"#))
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (1e15, "1000000000000000"), (0.1, "0.1"), (1e300, "1e+300"), (.infinity, "+Inf"),
        (-.infinity, "-Inf"), (.nan, "NaN"), (0.0005, "0.0005"), (9.3e18, "9.3e+18"),
    ])
    func `numbers read back as they were`(value: Double, expected: String) {
        #expect(ExpositionWriter.number(value) == expected)
    }

    @Test func `a hook that adds what has changed since the last scrape counts it once, also where scrapes meet`() {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "changes", factory: registry)
        let (changes, counted) = (Locked(0), Locked(0))
        registry.onScrape {
            let now = changes.withLock { changes in
                changes += 1
                return changes
            }
            let before = counted.withLock { counted in
                defer { counted = now }
                return counted
            }
            counter.increment(by: now - before)
        }
        let scrapes = 20_000
        DispatchQueue.concurrentPerform(iterations: scrapes) { _ in _ = registry.text() }
        #expect(registry.text().hasSuffix("changes_total \(scrapes + 1)\n"))
    }
}
