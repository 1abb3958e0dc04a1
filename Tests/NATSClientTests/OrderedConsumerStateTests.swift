import TestSupport
import Testing

@testable import NATSClient

/// The state machine against a server in virtual time that loses, repeats and reorders messages.
@Suite struct OrderedConsumerStateTests {
    private static let limits = OrderedConsumerState.Limits(
        silence: 200, startTimeout: 500, retryWait: 10...100, rewindTimeout: 1000, hold: 300)
    private static let first = DeliveryMetadata(streamSequence: 1, consumerSequence: 1, time: 0, pending: 0)

    /// With a connection, and the first consumer requested.
    private static func state(from next: UInt64) -> OrderedConsumerState {
        var state = OrderedConsumerState(next: next, limits: limits)
        _ = state.connectionChanged(isConnected: true)
        return state
    }

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
        #expect(state.connectionChanged(isConnected: true).contains(.createConsumer(attempt: 1, from: 1)))
        _ = state.created(1, first: 1, at: 0)
        let isAccepted = state.accepts(Self.first, of: 1, at: 1)
        #expect(isAccepted)
        #expect(state.lost(1).contains(.createConsumer(attempt: 2, from: 2)))
        var waits: [Int64] = []
        for attempt in 2...8 as ClosedRange<UInt64> {
            for case .arm(let timer, let time) in state.rejected(attempt) {
                waits.append(time)
                #expect(state.timerFired(timer, at: 0).contains(.createConsumer(attempt: attempt + 1, from: 2)))
            }
        }
        #expect(waits == [20, 40, 80, 100, 100, 100, 100])
    }

    @Test func `Silence for the limit begins anew, any sign of life puts it off`() {
        var state = Self.state(from: 5)
        let actions = state.created(1, first: 5, at: 0)
        #expect(actions == [.subscribe(attempt: 1), .arm(timer: 2, after: 200)])
        let agrees = state.heartbeatMatches(lastConsumerSequence: 0, of: 1, at: 150)
        #expect(agrees)
        #expect(state.timerFired(2, at: 200) == [.arm(timer: 3, after: 150)])
        #expect(state.timerFired(3, at: 350).contains(.createConsumer(attempt: 2, from: 5)))
    }

    @Test func `Without a connection nothing is asked, with the next one at once`() {
        var state = Self.state(from: 1)
        #expect(state.connectionChanged(isConnected: false) == [.drop])
        #expect(state.timerFired(1, at: 1000) == [])
        #expect(state.created(1, first: 1, at: 1) == [])
        #expect(state.connectionChanged(isConnected: true).contains(.createConsumer(attempt: 2, from: 1)))
    }

    @Test func `Begun anew, nothing comes until what came before has been dealt with`() {
        var state = Self.state(from: 1)
        _ = state.created(1, first: 1, at: 0)
        _ = state.accepts(Self.first, of: 1, at: 1)
        _ = state.lost(1)
        #expect(state.created(2, first: 2, at: 2) == [.requestBarrier, .arm(timer: 4, after: 300)])
        // The server deletes a consumer without a subscriber; the barrier stays open.
        #expect(state.timerFired(4, at: 302).contains(.createConsumer(attempt: 3, from: 2)))
        #expect(state.created(3, first: 2, at: 303) == [.arm(timer: 6, after: 300)])
        #expect(state.barrierPassed(at: 304) == [.subscribe(attempt: 3), .arm(timer: 7, after: 200)])
        #expect(state.isReading(3))
    }

    @Test func `Of consumers on other servers than the leader another one is asked for, now and then after a wait`() {
        var state = Self.state(from: 3)
        var waits = 0
        for _ in 1...16 {
            let attempt = state.attempt
            let actions = state.misplaced(attempt)
            if case .arm(let timer, let time)? = actions.last, state.phase == .backingOff {
                waits += 1
                #expect(time > 0)
                _ = state.timerFired(timer, at: 0)
            }
            #expect(state.attempt == attempt + 1)
            #expect(state.misplaced(attempt) == [])
        }
        #expect(waits == 2)
    }

    @Test func `A short stream is looked at for the whole time again after a lost connection, or without a leader`() {
        for isConnectionLost in [true, false] {
            var state = Self.state(from: 10)
            _ = state.created(1, first: 8, at: 0)
            _ = state.timerFired(3, at: 0)
            if isConnectionLost {
                _ = state.connectionChanged(isConnected: false)
                _ = state.connectionChanged(isConnected: true)
            } else {
                for case .arm(let timer, _) in state.rejected(state.attempt) { _ = state.timerFired(timer, at: 500) }
            }
            #expect(!state.created(state.attempt, first: 8, at: 1500).contains(.reportRewound(last: 9)))
            #expect(state.phase == .backingOff)
        }
    }

    @Test func `A replica that lags is asked again, a stream that stays short is given up`() throws {
        var state = Self.state(from: 10)
        var now: Int64 = 0
        for attempt in 1... as PartialRangeFrom<UInt64> {
            let actions = state.created(attempt, first: 8, at: now)
            if actions.contains(.reportRewound(last: 9)) { break }
            guard case .arm(let timer, let time) = actions.last else { throw Unexpected("no further attempt") }
            now += time
            _ = state.timerFired(timer, at: now)
        }
        #expect(now >= 1000)
        #expect(state.phase == .ended)
        #expect(state.connectionChanged(isConnected: true) == [])
    }

    @Test func `Ended is for good`() {
        var state = Self.state(from: 1)
        _ = state.created(1, first: 1, at: 0)
        #expect(state.end() == [.drop])
        let isAccepted = state.accepts(Self.first, of: 1, at: 1)
        #expect(!isAccepted)
        #expect(state.lost(1) == [])
        #expect(state.connectionChanged(isConnected: true) == [])
        #expect(state.timerFired(2, at: 5000) == [])
    }
}

