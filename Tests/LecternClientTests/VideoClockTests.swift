import NATSClient
import NATSTestServer
import StrokeWire
import TestSupport
import Testing

@testable import LecternClient

@Suite("The time line of a video") struct VideoTimelineTests {
    private func milliseconds(_ timeline: VideoTimeline, _ elapsed: Double) -> Double {
        Double(timeline.sample(at: .seconds(elapsed)).media.microseconds) / 1000
    }

    @Test func `is behind by its latency, and before the beginning at first`() {
        let timeline = VideoTimeline(latency: .seconds(2))
        #expect(milliseconds(timeline, 0) == -2000)
        #expect(milliseconds(timeline, 2) == 0)
        #expect(milliseconds(timeline, 12.5) == 10_500)
        #expect(timeline.nextChange(after: .zero) == nil)
        #expect(timeline.end == nil)
    }

    @Test func `tells how far students are behind, which grows while the picture stands; not at its end`() {
        let timeline = VideoTimeline(
            latency: .seconds(6), speed: 2, events: [(.seconds(5), .pause(.seconds(3))), (.seconds(20), .end)])
        for (at, age) in [(0.0, 6.0), (5, 6), (6.5, 9), (8, 12), (19, 12)] {
            let sample = timeline.sample(at: .seconds(at))
            #expect(sample.age == Int64(age * 1_000_000), "\(at)")
            // The time at the teacher.
            #expect(Double(sample.media.microseconds + (sample.age ?? 0)) == at * 2_000_000, "\(at)")
        }
        #expect(timeline.sample(at: .seconds(20)).age == nil)
        #expect(VideoTimeline(latency: .seconds(6), tellsAge: false).sample(at: .zero).age == nil)
        #expect(VideoTimeline(latency: .seconds(601)).sample(at: .zero).age == nil)
    }

    @Test("runs at its speed, and says so as far as the protocol can", arguments: [0.5, 1, 2, 8])
    func speed(_ speed: Double) {
        let timeline = VideoTimeline(latency: .seconds(1), speed: speed)
        #expect(milliseconds(timeline, 10) == 10_000 * speed - 1000)
        #expect(timeline.sample(at: .zero).rate == Int(min(speed, 2) * 1000))
        #expect(VideoTimeline(speed: speed, rate: 700).sample(at: .zero).rate == 700)
    }

    @Test func `stands still in a pause and a stall, and goes on where it stood`() {
        let timeline = VideoTimeline(events: [
            (.seconds(20), .stall(.seconds(2))), (.seconds(5), .pause(.seconds(3))),
        ])
        let expected: [(at: Double, media: Double, state: ClockSample.State)] = [
            (4, 4000, .play), (5, 5000, .pause), (7.9, 5000, .pause), (8, 5000, .play), (10, 7000, .play),
            (20, 17_000, .stall), (21, 17_000, .stall), (22, 17_000, .play), (30, 25_000, .play),
        ]
        for (at, media, state) in expected {
            #expect(milliseconds(timeline, at) == media)
            #expect(timeline.sample(at: .seconds(at)).state == state)
        }
        var changes: [Duration] = []
        while let next = timeline.nextChange(after: changes.last ?? .zero) { changes.append(next) }
        #expect(changes == [.seconds(5), .seconds(8), .seconds(20), .seconds(22)])
    }

    @Test func `declares a jump once, in the first sample after it`() {
        let timeline = VideoTimeline(events: [(.seconds(10), .seek(to: .seconds(3)))])
        #expect(milliseconds(timeline, 9.9) == 9900)
        #expect(milliseconds(timeline, 12) == 5000)
        #expect(!timeline.sample(at: .seconds(9.9), after: .seconds(9.7)).isDiscontinuity)
        #expect(timeline.sample(at: .seconds(10), after: .seconds(9.9)).isDiscontinuity)
        #expect(timeline.sample(at: .seconds(10.2), after: .seconds(9.9)).isDiscontinuity)
        #expect(!timeline.sample(at: .seconds(10.4), after: .seconds(10.2)).isDiscontinuity)
    }

