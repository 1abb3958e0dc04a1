import Metrics
import Testing

@testable import LecternGateway

@Suite("Text for Prometheus")
struct ExpositionTextTests {
    @Test("every kind of metric is written as the format 0.0.4 wants it, sorted by name and labels")
    func golden() {
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

    @Test("an empty registry is an empty text")
    func empty() {
        #expect(PrometheusRegistry(help: ["a": "b"]).text().isEmpty)
    }

    @Test("help and label values are escaped, each by its own rule")
    func escaping() {
        let registry = PrometheusRegistry(help: ["odd_total": "a \\ \"quoted\"\nline"])
        Counter(label: "odd", dimensions: [("what", "a \\ \"quoted\"\nline")], factory: registry).increment()
        #expect(
            registry.text() == #"""
                # HELP odd_total a \\ "quoted"\nline
                # TYPE odd_total counter
                odd_total{what="a \\ \"quoted\"\nline"} 1

                """#)
    }

    @Test(
        "names and labels are made legal",
        arguments: [
            ("http.server.requests", "http_server_requests_total"), ("7up", "_7up_total"), ("a:b_total", "a:b_total"),
            ("größe", "gr__e_total"), ("", "__total"),
        ])
    func names(label: String, expected: String) {
        #expect(MetricName.counter(label) == expected)
        #expect(!MetricName.label(label).contains(":"))
    }

    @Test("a label that the histogram needs itself steps aside")
    func reservedLabel() {
        let registry = PrometheusRegistry()
        Recorder(label: "sizes", dimensions: [("le", "mine")], factory: registry).record(2)
        #expect(registry.text().contains(#"sizes_bucket{_le="mine",le="4"} 1"#))
    }

    @Test(
        "numbers read back as they were",
        arguments: [
            (0.0, "0"), (-0.0, "0"), (1e15, "1000000000000000"), (0.1, "0.1"), (1e300, "1e+300"), (.infinity, "+Inf"),
            (-.infinity, "-Inf"), (.nan, "NaN"), (0.0005, "0.0005"), (9.3e18, "9.3e+18"),
        ])
    func numbers(value: Double, expected: String) {
        #expect(ExpositionWriter.number(value) == expected)
    }

    @Test("hooks set gauges before each scrape")
    func hooks() {
        let registry = PrometheusRegistry()
        let scrapes = Meter(label: "scrapes", factory: registry)
        registry.onScrape { scrapes.increment(by: 1) }
        #expect(registry.text().hasSuffix("scrapes 1\n"))
        #expect(registry.text().hasSuffix("scrapes 2\n"))
    }
}