/// A server in virtual time, and an `OrderedConsumerState` that reads from it.
///
/// The stream has gaps in its sequences. Requests get lost or are refused; messages and heartbeats get lost, come twice
/// or from an earlier consumer; consumers disappear; the connection breaks.
struct ConsumerTrial {
    let stream: [UInt64]
    private(set) var delivered: [UInt64] = []
    /// How often a consumer delivered before the reader had processed what the one before had delivered.
    private(set) var begunUnasked = 0
    private var generator: SeededGenerator
    private var state: OrderedConsumerState
    private var now: Int64 = 0
    private var timer: (number: UInt64, at: Int64)?
    /// The request under way.
    private var asked: (attempt: UInt64, from: UInt64)?
    /// The current consumer: how much it has sent, and the rest.
    private var consumer: (attempt: UInt64, sent: UInt64, rest: ArraySlice<UInt64>)?
    private var isConnected = false
    /// The number of messages that are not processed, and whether the reader was asked.
    private var unprocessed = 0
    private var isBarrierPending = false
    private var earlier: [(attempt: UInt64, DeliveryMetadata)] = []

    init(seed: UInt64, limits: OrderedConsumerState.Limits) {
        var generator = SeededGenerator(seed: seed)
        var sequence: UInt64 = 0
        stream = (0..<40).map { _ in
            sequence += UInt64.random(in: 1...3, using: &generator)
            return sequence
        }
        state = OrderedConsumerState(next: 1, limits: limits)
        self.generator = generator
    }

    /// Runs until all is delivered, or for much longer than that should take.
    mutating func run() {
        for step in 0..<20_000 where delivered.count < stream.count {
            // The faults end, or nothing could be expected.
            self.step(isTroubled: step < 5000)
        }
    }

    private mutating func step(isTroubled: Bool) {
        now += Int64.random(in: 0...20, using: &generator)
        if !isConnected || (isTroubled && generator.chance(1, in: 100)) {
            isConnected.toggle()
            if !isConnected { (asked, consumer) = (nil, nil) }
            perform(state.connectionChanged(isConnected: isConnected))
        }
        if let timer, now >= timer.at {
            self.timer = nil
            perform(state.timerFired(timer.number, at: now))
        }
        if let asked, generator.chance(50, in: 100) { answer(asked, isTroubled: isTroubled) }
        if isBarrierPending, generator.chance(10, in: 100) {
            (isBarrierPending, unprocessed) = (false, 0)
            perform(state.barrierPassed(at: now))
        }
        send(isTroubled: isTroubled)
    }

    private mutating func answer(_ request: (attempt: UInt64, from: UInt64), isTroubled: Bool) {
        asked = nil
        if isTroubled, generator.chance(20, in: 100) { return }
        if isTroubled, generator.chance(20, in: 100) { return perform(state.rejected(request.attempt)) }
        let rest = stream.drop { $0 < request.from }
        perform(state.created(request.attempt, first: rest.first ?? request.from, at: now))
        if state.isCurrent(request.attempt) { consumer = (request.attempt, 0, rest) }
    }

    private mutating func send(isTroubled: Bool) {
        if isTroubled, generator.chance(10, in: 100), let old = earlier.randomElement(using: &generator) {
            receive(old.1, of: old.attempt)
        }
        guard var current = consumer, state.isReading(current.attempt) else { return }
        defer { if consumer?.attempt == current.attempt { consumer = current } }
        if isTroubled, generator.chance(2, in: 100) {
            // Deleted: no more messages, no more heartbeats.
            consumer = nil
            return
        }
        if let sequence = current.rest.popFirst() {
            current.sent += 1
            let metadata = DeliveryMetadata(
                streamSequence: sequence, consumerSequence: current.sent, time: now, pending: UInt64(current.rest.count)
            )
            earlier.append((current.attempt, metadata))
            if isTroubled, generator.chance(10, in: 100) { return }
            receive(metadata, of: current.attempt)
            if isTroubled, generator.chance(5, in: 100) { receive(metadata, of: current.attempt) }
        } else if !state.heartbeatMatches(lastConsumerSequence: current.sent, of: current.attempt, at: now) {
            perform(state.lost(current.attempt))
        }
    }

