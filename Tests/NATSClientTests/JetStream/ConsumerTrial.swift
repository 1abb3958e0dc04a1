import TestSupport

@testable import NATSClient

/// A server in virtual time, and an `OrderedConsumerState` that reads from it.
///
/// The stream has gaps in its numbers. Requests get lost or are refused; messages and heartbeats get lost, come twice or
/// from an earlier consumer; consumers vanish; the connection breaks.
struct ConsumerTrial {
    let stream: [UInt64]
    private(set) var delivered: [UInt64] = []
    /// How often a consumer delivered while the reader had not dealt with what the one before had.
    private(set) var begunUnasked = 0
    private var generator: SeededGenerator
    private var state: OrderedConsumerState
    private var now: Int64 = 0
    private var timer: (number: UInt64, at: Int64)?
    /// The request under way.
    private var asked: (attempt: UInt64, from: UInt64)?
    /// The consumer that is followed: what it has sent, and the rest.
    private var consumer: (attempt: UInt64, sent: UInt64, rest: ArraySlice<UInt64>)?
    private var isConnected = false
    /// What was delivered and not dealt with yet, and the question whether it has been.
    private var owed = 0
    private var isAsked = false
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

    /// Goes on until all is delivered, or for much longer than that should take.
    mutating func run() {
        for step in 0..<20_000 where delivered.count < stream.count {
            // Trouble ends at some time, or nothing could be expected.
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
        if isAsked, generator.chance(10, in: 100) {
            (isAsked, owed) = (false, 0)
            perform(state.passed(at: now))
        }
        send(isTroubled: isTroubled)
    }

    private mutating func answer(_ request: (attempt: UInt64, from: UInt64), isTroubled: Bool) {
        asked = nil
        if isTroubled, generator.chance(20, in: 100) { return }
        if isTroubled, generator.chance(20, in: 100) { return perform(state.refused(request.attempt)) }
        let rest = stream.drop { $0 < request.from }
        perform(state.made(request.attempt, first: rest.first ?? request.from, at: now))
        if state.has(request.attempt) { consumer = (request.attempt, 0, rest) }
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
        } else if !state.agrees(lastConsumerSequence: current.sent, of: current.attempt, at: now) {
            perform(state.lost(current.attempt))
        }
    }

    private mutating func receive(_ metadata: DeliveryMetadata, of attempt: UInt64) {
        if state.accepts(metadata, of: attempt, at: now) {
            delivered.append(metadata.streamSequence)
            if metadata.consumerSequence == 1, owed > 0 { begunUnasked += 1 }
            owed += 1
        } else {
            perform(state.lost(attempt))
        }
    }

    private mutating func perform(_ actions: [OrderedConsumerState.Action]) {
        for action in actions {
            switch action {
            case .ask(let attempt, let sequence): asked = (attempt, sequence)
            case .drop: (asked, consumer) = (nil, nil)
            case .arm(let number, let time): timer = (number, now + time)
            case .question: isAsked = true
            case .follow, .tellRewound: break
            }
        }
    }
}
