internal import Locking
public import Logging

/// Reads a stream in order, each message once, across losses of the consumer, the connection and the server.
///
/// It requests a consumer that lives in the server's memory, and checks that what is delivered has no gap. On any doubt
/// it requests another one that begins after the last message. It retries without end, until `cancel()` or the close of
/// the connection, also when nobody holds it.
///
/// Messages and events come on one thread (`OrderedConsumerSettings.thread`), in order; handlers must not block. Flow control bounds what the
/// server sends ahead: see `OrderedConsumerEvent.barrier`.
public final class OrderedConsumer: Sendable {
    private struct Shared {
        var state: OrderedConsumerState
        var streamEnd = StreamEndDetector()
        /// To the deliver subject of the current attempt.
        var delivery: NATSSubscription?
        /// The server's name of the consumer.
        var name: String?
        /// The answer to the current attempt, while the stream's leader is asked about the stream, or for the last message delivered.
        var unchecked: UncheckedAnswer?
        /// When the stream stored the last message delivered; nil before the first.
        var lastTime: Int64?
        /// When the consumer was requested, by the caller's clock.
        var requestedAt: Int64 = 0
        /// The flow control subject that was passed on as a barrier and not answered yet.
        var openBarrier: String?
        /// Why the stream could not be read, as last logged.
        var loggedError: JetStreamError?
        /// To the server's answers.
        var answers: NATSSubscription?
        var observation: Observation?

        /// Takes out the consumer of the attempt that is over.
        mutating func takeDelivery() -> Dropped {
            defer { (delivery, name, openBarrier) = (nil, nil, nil) }
            let isInterrupted = streamEnd.interrupt() && state.phase != .ended
            return Dropped(delivery: delivery, name: name, isInterrupted: isInterrupted)
        }
    }

    /// The consumer of an attempt that is over.
    fileprivate struct Dropped {
        let delivery: NATSSubscription?
        let name: String?
        /// Whether that is to be reported.
        let isInterrupted: Bool
    }

    fileprivate struct UncheckedAnswer {
        var attempt: UInt64
        var answer: ConsumerAnswer
        var serverTime: Int64
        var answeredAt: Int64
    }

    private let connection: NATSConnection
    private let settings: OrderedConsumerSettings
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    private let onEvent: @Sendable (OrderedConsumerEvent) -> Void
    private let onMessage: @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Void
    private let onStall: @Sendable (DeliveryStall) -> Void
    private let inbox: String
    private let shared: Locked<Shared>

    fileprivate init(
        _ connection: NATSConnection, _ settings: OrderedConsumerSettings, logger: Logger,
        clock: @escaping @Sendable () -> Int64, onEvent: @escaping @Sendable (OrderedConsumerEvent) -> Void,
        onMessage: @escaping @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Void,
        onStall: @escaping @Sendable (DeliveryStall) -> Void
    ) {
        self.connection = connection
        self.settings = settings
        self.logger = logger
        self.clock = clock
        self.onEvent = onEvent
        self.onMessage = onMessage
        self.onStall = onStall
        inbox = connection.makeInbox()
        shared = Locked(Shared(state: OrderedConsumerState(settings)))
    }

    /// The stream sequence of the last message delivered; before the first, one less than where reading begins.
    public var position: UInt64 {
        let next = shared.withLock { $0.state.next }
        return next == 0 ? 0 : next - 1
    }

    /// Ends reading. A call to a handler that has begun may still go on when this returns. Any thread.
    public func cancel() {
        let (answers, observation) = shared.withLock { shared in
            defer { (shared.answers, shared.observation) = (nil, nil) }
            return (shared.answers, shared.observation)
        }
        observation?.cancel()
        answers?.unsubscribe()
        update { $0.end() }
    }
}

