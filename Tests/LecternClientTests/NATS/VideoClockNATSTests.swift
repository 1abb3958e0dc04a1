import LecternClient
import NATSClient
import NATSTestServer
import StrokeWire
import Testing

@Suite("A video clock over NATS", .timeLimit(.minutes(1)))
struct VideoClockNATSTests {
    @Test("publishes numbered samples, at once when something changes, and ends after the end")
    func samples() async throws {
        try await NATSTestServer.with { server in
            let listener = try await Wire.connect(server)
            let (samples, input) = AsyncStream<ClockSample>.makeStream()
            let subscription = try listener.subscribe(try Wire.address().subject(.clock(.main))) { message in
                if let sample = try? ClockSample(decoding: message.copyPayload()) { input.yield(sample) }
            }
            try await listener.flush()
            let connection = try await Wire.connect(server)
            let timeline = VideoTimeline(
                latency: .milliseconds(300), epoch: 2, stream: "cam",
                events: [(.milliseconds(230), .pause(.milliseconds(400))), (.milliseconds(1000), .end)])
            let clock = VideoClock(
                connection: connection, address: try Wire.address(), cohort: .main, timeline: timeline,
                interval: .milliseconds(50), logger: .silent)
            let report = await clock.run(for: .milliseconds(1400), firstNumber: 1000)
            await connection.drain()
            var seen: [ClockSample] = []
            for await sample in samples {
                seen.append(sample)
                if seen.count == report.published { break }
            }
            #expect(report.skipped == 0)
            #expect(seen.map(\.number) == (0..<seen.count).map { 1000 + Int64($0) })
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.media <= $1.media })
            #expect(seen.allSatisfy { $0.epoch == 2 && $0.stream == "cam" })
            var states: [ClockSample.State] = []
            for sample in seen where sample.state != states.last { states.append(sample.state) }
            #expect(states == [.play, .pause, .play, .end])
            withExtendedLifetime(subscription) {}
            await listener.close()
        }
    }

    @Test("skips samples while there is no connection, and does not keep them")
    func disconnected() async throws {
        let connection = NATSConnection(NATSSettings(url: "nats://127.0.0.1:1", name: "test"), logger: .silent)
        let clock = VideoClock(
            connection: connection, address: try Wire.address(), cohort: .main, timeline: VideoTimeline(),
            interval: .milliseconds(20), logger: .silent)
        let report = await clock.run(for: .milliseconds(100), firstNumber: 1)
        #expect(report.published == 0)
        #expect(report.skipped > 0)
        await connection.close()
    }
}
