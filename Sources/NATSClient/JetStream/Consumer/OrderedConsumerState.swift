/// Decides what an ordered consumer does. Pure: inputs are functions, what is to be done is returned.
///
/// A consumer of the server is never mended. On any doubt, a gap in its numbers, silence, a new connection, the next
/// attempt begins with a consumer of its own after the last message delivered. As each consumer may send some
/// megabytes before it asks, the next one is listened to only when all before has been dealt with.
struct OrderedConsumerState {
    enum Phase: Equatable {
        /// No connection, or not started.
        case offline
        /// The server has been asked for a consumer.
        case asking
        /// The server is ready, but the reader has not dealt with what the consumer before delivered.
        case holding
        /// Messages come.
        case reading
        /// After a failure, before the next attempt.
        case waiting
        /// For good.
        case ended
    }

    enum Action: Equatable {
        /// Ask the server for a consumer that begins there; 0: with the newest of each subject.
        case ask(attempt: UInt64, from: UInt64)
        /// Ask the reader whether it has dealt with everything, which `passed` answers.
        case question
        /// Listen to what the consumer delivers.
        case follow(attempt: UInt64)
        /// Forget the consumer of the attempt before.
        case drop
        /// Call `timerFired` with the number after that time, in nanoseconds.
        case arm(timer: UInt64, after: Int64)
        /// Tell that the stream has been rewound.
        case tellRewound(last: UInt64)
    }

    private(set) var phase = Phase.offline
    /// Counts the consumers asked for; input of an earlier one is ignored.
    private(set) var attempt: UInt64 = 0
    /// The place in the stream after the last message delivered; 0 before the first of each subject.
    private(set) var next: UInt64
    private let limits: Limits
    private var consumerSequence: UInt64 = 0
    private var lastHeard: Int64 = 0
    private var failures = 0
    private var timer: UInt64 = 0
    private var shortSince: Int64?
    /// Messages were delivered since the reader last said that it has dealt with everything.
    private var isOwing = false
    /// It has been asked and has not answered.
    private var isAsked = false

    /// Times in nanoseconds.
    struct Limits {
        var silence: Int64
        var startTimeout: Int64
        var retryWait: ClosedRange<Int64>
        var rewindPatience: Int64
        /// How long a consumer waits for somebody to listen.
        var hold: Int64
    }

    /// - Parameter next: where to begin; 0: with the newest message of each subject.
    init(next: UInt64, limits: Limits) {
        self.next = next
        self.limits = limits
    }

    // MARK: The connection

    mutating func connectionChanged(isConnected: Bool) -> [Action] {
        guard phase != .ended else { return [] }
        if isConnected { return phase == .offline ? ask() : [] }
        phase = .offline
        return [.drop]
    }

    mutating func end() -> [Action] {
        phase = .ended
        return [.drop]
    }

    // MARK: The consumer

    /// The server has made a consumer that begins at `first`, if that is known.
    mutating func made(_ attempt: UInt64, first: UInt64?, at now: Int64) -> [Action] {
        guard phase == .asking, attempt == self.attempt else { return [] }
        if let first, first < next { return isShort(at: now) }
        shortSince = nil
        guard isOwing else { return follow(at: now) }
        phase = .holding
        defer { isAsked = true }
        return (isAsked ? [] : [.question]) + [arm(after: limits.hold)]
    }

    /// The reader has dealt with everything.
    mutating func passed(at now: Int64) -> [Action] {
        (isOwing, isAsked) = (false, false)
        return phase == .holding ? follow(at: now) : []
    }

    private mutating func follow(at now: Int64) -> [Action] {
        phase = .reading
        consumerSequence = 0
        lastHeard = now
        return [.follow(attempt: attempt), arm(after: limits.silence)]
    }

    mutating func refused(_ attempt: UInt64) -> [Action] {
        guard phase == .asking, attempt == self.attempt else { return [] }
        return retry()
    }

    mutating func timerFired(_ timer: UInt64, at now: Int64) -> [Action] {
        guard timer == self.timer else { return [] }
        switch phase {
        case .offline, .ended: return []
        case .waiting, .holding: return ask()
        case .asking: return retry()
        case .reading:
            let silent = now &- lastHeard
            guard silent < limits.silence else { return retry() }
            return [arm(after: limits.silence - silent)]
        }
    }

    // MARK: What it delivers

    /// Whether a message is the next one. If it is not, `lost` tells what to do.
    mutating func accepts(_ metadata: DeliveryMetadata, of attempt: UInt64, at now: Int64) -> Bool {
        guard isReading(attempt), metadata.consumerSequence == consumerSequence &+ 1, metadata.streamSequence >= next
        else { return false }
        lastHeard = now
        consumerSequence &+= 1
        next = metadata.streamSequence &+ 1
        failures = 0
        isOwing = true
        return true
    }

    /// Whether a heartbeat agrees with what has come. If it does not, `lost` tells what to do.
    mutating func agrees(lastConsumerSequence: UInt64, of attempt: UInt64, at now: Int64) -> Bool {
        guard isReading(attempt), lastConsumerSequence == consumerSequence else { return false }
        lastHeard = now
        failures = 0
        return true
    }

    /// Whether the consumer of that attempt was made and is the one that counts.
    func has(_ attempt: UInt64) -> Bool {
        (phase == .reading || phase == .holding) && attempt == self.attempt
    }

    func isReading(_ attempt: UInt64) -> Bool {
        phase == .reading && attempt == self.attempt
    }

    /// Something of the attempt got lost.
    mutating func lost(_ attempt: UInt64) -> [Action] {
        isReading(attempt) ? retry() : []
    }

    // MARK: Attempts

    private mutating func ask() -> [Action] {
        attempt += 1
        phase = .asking
        return [.drop, .ask(attempt: attempt, from: next), arm(after: limits.startTimeout)]
    }

    /// At once after an attempt that got somewhere, else after a while.
    private mutating func retry() -> [Action] {
        failures += 1
        guard failures > 1 || phase != .reading else { return ask() }
        phase = .waiting
        let doublings = min(failures - 1, 16)
        let wait = min(limits.retryWait.lowerBound << doublings, limits.retryWait.upperBound)
        return [.drop, arm(after: wait)]
    }

    private mutating func isShort(at now: Int64) -> [Action] {
        let since = shortSince ?? now
        shortSince = since
        guard now &- since >= limits.rewindPatience else { return retry() }
        phase = .ended
        return [.drop, .tellRewound(last: next - 1)]
    }

    private mutating func arm(after time: Int64) -> Action {
        timer += 1
        return .arm(timer: timer, after: time)
    }
}