extension JetStream {
    /// Begins to read a stream.
    ///
    /// - Parameters:
    ///   - clock: the caller's monotonic clock in nanoseconds, which measures the server's silence.
    ///   - onEvent: called on `settings.thread`; must not block.
    ///   - onMessage: called on `settings.thread` for each message; must not block.
    ///   - onStall: called on any thread when the delivery stalls; must not block.
    /// - Throws: `.closed`.
    public func read(
        _ settings: OrderedConsumerSettings, logger: Logger, clock: @escaping @Sendable () -> Int64,
        onEvent: @escaping @Sendable (OrderedConsumerEvent) -> Void,
        onMessage: @escaping @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Void,
        onStall: @escaping @Sendable (DeliveryStall) -> Void = { _ in }
    ) throws(NATSError) -> OrderedConsumer {
        let consumer = OrderedConsumer(
            connection, settings, logger: logger, clock: clock, onEvent: onEvent, onMessage: onMessage, onStall: onStall
        )
        try consumer.start()
        return consumer
    }
}

// MARK: - The state and its actions

extension OrderedConsumer {
    /// Makes the first attempt now, or when there is a connection.
    fileprivate func start() throws(NATSError) {
        let answers = try connection.subscribe("\(inbox).*", on: settings.thread) { self.receiveAnswer($0) }
        let observation = connection.onStateChange { _ in self.connectionChanged() }
        shared.withLock { ($0.answers, $0.observation) = (answers, observation) }
        connectionChanged()
    }

    /// Reads the connection's state under the lock: one read before could be older than one that came meanwhile.
    private func connectionChanged() {
        update { $0.connectionChanged(isConnected: connection.state == .connected) }
    }

    /// Changes the state, runs `first`, and carries out the actions of the change.
    /// - Returns: whether there were any actions.
    @discardableResult
    private func update(
        _ change: (inout OrderedConsumerState) -> [OrderedConsumerState.Action], first: () -> Void = {}
    ) -> Bool {
        let (actions, dropped) = shared.withLock { shared in
            let actions = change(&shared.state)
            return (actions, actions.contains(.drop) ? shared.takeDelivery() : nil)
        }
        if let dropped {
            if dropped.isInterrupted { onEvent(.interrupted) }
            drop(dropped)
        }
        first()
        for action in actions { perform(action) }
        return !actions.isEmpty
    }

    private func perform(_ action: OrderedConsumerState.Action) {
        switch action {
        case .drop: break
        case .createConsumer(let attempt, let sequence): createConsumer(attempt, from: sequence)
        case .requestBarrier: onEvent(.barrier(FlowControlBarrier(subject: nil, consumer: self)))
        case .subscribe(let attempt): subscribe(attempt)
        case .arm(let timer, let time): arm(timer, after: time)
        case .reportRewound(let last):
            logger.error("the stream ends before the last message read", metadata: ["stream": "\(settings.stream)"])
            cancel()
            onEvent(.rewound(lastSequence: last))
        }
    }

    private func deliverSubject(_ attempt: UInt64) -> String { "\(inbox).delivery.\(attempt)" }

    private func createConsumer(_ attempt: UInt64, from sequence: UInt64) {
        let request = ConsumerRequest(settings, from: sequence, deliverSubject: deliverSubject(attempt))
        let now = clock()
        shared.withLock { $0.requestedAt = now }
        do {
            try connection.publish(
                APIBody.encode(request), to: "$JS.API.CONSUMER.CREATE.\(settings.stream)",
                reply: "\(inbox).\(attempt)")
        } catch {
            // Between two connections: the next one, or the time limit, brings another attempt.
        }
    }

    /// Subscribes to the deliver subject: not before the answer was read, so that nothing is delivered before it. The
    /// server waits for a subscriber.
    private func subscribe(_ attempt: UInt64) {
        do throws(NATSError) {
            let delivery = try connection.subscribe(deliverSubject(attempt), on: settings.thread) {
                self.receive($0, of: attempt)
            }
            let isStale = shared.withLock { shared in
                guard shared.state.isReading(attempt) else { return true }
                shared.delivery = delivery
                return false
            }
            if isStale { delivery.unsubscribe() }
        } catch {
            // Closed for good.
        }
    }

    private func drop(_ consumer: Dropped) {
        consumer.delivery?.unsubscribe()
        // The server would delete it by itself after `inactiveThreshold`.
        if let name = consumer.name { delete(name) }
    }

    private func delete(_ consumer: String) {
        try? connection.publish([], to: "$JS.API.CONSUMER.DELETE.\(settings.stream).\(consumer)")
    }

