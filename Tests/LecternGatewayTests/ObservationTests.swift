import Hummingbird
import Logging
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternGateway

@Suite("Observations of readers", .timeLimit(.minutes(4))) struct ObservationTests {
    private static let path = "/api/rooms/r/observations"

    private static func line(_ skew: Double) -> String { "{\"v\":1000,\"index\":4,\"skew\":\(skew)}\n" }

    @Test("skews are counted by cohorts that somebody follows, early ones beside; all others share one series")
    func counted() async throws {
        try await RunningClass.with { lesson in
            let (http, registry) = (lesson.gateway.http, lesson.gateway.registry)
            let reader = try lesson.read("?cohort=hls")
            #expect(try await reader.next().name == "board")
            let skews = [12.5, 240, -39, -1200].map(Self.line).joined() + "{\"v\":null,\"index\":5,\"skew\":3000}"
            #expect(try await http.post("\(Self.path)?cohort=hls&reader=r1", body: skews).status == .accepted)
            for name in ["x1", "x2", "x3", "main", "x1&reader=r2"] {
                #expect(try await http.post("\(Self.path)?cohort=\(name)", body: Self.line(7)).status == .accepted)
            }
            let text = registry.text()
            let lines = Set(text.split(separator: "\n"))
            let expected = [
                "lectern_skew_seconds_count{cohort=\"hls\"} 5",
                "lectern_skew_seconds_bucket{cohort=\"hls\",le=\"0.01\"} 0",
                "lectern_skew_seconds_bucket{cohort=\"hls\",le=\"0.02\"} 1",
                "lectern_skew_seconds_bucket{cohort=\"hls\",le=\"0.04\"} 2",
                "lectern_skew_seconds_bucket{cohort=\"hls\",le=\"0.25\"} 3",
                "lectern_skew_seconds_bucket{cohort=\"hls\",le=\"1.5\"} 4",
                "lectern_skew_seconds_bucket{cohort=\"hls\",le=\"5\"} 5",
                "lectern_skew_early_total{cohort=\"hls\"} 1", "lectern_skew_readers{cohort=\"hls\"} 1",
                "lectern_skew_bad_rooms{cohort=\"hls\"} 0",
                "lectern_skew_seconds_count{cohort=\"other\"} 5", "lectern_skew_readers{cohort=\"other\"} 5",
            ]
            for line in expected { #expect(lines.contains(line[...]), "\(line)") }
            #expect(!text.contains("cohort=\"x1\"") && !text.contains("cohort=\"main\""))
        }
    }

    @Test func `a malformed observation is refused, and nothing of it is counted`() async throws {
        try await RunningGateway.with { gateway in
            let (http, registry) = (gateway.http, gateway.registry)
            let good = Self.line(1)
            for body in [
                "", "\n", "{}", "no JSON", "[]", "{\"index\":1,\"skew\":1e308}", "{\"index\":1,\"skew\":\"1\"}",
                "{\"index\":-1,\"skew\":1}", good + "{\"index\":1,\"skew\":-86400001}", good + "{", "{\"index\":1}",
                String(repeating: good, count: 401),
            ] {
                let response = try await http.post(Self.path, body: body)
                #expect(response.status == .badRequest, "\(body)")
                #expect(try response.errorCode == "bad-request")
            }
            for query in [
                "cohort=NO", "cohort=head", "reader=", "reader=A", "reader=\(String(repeating: "a", count: 65))",
            ] {
                #expect(try await http.post("\(Self.path)?\(query)", body: good).status == .badRequest, "\(query)")
            }
            #expect(try await http.post("/api/rooms/NO/observations", body: good).status == .badRequest)
            let large = try await http.post(Self.path, body: good + String(repeating: " ", count: 65_536))
            #expect(large.status == .contentTooLarge)
            #expect(registry.text().contains("lectern_skew_seconds_count{cohort=\"other\"} 0\n"))
        }
    }
}

/// Says what a table of skews counts and logs, at times that the test says.
private struct SkewProbe {
    let registry = PrometheusRegistry()
    let lines = Recorder<String>()
    let table: SkewTable
    let start = ContinuousClock.now

    init(_ limits: SkewTable.Limits = .init()) {
        let lines = lines
        let logger = Logger.recording(lines)
        table = SkewTable(limits, alarm: { .milliseconds(500) }, registry: registry, logger: logger)
    }

    func take(
        _ skews: [Double], cohort: String = "hls", reader: String = "r", address: String = "10.0.0.1",
        room: String = "physics", isKnown: Bool = true, after seconds: Double
    ) throws {
        let reader = SkewTable.Reader(address: address, name: reader, cohort: try #require(CohortName(cohort)))
        table.take(skews, by: reader, in: try #require(RoomID(room)), isKnown: isKnown, at: start + .seconds(seconds))
    }

    func value(_ series: String) -> String? {
        registry.text().split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .map { String($0.dropFirst(series.count + 1)) }
    }

    func count(_ cohort: String) -> String? { value("lectern_skew_seconds_count{cohort=\"\(cohort)\"}") }
}

extension Logger {
    /// Keeps lines as text: level, message, and metadata sorted by key.
    static func recording(_ lines: Recorder<String>) -> Logger {
        calling { event in
            let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.append("\(event.level): \(event.message) \(pairs.joined(separator: " "))")
        }
    }
}

@Suite("The table of skews") struct SkewTableTests {
    @Test func `a reader may report once a second, and ten times after a while`() throws {
        let probe = SkewProbe()
        try probe.take(Array(repeating: 1, count: 10), after: 0)
        try probe.take([1], after: 0.9)
        #expect(probe.count("hls") == "10")
        try probe.take([1, 1], after: 1.1)
        #expect(probe.count("hls") == "11")
        try probe.take(Array(repeating: 1, count: 20), after: 50)
        #expect(probe.count("hls") == "21")
        #expect(probe.value("lectern_skew_ignored_total{reason=\"rate\"}") == "12")
    }

    @Test func `cohorts have series up to a bound; a new one takes the place of one that was silent for long`() throws {
        var limits = SkewTable.Limits()
        limits.cohorts = 3
        let probe = SkewProbe(limits)
        try probe.take([1], cohort: "a", after: 0)
        try probe.take([1], cohort: "b", after: 100)
        try probe.take([1], cohort: "c", after: 101)
        #expect([probe.count("a"), probe.count("b"), probe.count("c"), probe.count("other")] == ["1", "1", nil, "1"])
        try probe.take([1], cohort: "c", after: 650)
        #expect([probe.count("a"), probe.count("b"), probe.count("c"), probe.count("other")] == [nil, "1", "1", "1"])
    }

    @Test func `readers are bounded, in all and of one address, and forgotten after a minute`() throws {
        var limits = SkewTable.Limits()
        (limits.readers, limits.readersPerAddress) = (3, 2)
        let probe = SkewProbe(limits)
        for number in 0..<5 { try probe.take([1], reader: "r\(number)", after: 0) }
        #expect(probe.count("hls") == "2")
        for number in 0..<5 { try probe.take([1], address: "10.0.1.\(number)", after: 0) }
        #expect(probe.count("hls") == "3")
        #expect(probe.value("lectern_skew_ignored_total{reason=\"readers\"}") == "7")
        try probe.take([1], reader: "new", after: 61)
        #expect(probe.count("hls") == "4")
    }

    /// Reports of so many readers of a room, once a second for some time.
    private func report(
        _ probe: SkewProbe, _ skew: Double, room: String = "physics", cohort: String = "hls", readers: Int = 3,
        isKnown: Bool = true, seconds: ClosedRange<Int>
    ) throws {
        for second in seconds {
            for reader in 0..<readers {
                try probe.take(
                    [skew], cohort: cohort, reader: "\(room)\(reader)", room: room, isKnown: isKnown,
                    after: Double(second))
            }
        }
    }

    @Test func `a line says that a cohort is bad, once, with its numbers, and another that it is good again`() throws {
        let probe = SkewProbe()
        try report(probe, 120, seconds: 0...125)
        #expect(probe.lines.values == [])
        try report(probe, 800, seconds: 126...260)
        #expect(
            probe.lines.values == [
                "warning: ink comes after its picture alarm_ms=500 cohort=hls earliest_ms=120 early_percent=0 "
                    + "observations=180 p50_ms=800 p95_ms=800 room=physics"
            ])
        #expect(probe.value("lectern_skew_bad_rooms{cohort=\"hls\"}") == "1")
        try report(probe, 30, seconds: 261...400)
        #expect(probe.lines.values.count == 2)
        #expect(
            probe.lines.values.last?.hasPrefix("notice: ink is in step again cohort=hls") == true,
            "\(probe.lines.values)")
        #expect(probe.value("lectern_skew_bad_rooms{cohort=\"hls\"}") == "0")
    }

    @Test func `early ink is told as early; a few reports and names of nobody raise nothing`() throws {
        let probe = SkewProbe()
        try report(probe, -30_000, readers: 1, isKnown: false, seconds: 0...130)
        for second in [0, 40, 80, 120] { try probe.take([9000], reader: "a", room: "few", after: Double(second)) }
        #expect(probe.lines.values == [])
        try report(probe, -30_000, readers: 1, seconds: 200...262)
        #expect(
            probe.lines.values == [
                "warning: ink comes before its picture alarm_ms=500 cohort=hls earliest_ms=-30000 early_percent=100 "
                    + "observations=61 p50_ms=-30000 p95_ms=-30000 room=physics"
            ])
        #expect(probe.value("lectern_skew_early_total{cohort=\"hls\"}") == "63")
    }

    @Test func `when many rooms go bad at once a line names one of them, and says how many had none`() throws {
        let probe = SkewProbe()
        for second in 0...65 {
            for room in 0..<4 { try probe.take([2000], reader: "r\(room)", room: "r\(room)", after: Double(second)) }
        }
        let first = probe.lines.values
        #expect(first.count == 1 && first.first?.hasSuffix("room=r0") == true, "\(first)")
        for second in 66...130 {
            for room in 0..<4 { try probe.take([2000], reader: "r\(room)", room: "r\(room)", after: Double(second)) }
        }
        #expect(probe.lines.values.count == 2)
        #expect(probe.lines.values.last?.contains("others=3") == true, "\(probe.lines.values)")
        #expect(probe.value("lectern_skew_bad_rooms{cohort=\"hls\"}") == "4")
    }
}

