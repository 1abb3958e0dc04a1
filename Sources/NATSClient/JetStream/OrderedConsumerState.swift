/// The state machine of an ordered consumer. Pure: it returns the actions to carry out.
///
/// A consumer of the server is never repaired. On any doubt (a gap in its sequence, silence, a new connection) the next
/// attempt requests a new consumer that begins after the last message delivered. Each consumer may send some megabytes
/// before flow control, so the next one is subscribed to only when everything before is processed.
struct OrderedConsumerState {
    enum Phase: Equatable {
        /// Not started, or without a connection.
        case offline
        /// A consumer is requested.
        case creating
        /// The consumer is there, but the reader has not processed what the one before delivered.
        case holding
        /// The consumer delivers.
        case reading
        /// Waiting after a failure, before the next attempt.
        case backingOff
        case ended
    }

    enum Action: Equatable {
        /// Request a consumer that begins at this stream sequence.
        case createConsumer(attempt: UInt64, from: UInt64)
        /// Ask the reader whether everything is processed; `barrierPassed` is the answer.
        case requestBarrier
        /// Subscribe to what the consumer delivers.
        case subscribe(attempt: UInt64)
        /// Drop the consumer of the attempt before.
        case drop
        /// Call `timerFired` with this number after the time, in nanoseconds.
        case arm(timer: UInt64, after: Int64)
        case reportRewound(last: UInt64)
    }

    private(set) var phase = Phase.offline
    /// The number of the newest attempt; input of an earlier one is ignored.
    private(set) var attempt: UInt64 = 0
    /// The stream sequence after that of the last message delivered.
    private(set) var next: UInt64
    private let limits: Limits
    private var consumerSequence: UInt64 = 0
    private var lastHeard: Int64 = 0
    private var failures = 0
    private var misplacements = 0
    private var timer: UInt64 = 0
    private var shortSince: Int64?
    /// Whether messages were delivered since the reader last reported that everything is processed.
    private var hasUnprocessed = false
    /// Whether the reader was asked and has not answered.
    private var isBarrierPending = false

    /// Time limits in nanoseconds.
    struct Limits {
        var silence: Int64
        var startTimeout: Int64
        var retryWait: ClosedRange<Int64>
        var rewindTimeout: Int64
        /// How long a consumer is kept unsubscribed.
        var hold: Int64
    }

    /// - Parameter next: the first stream sequence.
    init(next: UInt64, limits: Limits) {
        self.next = next
        self.limits = limits
    }

    // MARK: The connection

    mutating func connectionChanged(isConnected: Bool) -> [Action] {
        guard phase != .ended else { return [] }
        if isConnected { return phase == .offline ? beginAttempt() : [] }
        phase = .offline
        // The servers may be starting.
        shortSince = nil
        return [.drop]
    }

    mutating func end() -> [Action] {
        phase = .ended
        return [.drop]
    }

    // MARK: The consumer

    /// The server has created a consumer that begins at `first`.
    mutating func created(_ attempt: UInt64, first: UInt64, at now: Int64) -> [Action] {
        guard phase == .creating, attempt == self.attempt else { return [] }
        if first < next { return streamEndsEarly(at: now) }
        shortSince = nil
        guard hasUnprocessed else { return beginReading(at: now) }
        phase = .holding
        defer { isBarrierPending = true }
        return (isBarrierPending ? [] : [.requestBarrier]) + [arm(after: limits.hold)]
    }

    /// The reader has processed everything.
    mutating func barrierPassed(at now: Int64) -> [Action] {
        (hasUnprocessed, isBarrierPending) = (false, false)
        return phase == .holding ? beginReading(at: now) : []
    }

    private mutating func beginReading(at now: Int64) -> [Action] {
        phase = .reading
        consumerSequence = 0
        lastHeard = now
        return [.subscribe(attempt: attempt), arm(after: limits.silence)]
    }

    mutating func rejected(_ attempt: UInt64) -> [Action] {
        guard phase == .creating, attempt == self.attempt else { return [] }
        shortSince = nil
        return retry()
    }

    /// The consumer of an attempt is on a server that does not lead the stream. The next one may be drawn by lot; now and then
    /// that waits.
    mutating func misplaced(_ attempt: UInt64) -> [Action] {
        guard phase == .creating, attempt == self.attempt else { return [] }
        misplacements += 1
        return misplacements.isMultiple(of: Self.draws) ? retry() : beginAttempt()
    }

    private static let draws = 8

    mutating func timerFired(_ timer: UInt64, at now: Int64) -> [Action] {
        guard timer == self.timer else { return [] }
        switch phase {
        case .offline, .ended: return []
        case .backingOff, .holding: return beginAttempt()
        case .creating: return retry()
        case .reading:
            let silent = now &- lastHeard
            guard silent < limits.silence else { return retry() }
            return [arm(after: limits.silence - silent)]
        }
    }

    // MARK: Messages and heartbeats

    /// Whether a message is the next one; if not, call `lost`.
    mutating func accepts(_ metadata: DeliveryMetadata, of attempt: UInt64, at now: Int64) -> Bool {
        guard isReading(attempt), metadata.consumerSequence == consumerSequence &+ 1, metadata.streamSequence >= next
        else { return false }
        lastHeard = now
        consumerSequence &+= 1
        next = metadata.streamSequence &+ 1
        failures = 0
        hasUnprocessed = true
        return true
    }