    private mutating func receive(_ metadata: DeliveryMetadata, of attempt: UInt64) {
        if state.accepts(metadata, of: attempt, at: now) {
            delivered.append(metadata.streamSequence)
            if metadata.consumerSequence == 1, unprocessed > 0 { begunUnasked += 1 }
            unprocessed += 1
        } else {
            perform(state.lost(attempt))
        }
    }

    private mutating func perform(_ actions: [OrderedConsumerState.Action]) {
        for action in actions {
            switch action {
            case .createConsumer(let attempt, let sequence): asked = (attempt, sequence)
            case .drop: (asked, consumer) = (nil, nil)
            case .arm(let number, let time): timer = (number, now + time)
            case .requestBarrier: isBarrierPending = true
            case .subscribe, .reportRewound: break
            }
        }
    }
}

@Suite struct ConsumerStartCheckTests {
    @Test
    func `An answer that comes after that to the next attempt is dismissed, and does not hold that one up`() throws {
        var check = ConsumerStartCheck()
        func receive(_ token: String, _ body: String, of attempt: UInt64) throws -> ConsumerStartCheck.Step? {
            try check.receive(.init(token, Array(body.utf8)), of: attempt, next: 1, lastTime: nil, at: 0)
        }
        func consumer(_ name: String) -> String {
            """
            {"name":"\(name)","created":"2026-01-01T00:00:00Z","delivered":{"stream_seq":0},"num_pending":3,
            "cluster":{"leader":"a"}}
            """
        }
        guard case .ask(.stream)? = try receive("2", consumer("next"), of: 2) else { throw Unexpected("not asked") }
        guard case .dismiss("late", _)? = try receive("1", consumer("late"), of: 1) else {
            throw Unexpected("not dismissed")
        }
        let stream = """
            {"config":{"name":"S","retention":"limits","storage":"file","discard":"old","num_replicas":3,"max_age":0,
            "max_bytes":-1,"max_msgs":-1,"max_msgs_per_subject":-1},"created":"2026-01-01T00:00:00Z",
            "state":{"messages":3,"bytes":3,"first_seq":1,"last_seq":3},"cluster":{"leader":"a"}}
            """
        guard case .begin(let begun)? = try receive("stream-2", stream, of: 2) else { throw Unexpected("not begun") }
        #expect(begun.name == "next" && begun.attempt == 2 && begun.first == 1)
    }
}

@Suite struct StreamEndDetectorTests {
    enum Input {
        case began(pending: UInt64)
        case message(pending: UInt64)
        case idle
    }

    @Test(
        arguments: [
            // Once alone.
            [(.began(pending: 0), true), (.message(pending: 0), false), (.began(pending: 0), false), (.idle, false)],
            // What was there at the beginning is enough, however much comes meanwhile.
            [
                (.began(pending: 3), false), (.message(pending: 9), false), (.message(pending: 20), false),
                (.message(pending: 30), true), (.message(pending: 0), false),
            ],
            // Begun anew, what is there then counts.
            [
                (.began(pending: 3), false), (.message(pending: 2), false), (.began(pending: 2), false),
                (.message(pending: 1), false), (.message(pending: 0), true),
            ],
            // What goes by its age meanwhile is not waited for.
            [
                (.began(pending: 3), false), (.idle, false), (.message(pending: 2), false), (.idle, false),
                (.idle, true),
            ],
        ] as [[(Input, Bool)]])
    func `The end as of the start is reached once, when all that was there has come or is gone`(
        inputs: [(Input, Bool)]
    ) {
        var streamEnd = StreamEndDetector()
        for (place, (input, isReached)) in inputs.enumerated() {
            let told =
                switch input {
                case .began(let pending): streamEnd.began(pending: pending)
                case .message(let pending): streamEnd.message(pending: pending)
                case .idle: streamEnd.idle()
                }
            #expect(told == isReached, "input \(place)")
        }
    }

    @Test func `Its present end is reported again and again, and after an interruption when it is reached again`() {
        var streamEnd = StreamEndDetector()
        func isLevel(_ now: Int64) -> Bool { streamEnd.takeLevel(at: now, interval: 10) }
        let isFirstTold = streamEnd.interrupt()
        _ = streamEnd.began(pending: 2)
        _ = streamEnd.message(pending: 1)
        var levels = [isLevel(100)]
        _ = streamEnd.message(pending: 0)
        levels += [isLevel(100), isLevel(109), isLevel(110)]
        _ = streamEnd.message(pending: 5)
        levels.append(isLevel(130))
        // The second heartbeat in a row.
        _ = streamEnd.idle()
        levels.append(isLevel(140))
        _ = streamEnd.idle()
        levels.append(isLevel(150))
        #expect(levels == [false, true, false, true, false, false, true])
        let told = [isFirstTold, streamEnd.interrupt(), streamEnd.interrupt()]
        #expect(told == [false, true, false])
        levels = [isLevel(170)]
        _ = streamEnd.began(pending: 0)
        levels.append(isLevel(171))
        #expect(levels == [false, true])
    }
}