    private func arm(_ timer: UInt64, after nanoseconds: Int64) {
        Task { [weak self] in
            try? await Task.sleep(for: .nanoseconds(nanoseconds))
            guard let self else { return }
            let now = clock()
            var isSilent = false
            update { state in
                let wasReading = state.phase == .reading
                defer { isSilent = wasReading && state.phase != .reading }
                return state.timerFired(timer, at: now)
            }
            if isSilent { onStall(.silence) }
        }
    }
}

// MARK: - Messages of the server

extension OrderedConsumer {
    /// The server's answer to a consumer request, or to a question about the stream.
    private func receiveAnswer(_ message: borrowing NATSMessage) {
        guard let token = message.subject.split(separator: ".").last else { return }
        let parts = token.split(separator: "-")
        guard let attempt = parts.last.flatMap({ UInt64($0) }) else { return }
        do throws(JetStreamError) {
            guard !message.saysNoResponders else { throw .notEnabled }
            switch parts.count == 2 ? parts[0] : "" {
            case Self.streamMark:
                return check(attempt, try APIBody.decode(StreamInfo.Wire.self, from: message.copyPayload()))
            case Self.lastMark: return checkLast(attempt, try time(of: message.copyPayload()))
            default: break
            }
            let answer = try APIBody.decode(ConsumerAnswer.self, from: message.copyPayload())
            let unchecked = UncheckedAnswer(
                attempt: attempt, answer: answer, serverTime: try ServerTime.parse(answer.created), answeredAt: clock())
            let (next, hasLast) = shared.withLock { ($0.state.next, $0.lastTime != nil) }
            if hasLast, settings.comparesLastMessage {
                askForLast(unchecked, next - 1)
            } else {
                beginOrAsk(unchecked)
            }
        } catch {
            log(error)
            update { $0.rejected(attempt) }
        }
    }

    private static let streamMark = "stream"
    private static let lastMark = "last"

    /// When the stream stored a message that was asked for; nil where it has none.
    private func time(of answer: [UInt8]) throws(JetStreamError) -> Int64? {
        struct Answer: Decodable {
            struct Message: Decodable {
                var time: String
            }
            var message: Message
        }
        do throws(JetStreamError) {
            return try ServerTime.parse(try APIBody.decode(Answer.self, from: answer).message.time)
        } catch {
            guard error.isMessageMissing else { throw error }
            return nil
        }
    }

    /// A stream that has lost its end, and has grown again meanwhile, has another message there.
    private func askForLast(_ unchecked: UncheckedAnswer, _ sequence: UInt64) {
        shared.withLock { $0.unchecked = unchecked }
        try? connection.publish(
            Array("{\"seq\":\(sequence)}".utf8), to: "$JS.API.STREAM.MSG.GET.\(settings.stream)",
            reply: "\(inbox).\(Self.lastMark)-\(unchecked.attempt)")
    }

    /// - Parameter time: nil where the message is not there: deleted, or beyond the end.
    private func checkLast(_ attempt: UInt64, _ time: Int64?) {
        let (unchecked, last) = shared.withLock { ($0.unchecked, $0.lastTime) }
        guard let unchecked, unchecked.attempt == attempt else { return }
        guard let time, time != last else { return beginOrAsk(unchecked) }
        update { $0.foundAnotherMessage(attempt) }
    }

    /// From nats-server 2.11 on a consumer begins where it is asked to, also beyond the end of its stream. In a cluster a server
    /// is drawn by lot for it, whose copy it reads: after a power cut that may differ from the leader's, for ever.
    private func beginOrAsk(_ unchecked: UncheckedAnswer) {
        let mayBeBeyondEnd = unchecked.answer.numPending == 0 && shared.withLock { $0.state.next } > 1
        if mayBeBeyondEnd || unchecked.answer.cluster != nil { askForStream(unchecked) } else { begin(unchecked) }
    }

    private func askForStream(_ unchecked: UncheckedAnswer) {
        shared.withLock { $0.unchecked = unchecked }
        // Between two connections the next one, or the time limit, brings another attempt.
        try? connection.publish(
            [], to: "$JS.API.STREAM.INFO.\(settings.stream)", reply: "\(inbox).\(Self.streamMark)-\(unchecked.attempt)")
    }

