import TestSupport
import Testing

@testable import NATSClient

/// The state machine against a server in virtual time that loses, repeats and mixes up whatever it can.
@Suite struct OrderedConsumerStateTests {
    private static let limits = OrderedConsumerState.Limits(
        silence: 200, startTimeout: 500, retryWait: 10...100, rewindPatience: 1000, hold: 300)

    @Test func `With whatever losses, each message is delivered once and in order`() {
        for seed in TestSeed.choose(300) {
            var trial = ConsumerTrial(seed: seed, limits: Self.limits)
            trial.run()
            #expect(trial.delivered == trial.stream, "seed \(seed)")
            #expect(trial.begunUnasked == 0, "seed \(seed)")
        }
    }

    @Test func `A failure after progress is answered at once, one after another with longer and longer waits`() {
        var state = OrderedConsumerState(next: 1, limits: Self.limits)
        #expect(state.connectionChanged(isConnected: true).contains(.ask(attempt: 1, from: 1)))
        _ = state.made(1, first: 1, at: 0)
        let metadata = DeliveryMetadata(streamSequence: 1, consumerSequence: 1, time: 0, pending: 0)
        let isAccepted = state.accepts(metadata, of: 1, at: 1)
        #expect(isAccepted)
        #expect(state.lost(1).contains(.ask(attempt: 2, from: 2)))
        var waits: [Int64] = []
        for attempt in 2...8 as ClosedRange<UInt64> {
            for case .arm(let timer, let time) in state.refused(attempt) {
                waits.append(time)
                #expect(state.timerFired(timer, at: 0).contains(.ask(attempt: attempt + 1, from: 2)))
            }
        }
        #expect(waits == [20, 40, 80, 100, 100, 100, 100])
    }

    @Test func `Silence for the limit begins anew, any sign of life puts it off`() {
        var state = OrderedConsumerState(next: 5, limits: Self.limits)
        _ = state.connectionChanged(isConnected: true)
        let actions = state.made(1, first: 5, at: 0)
        #expect(actions == [.follow(attempt: 1), .arm(timer: 2, after: 200)])
        let agrees = state.agrees(lastConsumerSequence: 0, of: 1, at: 150)
        #expect(agrees)
        #expect(state.timerFired(2, at: 200) == [.arm(timer: 3, after: 150)])
        #expect(state.timerFired(3, at: 350).contains(.ask(attempt: 2, from: 5)))
    }

    @Test func `Without a connection nothing is asked, with the next one at once`() {
        var state = OrderedConsumerState(next: 1, limits: Self.limits)
        _ = state.connectionChanged(isConnected: true)
        #expect(state.connectionChanged(isConnected: false) == [.drop])
        #expect(state.timerFired(1, at: 1000) == [])
        #expect(state.made(1, first: 1, at: 1) == [])
        #expect(state.connectionChanged(isConnected: true).contains(.ask(attempt: 2, from: 1)))
    }

    @Test func `Begun anew, nothing comes until what came before has been dealt with`() {
        var state = OrderedConsumerState(next: 1, limits: Self.limits)
        _ = state.connectionChanged(isConnected: true)
        _ = state.made(1, first: 1, at: 0)
        let metadata = DeliveryMetadata(streamSequence: 1, consumerSequence: 1, time: 0, pending: 0)
        _ = state.accepts(metadata, of: 1, at: 1)
        _ = state.lost(1)
        #expect(state.made(2, first: 2, at: 2) == [.question, .arm(timer: 4, after: 300)])
        // The server forgets a consumer that nobody listens to; the question stands.
        #expect(state.timerFired(4, at: 302).contains(.ask(attempt: 3, from: 2)))
        #expect(state.made(3, first: 2, at: 303) == [.arm(timer: 6, after: 300)])
        #expect(state.passed(at: 304) == [.follow(attempt: 3), .arm(timer: 7, after: 200)])
        #expect(state.isReading(3))
    }

    @Test func `A replica that lags is asked again, a stream that stays short is given up`() {
        var state = OrderedConsumerState(next: 10, limits: Self.limits)
        _ = state.connectionChanged(isConnected: true)
        var now: Int64 = 0
        for attempt in 1... as PartialRangeFrom<UInt64> {
            let actions = state.made(attempt, first: 8, at: now)
            if actions.contains(.tellRewound(last: 9)) { break }
            guard case .arm(let timer, let time) = actions.last else {
                Issue.record("no further attempt")
                return
            }
            now += time
            _ = state.timerFired(timer, at: now)
        }
        #expect(now >= 1000)
        #expect(state.phase == .ended)
        #expect(state.connectionChanged(isConnected: true) == [])
    }

    @Test func `Ended is for good`() {
        var state = OrderedConsumerState(next: 1, limits: Self.limits)
        _ = state.connectionChanged(isConnected: true)
        _ = state.made(1, first: 1, at: 0)
        #expect(state.end() == [.drop])
        let metadata = DeliveryMetadata(streamSequence: 1, consumerSequence: 1, time: 0, pending: 0)
        let isAccepted = state.accepts(metadata, of: 1, at: 1)
        #expect(!isAccepted)
        #expect(state.lost(1) == [])
        #expect(state.connectionChanged(isConnected: true) == [])
        #expect(state.timerFired(2, at: 5000) == [])
    }
}
