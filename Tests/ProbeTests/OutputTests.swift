import Foundation
import NATSClient
import NATSTestServer
import NIOCore
import NIOHTTP1
import NIOPosix
import StrokeWire
import TestSupport
import Testing

/// Where the built program's samples go: to NATS, to a gateway, to standard output, and into metrics.
@Suite struct OutputTests {
    /// Pictures whose stamps count from 50,000, so many seconds of them.
    private static func makeStamped(_ workshop: Workshop, seconds: Int = 2) async throws {
        try await workshop.run(
            """
            $ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25 -t \(seconds) -c:v libx264 -preset ultrafast -g 25 \
            -f flv - | $probe stamp --codec flv --rate 25 --start 50000 >s.flv
            """)
    }

    /// Keeps the samples of the cohort `hls` of a room.
    private static func record(_ room: String, from connection: NATSConnection) async throws -> Recorder<ClockSample> {
        let samples = Recorder<ClockSample>()
        let subject = RoomAddress(root: "ink", room: try #require(RoomID(room)), partitions: 1)
            .subject(.clock(try #require(CohortName("hls"))))
        _ = try connection.subscribe(subject) { message in
            if let sample = try? ClockSample(decoding: message.copyPayload()) { samples.append(sample) }
        }
        try await connection.flush()
        return samples
    }

    @Test func `samples are posted to a gateway with the token, as it is at each time`() async throws {
        try await PostServer.with(answering: .accepted) { server in
            try await Workshop.with { workshop in
                try await Self.makeStamped(workshop)
                try workshop.write(Array("first\n".utf8), to: "token")
                let running = try workshop.start(
                    """
                    exec $probe clock --gateway http://127.0.0.1:\(server.port)/ --token-file token --room physics \
                    --cohort hls --source s.flv --interval 50ms
                    """)
                let first = try await server.posts.values(3)[0]
                #expect(first.target == "POST /api/rooms/physics/clock?cohort=hls")
                #expect(first.headers["Authorization"] == ["Bearer first"])
                #expect(first.headers["Content-Type"] == ["application/json"])
                try workshop.write(Array("second".utf8), to: "token")
                let count = server.posts.values.count
                let later = try await server.posts.values(count + 3)
                #expect(later.last?.headers["Authorization"] == ["Bearer second"])
                #expect(await running.exitCode() == 0)
                let samples = try server.posts.values.map { try ClockSample(decoding: $0.body) }
                #expect(samples.contains { $0.state == .play } && samples.last?.state == .end)
                let numbers = samples.compactMap(\.number)
                #expect(numbers.count == samples.count && numbers == numbers.sorted())
                #expect(samples.last?.media == MediaTime(milliseconds: 52_000 as Int64))
            }
        }
    }

    @Test(arguments: [HTTPResponseStatus.forbidden, .temporaryRedirect])
    func `a gateway that refuses the samples or redirects them ends the clock with code 1 and says why`(
        _ status: HTTPResponseStatus
    ) async throws {
        let error = #"{"error":{"code":"forbidden","message":"The token is for another cohort."}}"#
        try await PostServer.with(answering: status, error) { server in
            try await Workshop.with { workshop in
                try await Self.makeStamped(workshop)
                let output = try await workshop.run(
                    "$probe clock --gateway http://127.0.0.1:\(server.port) --room physics --source s.flv", exitCode: 1)
                #expect(output.contains("status \(status.code)"))
                // What comes with a redirect is not read.
                if status == .forbidden { #expect(output.contains("The token is for another cohort.")) }
                let targets = Set(server.posts.values.map(\.target))
                #expect(targets == ["POST /api/rooms/physics/clock?cohort=main"])
                #expect(server.posts.values.first?.headers["Authorization"] == [])
            }
        }
    }

    @Test func `a file with a token that cannot be read ends the clock with code 1, and nothing is posted`()
        async throws
    {
        try await PostServer.with(answering: .accepted) { server in
            try await Workshop.with { workshop in
                try await Self.makeStamped(workshop)
                let output = try await workshop.run(
                    """
                    $probe clock --gateway http://127.0.0.1:\(server.port) --token-file absent --room physics \
                    --source s.flv
                    """, exitCode: 1)
                #expect(output.contains("the file with the token cannot be read: absent"))
                #expect(server.posts.values.isEmpty)
            }
        }
    }

    @Test func `metrics tell where the clock is and what was read`() async throws {
        try await Workshop.with { workshop in
            try await Self.makeStamped(workshop, seconds: 20)
            let running = try workshop.start(
                "exec $probe clock --print --source s.flv --read-ahead 2s --metrics 127.0.0.1:0")
            let http = HTTPClient(port: try await Self.metricsPort(of: running))
            let text = try await eventually("two samples") {
                let text = try await http.get("/metrics").text
                return (Self.value("samples_total", text) ?? 0) >= 2 ? text : nil
            }
            let media = try #require(Self.value("media_seconds", text))
            #expect((50...60).contains(media))
            let pictures = try #require(Self.value("pictures_total", text))
            #expect(pictures >= 50 && Self.value("times_total", text) == pictures)
            #expect(Self.value(#"state{state="play"}"#, text) == 1 && Self.value(#"state{state="end"}"#, text) == 0)
            #expect(Self.value("connections_total", text) == 1 && Self.value("read_failures_total", text) == 0)
            #expect(Self.value("lines_dropped_total", text) == 0)
            #expect((0...5).contains(Self.value("buffered_seconds", text) ?? -1))
            for line in text.split(separator: "\n") {
                #expect(line.hasPrefix("lectern_probe_") || line.hasPrefix("# "), "\(line)")
            }
            try await eventually(
                "the clock goes on", is: Self.value("media_seconds", try await http.get("/metrics").text) ?? 0 > media)
            #expect(try await http.get("/other").statusCode == 404)
            running.send(SIGTERM)
            #expect(await running.exitCode() == 0)
        }
    }

    @Test func `metrics have 64 connections at a time, and one that ends makes place for another`() async throws {
        try await Workshop.with { workshop in
            try await Self.makeStamped(workshop, seconds: 20)
            let running = try workshop.start("exec $probe clock --print --source s.flv --metrics 127.0.0.1:0")
            let port = try await Self.metricsPort(of: running)
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            var idle: [any Channel] = []
            for _ in 0..<65 { idle.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get()) }
            let open = try await eventually("one is closed") {
                let open = idle.filter(\.isActive)
                return open.count < idle.count ? open : nil
            }
            #expect(open.count == 64)
            for connection in open { connection.close(promise: nil) }
            let http = HTTPClient(port: port)
            try await eventually("a place", is: try await http.get("/metrics").statusCode == 200)
            running.send(SIGTERM)
            #expect(await running.exitCode() == 0)
        }
    }

    /// The port of the metrics of a clock that was started with one of 0.
    private static func metricsPort(of clock: RunningCommand) async throws -> Int {
        try await eventually("the address of the metrics") {
            clock.output.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\/metrics/).flatMap { Int($0.1) }
        }
    }

    private static func value(_ name: String, _ text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix("lectern_probe_\(name) ") }
            .flatMap { Double($0.dropFirst("lectern_probe_\(name) ".count)) }
    }

    @Test func `a reader of standard output that does not read stops no clock, and lines it does not take are counted`()
        async throws
    {
        try await NATSTestServer.withConnection { server, listener in
            let samples = try await Self.record("physics", from: listener)
            try await Workshop.with { workshop in
                try await Self.makeStamped(workshop, seconds: 4)
                // The pipe is full before the first line.
                let output = try await workshop.run(
                    """
                    mkfifo pipe; exec 3<>pipe; head -c 65536 /dev/zero >&3
                    $probe clock --nats \(server.url) --room physics --cohort hls --source s.flv --interval 10ms >&3
                    """)
                let lost = output.firstMatch(of: /lines that nobody read: ([0-9]+)/).flatMap { Int($0.1) }
                // 4 s of the video, and 3 s after its end.
                #expect(try #require(lost) > 300)
            }
            let last = try #require(samples.values.last)
            #expect(last.state == .end && last.media == MediaTime(milliseconds: 54_000 as Int64))
            #expect(samples.values.count { $0.state == .play } > 100)
        }
    }

    @Test func `the clocks of many streams go out together, and one that fails leaves the others alone`() async throws {
        try await NATSTestServer.withConnection { server, listener in
            let batches = Recorder<ClockBatch>()
            let subject = ClockBatch.subject(root: "ink", partition: 0)
            _ = try listener.subscribe(subject) { message in
                if let batch = try? ClockBatch(decoding: message.copyPayload()) { batches.append(batch) }
            }
            try await listener.flush()
            try await Workshop.with { workshop in
                try await Self.makeStamped(workshop)
                let lines = """
                    # two that play, and one that does not
                    --room physics --cohort hls --source s.flv

                    --room chemistry --source "s.flv"
                    --room art --source none.flv
                    """
                try workshop.write(Array(lines.utf8), to: "classes")
                let output = try await workshop.run("$probe clock --nats \(server.url) --streams classes", exitCode: 1)
                #expect(output.contains("lectern-probe: art/main: "))
                #expect(output.contains(#""clock":"physics/hls""#) && output.contains(#""clock":"chemistry/main""#))
            }
            let (physics, chemistry) = (try #require(RoomID("physics")), try #require(RoomID("chemistry")))
            let hls = try #require(CohortName("hls"))
            #expect(batches.values.contains { $0.samples.count == 2 })
            for samples in [
                batches.values.compactMap { $0.samples[physics]?[hls] },
                batches.values.compactMap { $0.samples[chemistry]?[.main] },
            ] {
                let samples = try samples.map { try ClockSample(decoding: $0) }
                #expect(samples.contains { $0.state == .play })
                #expect(samples.last?.state == .end && samples.last?.media == MediaTime(milliseconds: 52_000 as Int64))
            }
        }
    }

    @Test(arguments: [
        ("--room physics", "line 1: --source is needed"), ("--source a.flv", "line 1: --room is needed"),
        ("\n--room A --source a.flv", "line 2: "), ("# none", "1 to 4096 lines"),
        ("# of Windows\r\n\r\n--room A --source a.flv\r\n", "line 3: "),
    ])
    func `a line of a file of streams that cannot be used is named`(_ lines: String, _ error: String) async throws {
        try await Workshop.with { workshop in
            try workshop.write(Array(lines.utf8), to: "classes")
            let output = try await workshop.run("$probe clock --streams classes", exitCode: 64)
            #expect(output.contains(error), "\(output)")
        }
    }

    @Test func `samples say when they were taken`() async throws {
        try await Workshop.with { workshop in
            try await Self.makeStamped(workshop)
            let before = Date.now.timeIntervalSince1970 * 1000
            let lines = try ClockLine.lines(try await workshop.run("$probe clock --print --source s.flv"))
            let after = Date.now.timeIntervalSince1970 * 1000
            #expect(lines.count >= 8)
            for line in lines {
                let taken = try #require(line.sample.wallTime)
                #expect(taken == line.at && (before - 1...after + 1).contains(taken))
            }
        }
    }
}