    private func check(_ attempt: UInt64, _ stream: StreamInfo.Wire) {
        let unchecked = shared.withLock { shared -> UncheckedAnswer? in
            guard shared.unchecked?.attempt == attempt else { return nil }
            defer { shared.unchecked = nil }
            return shared.unchecked
        }
        guard var unchecked else { return }
        let server = unchecked.answer.cluster?.leader
        guard !stream.hasNoLeader, server == nil || server == stream.cluster?.leader else {
            delete(unchecked.answer.name)
            update { stream.hasNoLeader ? $0.rejected(attempt) : $0.misplaced(attempt) }
            return
        }
        unchecked.answer.delivered.streamSeq = min(unchecked.answer.delivered.streamSeq, stream.state.lastSeq)
        begin(unchecked)
    }

    private func begin(_ unchecked: UncheckedAnswer) {
        let (attempt, answer, now) = (unchecked.attempt, unchecked.answer, unchecked.answeredAt)
        let serverTime = unchecked.serverTime
        let (requested, requestedAt) = shared.withLock { ($0.state.next, $0.requestedAt) }
        let start = ConsumerStart(
            requested: requested, first: answer.delivered.streamSeq &+ 1, pending: answer.numPending,
            serverTime: serverTime, requestedAt: requestedAt, answeredAt: now)
        update {
            $0.created(attempt, first: requested == 0 ? nil : start.first, at: now)
        } first: {
            let (isCreated, isCaughtUp, isLevel) = shared.withLock { shared -> (Bool, Bool, Bool) in
                guard shared.state.isCurrent(attempt) else { return (false, false, false) }
                (shared.name, shared.loggedError) = (answer.name, nil)
                let isCaughtUp = shared.streamEnd.began(pending: answer.numPending)
                return (true, isCaughtUp, takeLevel(&shared, at: now))
            }
            // On the thread that delivers, so before all that the consumer delivers.
            if isCreated { onEvent(.began(start)) }
            if isCaughtUp { onEvent(.caughtUp) }
            if isLevel { onEvent(.level(since: nil)) }
        }
    }

    /// Logs why the stream cannot be read; the same reason in a row is logged once.
    private func log(_ error: JetStreamError) {
        let isNew = shared.withLock { shared in
            defer { shared.loggedError = error }
            return shared.loggedError != error
        }
        guard isNew else { return }
        logger.warning(
            "cannot read a stream; retrying", metadata: ["stream": "\(settings.stream)", "error": "\(error)"])
    }

    /// A message on the deliver subject.
    private func receive(_ message: borrowing NATSMessage, of attempt: UInt64) {
        let now = clock()
        if let metadata = message.withReply({ DeliveryMetadata(acknowledgementSubject: $0) }) {
            let (isNext, isCaughtUp, isLevel) = shared.withLock { shared -> (Bool, Bool, Bool) in
                guard shared.state.accepts(metadata, of: attempt, at: now) else { return (false, false, false) }
                shared.lastTime = metadata.time
                let isCaughtUp = shared.streamEnd.message(pending: metadata.pending)
                return (true, isCaughtUp, takeLevel(&shared, at: now))
            }
            guard isNext else { return restart(attempt, "a gap") }
            onMessage(message, metadata)
            if isCaughtUp { onEvent(.caughtUp) }
            if isLevel { onEvent(.level(since: metadata.time)) }
        } else if message.header("Status") == "100" {
            receiveStatus(message, of: attempt, at: now)
        }
    }

    /// A heartbeat, or a flow control request.
    private func receiveStatus(_ message: borrowing NATSMessage, of attempt: UInt64, at now: Int64) {
        if let subject = message.reply {
            passOn(subject, of: attempt)
            return
        }
        guard let last = message.header("Nats-Last-Consumer").flatMap({ UInt64($0) }) else { return }
        guard shared.withLock({ $0.state.heartbeatMatches(lastConsumerSequence: last, of: attempt, at: now) }) else {
            restart(attempt, "a gap before a heartbeat")
            return
        }
        if let subject = message.header("Nats-Consumer-Stalled") {
            // The flow control request is not answered yet, or it or the answer was lost.
            onStall(.flowControl)
            passOn(subject, of: attempt)
        } else {
            let (isCaughtUp, isLevel) = shared.withLock { shared in
                (shared.streamEnd.idle(), takeLevel(&shared, at: now))
            }
            if isCaughtUp { onEvent(.caughtUp) }
            if isLevel { onEvent(.level(since: nil)) }
        }
    }

