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
        var startCheck = ConsumerStartCheck()
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
        guard let token = message.subject.split(separator: ".").last,
            let attempt = token.split(separator: "-").last.flatMap({ UInt64($0) })
        else { return }
        do throws(JetStreamError) {
            guard !message.saysNoResponders else { throw .notEnabled }
            let answer = try ConsumerStartCheck.Answer(token, message.copyPayload())
            let now = clock()
            let step = try shared.withLock { shared throws(JetStreamError) in
                try shared.startCheck.receive(
                    answer, of: attempt, next: shared.state.next,
                    lastTime: settings.comparesLastMessage ? shared.lastTime : nil, at: now)
            }
            switch step {
            case .ask(let question):
                // Between two connections the next one, or the time limit, brings another attempt.
                try? connection.publish(
                    question.body, to: question.subject(settings.stream), reply: "\(inbox).\(question.token(attempt))")
            case .begin(let consumer): begin(consumer)
            case .end: update { $0.foundAnotherMessage(attempt) }
            case .dismiss(let name, let hasLeader):
                delete(name)
                update { hasLeader ? $0.misplaced(attempt) : $0.rejected(attempt) }
            case nil: break
            }
        } catch {
            log(error)
            update { $0.rejected(attempt) }
        }
    }

    private func begin(_ consumer: ConsumerStartCheck.Consumer) {
        let (requested, requestedAt) = shared.withLock { ($0.state.next, $0.requestedAt) }
        let start = ConsumerStart(
            requested: requested, first: consumer.first, serverTime: consumer.serverTime, requestedAt: requestedAt,
            answeredAt: consumer.answeredAt)
        update {
            $0.created(consumer.attempt, first: start.first, at: consumer.answeredAt)
        } first: {
            let end = shared.withLock { shared -> ReachedEnd? in
                guard shared.state.isCurrent(consumer.attempt) else { return nil }
                (shared.name, shared.loggedError) = (consumer.name, nil)
                return reachedEnd(&shared, at: consumer.answeredAt) { $0.began(pending: consumer.pending) }
            }
            guard let end else { return }
            // On the thread that delivers, so before all that the consumer delivers.
            onEvent(.began(start))
            report(end, since: nil)
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
            let end = shared.withLock { shared -> ReachedEnd? in
                guard shared.state.accepts(metadata, of: attempt, at: now) else { return nil }
                shared.lastTime = metadata.time
                return reachedEnd(&shared, at: now) { $0.message(pending: metadata.pending) }
            }
            guard let end else { return restart(attempt, "a gap") }
            onMessage(message, metadata)
            report(end, since: metadata.time)
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
            report(shared.withLock { reachedEnd(&$0, at: now) { $0.idle() } }, since: nil)
        }
    }

    /// Which ends of the stream have been reached by an input.
    private typealias ReachedEnd = (isCaughtUp: Bool, isLevel: Bool)

    private func reachedEnd(
        _ shared: inout Shared, at now: Int64, _ input: (inout StreamEndDetector) -> Bool
    ) -> ReachedEnd {
        let isCaughtUp = input(&shared.streamEnd)
        let interval = settings.heartbeat.wholeNanoseconds / 2
        return (isCaughtUp, shared.streamEnd.takeLevel(at: now, interval: interval))
    }

    private func report(_ end: ReachedEnd, since time: Int64?) {
        if end.isCaughtUp { onEvent(.caughtUp) }
        if end.isLevel { onEvent(.level(since: time)) }
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