@Suite("Judging skews") struct SkewWatchTests {
    private let start = ContinuousClock.now

    @Test("quantiles of many skews are those of an even part of them", arguments: TestSeed.choose(3))
    func quantiles(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var watch = SkewWatch(window: .seconds(60), at: start)
        let skews = (0..<20_000).map { _ in Double.random(in: 0...1000, using: &random) }
        var summary: SkewSummary?
        for (number, skew) in skews.enumerated() {
            let at = start + .seconds(60) * (Double(number + 1) / Double(skews.count))
            if let judged = watch.add(skew, at: at) { summary = judged }
        }
        let judged = try #require(summary)
        #expect(judged.count == 20_000)
        #expect(abs(judged.median - 500) < 100 && abs(judged.p95 - 950) < 40, "seed \(seed): \(judged)")
    }

    @Test func `one in twenty may be late or early, more may not; a picture early is not early`() {
        func isBad(_ skews: [Double]) -> Bool {
            SkewSummary(skews, count: skews.count).isBad(over: .milliseconds(500))
        }
        let good = Array(repeating: 100.0, count: 19)
        #expect(!isBad(good + [9000]) && !isBad(good + [-9000]) && !isBad(good + good + [-40, -40, -40]))
        #expect(isBad(good + [9000, 9000]) && isBad(good + [-41, -41]))
        #expect(!isBad([500, 500, 500, 500, 500]) && isBad([501, 501, 501, 501, 501]))
    }

    @Test func `a pause is no part of a minute`() {
        var watch = SkewWatch(window: .seconds(60), at: start)
        for second in 0..<10 { #expect(watch.add(9000, at: start + .seconds(second)) == nil) }
        for second in 200..<260 { #expect(watch.add(10, at: start + .seconds(second)) == nil) }
        #expect(watch.add(10, at: start + .seconds(260))?.p95 == 10)
    }
}