    private func takeLevel(_ shared: inout Shared, at now: Int64) -> Bool {
        shared.streamEnd.takeLevel(at: now, interval: settings.heartbeat.wholeNanoseconds / 2)
    }

    /// Passes a flow control request on as a barrier, unless the same one is open already.
    private func passOn(_ subject: String, of attempt: UInt64) {
        let isNew = shared.withLock { shared in
            guard shared.state.isReading(attempt), shared.openBarrier != subject else { return false }
            shared.openBarrier = subject
            return true
        }
        if isNew { onEvent(.barrier(FlowControlBarrier(subject: subject, consumer: self))) }
    }

    func pass(_ barrier: FlowControlBarrier) {
        guard let subject = barrier.subject else {
            let now = clock()
            update { $0.barrierPassed(at: now) }
            return
        }
        shared.withLock { shared in
            if shared.openBarrier == subject { shared.openBarrier = nil }
        }
        // If the answer is lost, the next heartbeat asks again.
        try? connection.publish([], to: subject)
    }

    private func restart(_ attempt: UInt64, _ reason: String) {
        guard update({ $0.lost(attempt) }) else { return }
        onStall(.gap)
        logger.info(
            "restarting the reading of a stream", metadata: ["stream": "\(settings.stream)", "reason": "\(reason)"])
    }
}

// MARK: - The consumer request

extension OrderedConsumerState {
    fileprivate init(_ settings: OrderedConsumerSettings) {
        let next: UInt64 =
            switch settings.start {
            case .sequence(let sequence): max(1, sequence)
            case .lastPerSubject: 0
            }
        let wait = settings.retryWait
        self.init(
            next: next,
            limits: Limits(
                silence: (settings.heartbeat * 2).wholeNanoseconds,
                startTimeout: settings.startTimeout.wholeNanoseconds,
                retryWait: wait.lowerBound.wholeNanoseconds...wait.upperBound.wholeNanoseconds,
                rewindTimeout: settings.rewindTimeout.wholeNanoseconds,
                hold: (ConsumerRequest.inactiveThreshold / 2).wholeNanoseconds))
    }
}

/// The request for a consumer in memory, without acknowledgements: only the order of messages matters.
private struct ConsumerRequest: Encodable {
    /// How long the server keeps a consumer without a subscriber.
    static let inactiveThreshold = Duration.seconds(10)

    struct Configuration: Encodable {
        var deliverSubject: String
        var deliverPolicy: String
        var optStartSeq: UInt64?
        var filterSubject: String?
        var headersOnly: Bool
        var ackPolicy = "none"
        var maxDeliver = 1
        var replayPolicy = "instant"
        var flowControl = true
        var idleHeartbeat: Int64
        var inactiveThreshold = ConsumerRequest.inactiveThreshold.wholeNanoseconds
        var memStorage = true
        var numReplicas = 1
    }
    var streamName: String
    var config: Configuration

    /// - Parameter sequence: the first stream sequence; 0: the newest message of each subject first.
    init(_ settings: OrderedConsumerSettings, from sequence: UInt64, deliverSubject: String) {
        streamName = settings.stream
        config = Configuration(
            deliverSubject: deliverSubject,
            deliverPolicy: sequence == 0 ? "last_per_subject" : "by_start_sequence",
            optStartSeq: sequence == 0 ? nil : sequence,
            filterSubject: settings.filterSubject, headersOnly: settings.headersOnly,
            idleHeartbeat: settings.heartbeat.wholeNanoseconds)
    }
}

/// The server's answer to a `ConsumerRequest`.
private struct ConsumerAnswer: Decodable {
    struct Delivered: Decodable {
        /// One less than the first sequence to be delivered.
        var streamSeq: UInt64
    }
    struct Cluster: Decodable {
        /// The server that has the consumer.
        var leader: String?
    }
    var name: String
    var created: String
    var delivered: Delivered
    var numPending: UInt64
    var cluster: Cluster?
}
