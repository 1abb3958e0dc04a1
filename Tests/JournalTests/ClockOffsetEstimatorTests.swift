import TestSupport
import Testing

@testable import Journal

@Suite struct ClockOffsetEstimatorTests {
    private let ms: Int64 = 1_000_000

    @Test func `The server's time lies between question and answer`() {
        var clock = ClockOffsetEstimator()
        let ahead = clock.answer(serverTime: 1_000 * ms, requestedAt: 90 * ms, answeredAt: 110 * ms)
        #expect(ahead == .milliseconds(900))
        // A slower second answer changes nothing.
        #expect(clock.answer(serverTime: 2_000 * ms, requestedAt: 1_050 * ms, answeredAt: 1_450 * ms) == nil)
    }

    @Test func `A record cannot have come before it was logged`() {
        var clock = ClockOffsetEstimator()
        _ = clock.answer(serverTime: 1_000 * ms, requestedAt: 0, answeredAt: 200 * ms)
        // 900 ms is known; this record gives at least 950.
        #expect(clock.record(loggedAt: 1_300 * ms, receivedAt: 350 * ms) == .milliseconds(950))
        #expect(clock.record(loggedAt: 1_310 * ms, receivedAt: 350 * ms) == nil, "10 ms are no news")
        #expect(clock.record(loggedAt: 1_321 * ms, receivedAt: 350 * ms) == .milliseconds(971))
    }

    @Test func `Records that come late alone do not set the clock back, many on time do`() {
        var clock = ClockOffsetEstimator()
        _ = clock.answer(serverTime: 1_000 * ms, requestedAt: 0, answeredAt: 0)
        for number in 1...100 as ClosedRange<Int64> {
            let delay = number % 8 == 0 ? ms : 5_000 * ms
            #expect(clock.record(loggedAt: (1_000 + number) * ms, receivedAt: number * ms + delay) == nil)
        }
        var news: [Duration] = []
        for number in 101...200 as ClosedRange<Int64> {
            let ahead = clock.record(loggedAt: (700 + number) * ms, receivedAt: (number + number % 5) * ms)
            if let ahead { news.append(ahead) }
        }
        #expect(news == [.milliseconds(700)])
    }

    @Test func `With one record in ten on time the error is that of the first answer at the most`() {
        for seed in TestSeed.choose(200) {
            var generator = SeededGenerator(seed: seed)
            let ahead = Int64.random(in: 0...2_000_000_000_000, using: &generator) * ms
            var clock = ClockOffsetEstimator()
            var now: Int64 = 0
            let trip = Int64.random(in: 0...100, using: &generator) * ms
            var known = clock.answer(
                serverTime: ahead + Int64.random(in: 0...trip, using: &generator), requestedAt: 0, answeredAt: trip)
            for number in 0..<200 {
                now += Int64.random(in: 1...1000, using: &generator) * ms
                let delay = Int64.random(in: 0...(number % 10 == 0 ? 5 : 500), using: &generator) * ms
                known = clock.record(loggedAt: now + ahead, receivedAt: now + delay) ?? known
            }
            let error = (known ?? .zero) - .nanoseconds(ahead)
            let bound = min(.nanoseconds(trip / 2), .milliseconds(5) + .nanoseconds(ClockOffsetEstimator.tolerance))
            #expect(error <= bound + .nanoseconds(ClockOffsetEstimator.tolerance), "seed \(seed)")
            #expect(error >= .zero - bound - .nanoseconds(ClockOffsetEstimator.tolerance), "seed \(seed)")
        }
    }
}
