// The built programs, run as a user runs them: `lectern` beside a real nats-server, killed, misconfigured, without
// space and under load. A suite starts its programs through `DaemonProcess` and `LecternProcess`; `.endsProcesses` ends
// them, and removes the files of `TestFiles`. Each folder has one side of it; `Support` has what they share.

import Foundation
import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

/// The HTTP side of the built daemon, after a lesson of which everything is known.
@Suite(.timeLimit(.minutes(5)), .endsProcesses) struct HTTPTests {
    /// What `hold` leaves: operations in the log, and the visible strokes by index.
    private static let operations = 10
    private static let visible: [UInt64] = [8, 9, 10]

    @Test func `after a lesson metrics, pages and pictures tell of it, and readiness follows NATS`() async throws {
        let settings = [
            "checkpoint.interval=1s", "journal.max_bytes=1MiB", "history.clear=final", "cohorts.default.max_hold=600s",
        ]
        try await BoardService.with(settings) { service in
            try await hold(ScriptedAuthor("ann", room: "lesson", on: service.connection), service.connection)
            try await checkMetrics(service.http)
            try await checkPages(service.http)
            try await checkReadiness(service.http, service.nats)
        }
    }

    /// Every kind of operation, one of each trouble, and two cohorts: `main` sees everything, `hls` nothing.
    private func hold(_ ann: ScriptedAuthor, _ connection: NATSConnection) async throws {
        try ann.clock(100_000, "main", #","q":1"#)
        try ann.clock(0, "hls", #","q":1"#)
        // Ignored, and rejected.
        try ann.clock(200_000, "main", #","q":1"#)
        try connection.publish(Array("{}".utf8), to: ann.address.subject(.clock(.main)))
        try await connection.flush()
        // On a subject of no room.
        _ = try await connection.request(Array("{}".utf8), to: "ink.0.NoRoom.in.ann")

        try await ann.send(stroke(1, at: 1000), appliedAt: 1)
        for shard in 0..<3 { try await ann.send(stroke(2, at: 1100, shard: shard, of: 3)) }
        try await ann.send(stroke(3, at: 1200), appliedAt: 3)
        try await ann.send(#"{"n":4,"a":2,"t":1300}"#, appliedAt: 4)
        try await ann.send(#"{"n":5,"a":3,"t":1300}"#, appliedAt: 5)
        // A media time that nobody believes.
        try await ann.send(stroke(6, at: 1_000_000_000_000_000), appliedAt: 6)
        try await ann.send(#"{"n":7,"e":99,"d":[]}"#, rejectedAs: .unknownElement)
        try await ann.send(#"{"n":8,"a":4,"t":1400}"#, appliedAt: 7)
        try await ann.send(#"{"n":9,"a":2,"t":1400}"#, rejectedAs: .nothingToUndo)
        try await ann.send(stroke(10, at: 1500), appliedAt: 8)
        try await ann.send(stroke(10, at: 1500), appliedAt: 8)
        // 11 is given up, and comes late.
        try await ann.send(stroke(12, at: 1600), appliedAt: 9)
        try await ann.send(stroke(11, at: 1600), appliedAt: 10)
        try await ann.send("no JSON", rejectedAs: .notJSON)
        try await ann.send(stroke(13, at: 1700, shard: 0, of: 2))
        _ = try await connection.requestParts(JoinRequest().encoded(), to: ann.address.subject(.join(.main)))
    }

    /// Handwriting as one message, or one of its shards.
    private func stroke(_ number: Int, at time: Int, shard: Int = 0, of shards: Int = 1) -> String {
        let points = Handwriting.strokes[number % Handwriting.strokes.count]
        let part = points[points.count * shard / shards..<points.count * (shard + 1) / shards]
        let text = part.map { #"{"x":\#($0.x),"y":\#($0.y)}"# }.joined(separator: ",")
        return #"{"n":\#(number),"l":4,"s":\#(shards),"o":\#(shard),"t":\#(time),"w":1024,"h":768,"d":[\#(text)]}"#
    }

    /// The pages and the picture of the room show what its cohorts have seen.
    private func checkPages(_ http: HTTPClient) async throws {
        let room = try await eventually("everything is released to main") {
            let state = try AnyJSON.decode(try await http.get("/api/rooms/lesson").bytes)
            return state.cohort("main")?["held"] == .number(0) ? state : nil
        }
        #expect(room["room"] == .string("lesson"))
        #expect(room["address"] == .string("ink.0.lesson"))
        #expect(room["index"] == .number(Double(Self.operations)))
        #expect(room["visible"] == .number(Double(Self.visible.count)))
        #expect(room["digest"] == .string(plainDigestText(Self.visible)))
        #expect(room["authors"] == .number(1))
        #expect(room["assembling"] == .number(1))
        #expect(room.cohort("main")?["index"] == .number(Double(Self.operations)))
        #expect(room.cohort("main")?["v"] == .number(100_000))
        #expect(room.cohort("hls")?["index"] == .number(0))
        #expect(room.cohort("hls")?["held"] == .number(Double(Self.operations)))

        guard case .array(let rooms)? = try AnyJSON.decode(try await http.get("/api/rooms").bytes)["rooms"] else {
            throw Unexpected("no list of rooms")
        }
        #expect(rooms.map { $0["room"] } == [.string("lesson")])
        #expect(rooms.first?["index"] == .number(Double(Self.operations)))
        let page = try await http.get("/")
        #expect(page.statusCode == 200)
        #expect(page.text.contains("<title>Lectern</title>"))

        let path = "/api/rooms/lesson/board.png?width=320"
        let picture = try await http.get(path)
        #expect(picture.statusCode == 200)
        #expect(picture.fields["content-type"] == "image/png")
        #expect(try PNGReader(picture.bytes).size == (320, 240))
        let tag = try #require(picture.fields["etag"])
        #expect(try await http.send("GET", path, headers: [("If-None-Match", tag)]).statusCode == 304)
        // Nothing was released to the other cohort: its board is blank.
        let blank = try await http.get(path + "&cohort=hls")
        #expect(try PNGReader(blank.bytes).size == (320, 240))
        #expect(blank.bytes.count < picture.bytes.count)
        #expect(try await http.get("/api/rooms/nobody/board.png").statusCode == 404)
    }

    /// The daemon is ready while it serves, not while NATS is away, and healthy all the time.
    private func checkReadiness(_ http: HTTPClient, _ nats: NATSTestServer) async throws {
        #expect(try await http.get("/readyz").statusCode == 200)
        await nats.stop()
        let reason = try await eventually("it is not ready") {
            let response = try await http.get("/readyz")
            return response.statusCode == 503 ? try AnyJSON.decode(response.bytes)["error"] : nil
        }
        #expect(reason["code"] == .string("not-ready"))
        #expect(try await http.get("/healthz").text == "ok")
        try await nats.restart()
        try await eventually("it is ready again", is: await http.get("/readyz").statusCode == 200)
        let room = try await eventually("the room is there again") {
            let response = try await http.get("/api/rooms/lesson")
            return response.statusCode == 200 ? try AnyJSON.decode(response.bytes) : nil
        }
        #expect(room["index"] == .number(Double(Self.operations)))
    }

    /// Every metric of the product is there once, explained, with the lesson's numbers.
    private func checkMetrics(_ http: HTTPClient) async throws {
        _ = try await http.get("/api/rooms/lesson")
        let metrics = try await eventually("the lesson is counted and saved") {
            let metrics = try Exposition(try await http.get("/metrics").text)
            let isSaved = metrics[#"lectern_checkpoints_total{outcome="saved"}"#] ?? 0 > 0
            let isMeasured = metrics[#"lectern_log_fullness{partition="0"}"#] != nil
            // The rooms are looked at every ten seconds.
            let isSurveyed = metrics[#"lectern_stale_clocks{cohort="hls"}"#] != nil
            let isRead = metrics[#"lectern_log_unread_records{partition="0"}"#] == 0
            return metrics["lectern_assembling"] == 1 && isSaved && isMeasured && isSurveyed && isRead
                ? metrics : nil
        }
        for (name, family) in metrics.families {
            #expect(!family.help.isEmpty, "\(name) has no HELP")
            #expect(["counter", "gauge", "histogram"].contains(family.type), "\(name) has no TYPE")
            #expect(!family.samples.isEmpty, "\(name) has no sample")
        }
        // One metric is shown only where something is wrong with the others.
        let names = try MetricNames.inSources().subtracting(["lectern_metrics_refused_total"])
        let differing = names.symmetricDifference(metrics.families.keys).sorted()
        #expect(differing == [], "in the sources or in /metrics, not in both")

        try Self.checkLabels(in: metrics)
        for (series, value) in Self.expected { #expect(metrics[series] == value, "\(series)") }
        let rejected = try #require(metrics.families["lectern_rejected_total"]).samples
        #expect(rejected.count == RejectionCode.allCases.count)
        #expect(rejected.values.reduce(0, +) == 3)
        let lateness = try #require(metrics[#"lectern_release_lateness_seconds_sum{cohort="main"}"#])
        #expect((0..<Double(Self.operations)).contains(lateness))
        #expect(
            metrics[#"lectern_release_lateness_seconds_bucket{cohort="main",le="+Inf"}"#] == Double(Self.operations)
        )
        #expect(metrics["lectern_checkpoint_bytes_total"] ?? 0 > 100)
        #expect((0.0001..<1).contains(metrics[#"lectern_log_fullness{partition="0"}"#] ?? 0))
    }

    private static let expected: [(String, Double)] = [
        ("lectern_messages_total", 17), ("lectern_repeats_total", 1), ("lectern_gaps_total", 1),
        ("lectern_gave_up_total", 1), ("lectern_clamped_total", 1), ("lectern_assembling", 1),
        (#"lectern_late_total{reason="stroke"}"#, 1), (#"lectern_late_total{reason="release"}"#, 0),
        (#"lectern_operations_total{kind="draw"}"#, 7), (#"lectern_operations_total{kind="undo"}"#, 1),
        (#"lectern_operations_total{kind="redo"}"#, 1), (#"lectern_operations_total{kind="clear"}"#, 1),
        (#"lectern_rejected_total{code="unknown-element"}"#, 1),
        (#"lectern_rejected_total{code="nothing-to-undo"}"#, 1), (#"lectern_rejected_total{code="not-json"}"#, 1),
        (#"lectern_clock_samples_total{outcome="taken"}"#, 2),
        (#"lectern_clock_samples_total{outcome="ignored"}"#, 1),
        (#"lectern_clock_samples_total{outcome="rejected"}"#, 1),
        (#"lectern_released_total{cohort="main"}"#, 10), (#"lectern_released_total{cohort="hls"}"#, 0),
        (#"lectern_gate_depth{cohort="main"}"#, 0), (#"lectern_gate_depth{cohort="hls"}"#, 10),
        (#"lectern_release_lateness_seconds_count{cohort="main"}"#, 10),
        (#"lectern_joins_total{outcome="board"}"#, 1), (#"lectern_joins_total{outcome="tail"}"#, 0),
        (#"lectern_checkpoints_total{outcome="failed"}"#, 0),
        (#"lectern_checkpoints_total{outcome="superseded"}"#, 0), ("lectern_room_notes_left_total", 0),
        (#"lectern_publishes_refused_total{stream="INK_LOG_0"}"#, 0),
        (#"lectern_stream_limit_bytes{stream="INK_LOG_0"}"#, 1_048_576), ("lectern_recovery_seconds_count", 1),
        ("lectern_recovery_records_total", 0), ("lectern_partitions_opening", 0),
        (#"lectern_nats_disconnects_total{cause="closed",connection="operations"}"#, 0),
        (#"lectern_nats_disconnects_total{cause="unanswered",connection="gateway"}"#, 0),
        (#"lectern_delivery_stalls_total{cause="gap"}"#, 0), (#"lectern_canvas_bytes{part="tiles"}"#, 0),
        ("lectern_canvas_limit_bytes", 268_435_456), ("lectern_lassos_skipped_total", 0), ("lectern_rooms", 1),
        ("lectern_members", 1),
        ("lectern_partitions_serving", 1), ("lectern_incompatible_peers_total", 0),
        ("lectern_forgotten_rooms_total", 0), ("lectern_mailbox_bytes", 0), ("lectern_mailbox_dropped_total", 0),
        ("lectern_misaddressed_total", 1), ("lectern_nats_dropped_total", 0), ("lectern_nats_connected", 1),
        (#"lectern_http_connections_closed_total{reason="busy"}"#, 0),
        (#"lectern_http_requests_total{route="/api/rooms/{room}",status="200"}"#, 1),
        (#"lectern_http_request_seconds_count{route="/api/rooms/{room}"}"#, 1),
    ]

    /// Each label that an expression of an alert or of the dashboard groups by, or selects, is one of its metrics'
    /// labels.
    private static func checkLabels(in metrics: Exposition) throws {
        var expressions: [Substring] = []
        for file in ["prometheus/lectern.rules.yml", "grafana/lectern.json"] {
            let text = try String(contentsOfFile: PackageRoot.path(to: "config/\(file)"), encoding: .utf8)
                .replacing(#"\""#, with: "\"")
            expressions += text.split(separator: "\n").filter { $0.contains(/expr|by \(/) }
        }
        #expect(expressions.count > 40)
        for expression in expressions {
            var labels: Set = ["job", "instance", "le"]
            for name in expression.matches(of: /lectern_[a-z_]+/) {
                let family = metrics.families[String(name.0.replacing(/_(bucket|count|sum)$/, with: ""))]
                for series in (family?.samples ?? [:]).keys {
                    labels.formUnion(series.matches(of: /([a-z_]+)="/).map { String($0.1) })
                }
            }
            var used = expression.matches(of: /by \(([a-z, ]+)\)/).flatMap {
                $0.1.split(separator: ", ").map(String.init)
            }
            used += expression.matches(of: /[{,]([a-z]+)[!=]~?"/).map { String($0.1) }
            for label in used { #expect(labels.contains(label), "\(label) in \(expression)") }
        }
    }
}

extension AnyJSON {
    /// The entry of a cohort in the state of a room.
    func cohort(_ name: String) -> AnyJSON? {
        guard case .array(let cohorts)? = self["cohorts"] else { return nil }
        return cohorts.first { $0["cohort"] == .string(name) }
    }
}