    /// Whether a heartbeat matches the messages delivered; if not, call `lost`.
    mutating func heartbeatMatches(lastConsumerSequence: UInt64, of attempt: UInt64, at now: Int64) -> Bool {
        guard isReading(attempt), lastConsumerSequence == consumerSequence else { return false }
        lastHeard = now
        failures = 0
        return true
    }

    /// Whether this attempt is the current one and has its consumer.
    func isCurrent(_ attempt: UInt64) -> Bool {
        (phase == .reading || phase == .holding) && attempt == self.attempt
    }

    func isReading(_ attempt: UInt64) -> Bool {
        phase == .reading && attempt == self.attempt
    }

    mutating func lost(_ attempt: UInt64) -> [Action] {
        isReading(attempt) ? retry() : []
    }

    // MARK: Attempts

    private mutating func beginAttempt() -> [Action] {
        attempt += 1
        phase = .creating
        // A consumer that was drawn for a server that is away is not answered.
        let timeout = limits.startTimeout >> max(0, 2 - failures)
        return [.drop, .createConsumer(attempt: attempt, from: next), arm(after: timeout)]
    }

    /// Begins the next attempt: at once after one that was reading, else after a wait.
    private mutating func retry() -> [Action] {
        failures += 1
        guard failures > 1 || phase != .reading else { return beginAttempt() }
        phase = .backingOff
        let doublings = min(failures - 1, 16)
        let wait = min(limits.retryWait.lowerBound << doublings, limits.retryWait.upperBound)
        return [.drop, arm(after: wait)]
    }

    /// The stream has another message in the place of the last one delivered.
    mutating func foundAnotherMessage(_ attempt: UInt64) -> [Action] {
        guard phase == .creating, attempt == self.attempt else { return [] }
        return endRewound()
    }

    private mutating func endRewound() -> [Action] {
        phase = .ended
        return [.drop, .reportRewound(last: next - 1)]
    }

    private mutating func streamEndsEarly(at now: Int64) -> [Action] {
        let since = shortSince ?? now
        shortSince = since
        guard now &- since >= limits.rewindTimeout else { return retry() }
        return endRewound()
    }

    private mutating func arm(after time: Int64) -> Action {
        timer += 1
        return .arm(timer: timer, after: time)
    }
}

extension OrderedConsumerState {
    init(_ settings: OrderedConsumerSettings) {
        let wait = settings.retryWait
        self.init(
            next: max(1, settings.start),
            limits: Limits(
                silence: (settings.heartbeat * 2).wholeNanoseconds,
                startTimeout: settings.startTimeout.wholeNanoseconds,
                retryWait: wait.lowerBound.wholeNanoseconds...wait.upperBound.wholeNanoseconds,
                rewindTimeout: settings.rewindTimeout.wholeNanoseconds,
                hold: (ConsumerRequest.inactiveThreshold / 2).wholeNanoseconds))
    }
}

/// Detects that everything up to the stream's end has been delivered: up to the end as of the start of reading, once, and up
/// to the present end again and again. Pure.
///
/// Each input returns whether the end as of the start has just been reached.
struct StreamEndDetector {
    private(set) var isDone = false
    private var remaining: UInt64?
    private var isIdle = false
    /// Whether everything up to the present end has been delivered, as far as the last input tells.
    private var isLevel = false
    /// When that was last reported, by the caller's clock; nil after an interruption.
    private var reportedAt: Int64?

    /// Reading begins or restarts.
    /// - Parameter pending: messages to come.
    mutating func began(pending: UInt64) -> Bool {
        (remaining, isIdle, isLevel) = (pending, false, pending == 0)
        return pending == 0 ? finish() : false
    }

    /// A message was delivered.
    /// - Parameter pending: messages after it.
    mutating func message(pending: UInt64) -> Bool {
        (isIdle, isLevel) = (false, pending == 0)
        guard !isDone else { return false }
        if let left = remaining { remaining = left > 0 ? left - 1 : 0 }
        return pending == 0 || remaining == 0 ? finish() : false
    }

    /// A heartbeat came. The second one in a row means that the server has nothing to send: what was still to come has
    /// expired.
    mutating func idle() -> Bool {
        defer { isIdle = true }
        if isIdle { isLevel = true }
        return isIdle ? finish() : false
    }

    /// Whether it is to be reported now that everything up to the present end has been delivered.
    /// - Parameter interval: nanoseconds between two reports at the least.
    mutating func takeLevel(at now: Int64, interval: Int64) -> Bool {
        guard isLevel, reportedAt.map({ now &- $0 >= interval }) ?? true else { return false }
        reportedAt = now
        return true
    }

    /// Reading is interrupted.
    /// - Returns: whether that is to be reported: nothing was reported since the interruption before.
    mutating func interrupt() -> Bool {
        defer { (isLevel, reportedAt) = (false, nil) }
        return reportedAt != nil
    }

    private mutating func finish() -> Bool {
        defer { isDone = true }
        return !isDone
    }
}