    @Test func `a jump in a pause moves the picture that stands`() {
        let timeline = VideoTimeline(events: [
            (.seconds(2), .pause(.seconds(10))), (.seconds(4), .seek(to: .seconds(60))),
        ])
        #expect(milliseconds(timeline, 3) == 2000)
        #expect(milliseconds(timeline, 5) == 60_000)
        #expect(timeline.sample(at: .seconds(5)).state == .pause)
        #expect(milliseconds(timeline, 13) == 61_000)
    }

    @Test func `stays at its end, whatever else was planned`() {
        let timeline = VideoTimeline(events: [
            (.seconds(9), .end), (.seconds(8), .pause(.seconds(5))), (.seconds(30), .seek(to: .zero)),
        ])
        #expect(timeline.end == .seconds(9))
        #expect(timeline.sample(at: .seconds(100)).state == .end)
        #expect(milliseconds(timeline, 100) == 8000)
        #expect(timeline.nextChange(after: .seconds(9)) == nil)
    }

    @Test func `says its epoch, stream and number`() {
        let sample = VideoTimeline(epoch: 3, stream: "cam").sample(at: .zero, number: 12)
        #expect(sample.epoch == 3 && sample.stream == "cam" && sample.number == 12)
        #expect(VideoTimeline().sample(at: .zero).epoch == nil)
    }

    @Test("goes on without a jump through any changes but seeks", arguments: TestSeed.choose(20))
    func continuity(seed: UInt64) {
        var random = TestSupport.SeededGenerator(seed: seed)
        let events: [(at: Duration, event: VideoTimeline.Event)] = (0..<6).map { _ in
            let length = Duration.milliseconds(Int.random(in: 0...4000, using: &random))
            return (
                .milliseconds(Int.random(in: 0...30_000, using: &random)),
                Bool.random(using: &random) ? .pause(length) : .stall(length)
            )
        }
        let speed = Double.random(in: 0.1...3, using: &random)
        let timeline = VideoTimeline(latency: .seconds(1), speed: speed, events: events)
        var last = (at: Duration.zero, sample: timeline.sample(at: .zero))
        for step in 1...4000 {
            let now = Duration.milliseconds(step * 10)
            let sample = timeline.sample(at: now)
            let moved = Double(sample.media - last.sample.media) / 1000
            #expect(-0.001 <= moved && moved <= 10 * speed + 0.002)
            // Two pauses may be so close together that the video plays only between two samples.
            if timeline.nextChange(after: last.at).map({ $0 > now }) ?? true {
                #expect(sample.state == last.sample.state)
                if sample.state != .play { #expect(moved == 0) }
            }
            last = (now, sample)
        }
    }
}

@Suite("When the next clock sample goes out") struct VideoClockWakeTests {
    @Test func `at the next multiple of the interval, or at a change that comes before`() {
        let timeline = VideoTimeline(events: [(.milliseconds(600), .pause(.milliseconds(50)))])
        var times: [Duration] = [.zero]
        while let last = times.last, last < .seconds(1) {
            times.append(VideoClock.wake(after: last, .milliseconds(250), timeline))
        }
        #expect(times == [0, 250, 500, 600, 650, 750, 1000].map { .milliseconds($0) })
    }

    @Test("so often that two samples agree, however fast the video runs", arguments: [0, 0.5, 1, 2, 3, 4, 8, 50, 400])
    func intervals(speed: Double) {
        let interval = VideoClock.interval(at: speed)
        #expect(interval <= .milliseconds(250))
        let timeline = VideoTimeline(speed: speed)
        let (first, second) = (timeline.sample(at: .zero), timeline.sample(at: interval))
        let predicted = Double(first.rate) / 1000 * (interval / .milliseconds(1))
        #expect(abs(Double(second.media - first.media) / 1000 - predicted) < 750)
    }

    @Test func `never twice at the same time, however late one was`() {
        for elapsed in [0, 1, 249, 250, 251, 499, 1733] {
            let now = Duration.milliseconds(elapsed)
            #expect(VideoClock.wake(after: now, .milliseconds(250), VideoTimeline()) > now)
        }
    }
}

@Suite("A video clock over NATS", .timeLimit(.minutes(4))) struct VideoClockNATSTests {
    @Test func `publishes numbered samples, at once when something changes, and ends after the end`() async throws {
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

    @Test func `skips samples while there is no connection, and does not keep them`() async throws {
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
