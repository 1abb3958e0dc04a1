internal import Logging

extension OrderedConsumer {
    /// Begins: with the first attempt at once if there is a connection, else when there is one.
    func start() throws(NATSError) {
        let answers = try connection.subscribe("\(inbox).*") { self.receiveAnswer($0) }
        let observation = connection.onStateChange { self.connectionChanged($0) }
        shared.withLock { ($0.answers, $0.observation) = (answers, observation) }
        connectionChanged(connection.state)
    }

    private func connectionChanged(_ state: ConnectionState) {
        change { $0.connectionChanged(isConnected: state == .connected) }
    }

    /// Changes the state, runs `first`, and does what the state asks for; whether it asked for anything.
    @discardableResult
    func change(
        _ change: (inout OrderedConsumerState) -> [OrderedConsumerState.Action], first: () -> Void = {}
    ) -> Bool {
        let (actions, dropped) = shared.withLock { shared in
            let actions = change(&shared.state)
            return (actions, actions.contains(.drop) ? shared.takeDelivery() : nil)
        }
        if let dropped { drop(dropped) }
        first()
        for action in actions { perform(action) }
        return !actions.isEmpty
    }

    func perform(_ action: OrderedConsumerState.Action) {
        switch action {
        case .drop: break
        case .ask(let attempt, let sequence): ask(attempt, from: sequence)
        case .question: onEvent(.barrier(FlowControlBarrier(subject: nil, consumer: self)))
        case .follow(let attempt): follow(attempt)
        case .arm(let timer, let time): arm(timer, after: time)
        case .tellRewound(let last):
            logger.error("stream ends before what was read of it", metadata: ["stream": "\(settings.stream)"])
            cancel()
            onEvent(.rewound(lastSequence: last))
        }
    }

    private func deliverSubject(_ attempt: UInt64) -> String { "\(inbox).delivery.\(attempt)" }

    private func ask(_ attempt: UInt64, from sequence: UInt64) {
        let request = ConsumerRequest(settings, from: sequence, deliverSubject: deliverSubject(attempt))
        let now = clock()
        shared.withLock { $0.askedAt = now }
        do {
            try connection.publish(
                APIBody.encode(request), to: "$JS.API.CONSUMER.CREATE.\(settings.stream)",
                reply: "\(inbox).\(attempt)")
        } catch {
            // Between two connections: the next one, or the time limit, brings another attempt.
        }
    }

    /// Only now, so that nothing is delivered before the answer has been read: the server waits for an ear.
    private func follow(_ attempt: UInt64) {
        do throws(NATSError) {
            let made = try connection.subscribe(deliverSubject(attempt)) { self.receive($0, of: attempt) }
            let isStale = shared.withLock { shared in
                guard shared.state.isReading(attempt) else { return true }
                shared.subscription = made
                return false
            }
            if isStale { made.unsubscribe() }
        } catch {
            // Closed for good.
        }
    }

    private func drop(_ delivery: (subscription: NATSSubscription?, name: String?)) {
        delivery.subscription?.unsubscribe()
        // Not needed, it goes by itself; the sooner the better for the server.
        if let name = delivery.name {
            try? connection.publish([], to: "$JS.API.CONSUMER.DELETE.\(settings.stream).\(name)")
        }
    }

    private func arm(_ timer: UInt64, after nanoseconds: Int64) {
        Task { [weak self] in
            try? await Task.sleep(for: .nanoseconds(nanoseconds))
            guard let self else { return }
            let now = clock()
            change { $0.timerFired(timer, at: now) }
        }
    }
}

extension OrderedConsumer.Shared {
    /// Takes the consumer of the attempt that is over out.
    fileprivate mutating func takeDelivery() -> (subscription: NATSSubscription?, name: String?) {
        defer { (subscription, name, barrier) = (nil, nil, nil) }
        return (subscription, name)
    }
}

extension OrderedConsumerState {
    init(_ settings: OrderedConsumerSettings) {
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
                rewindPatience: settings.rewindPatience.wholeNanoseconds,
                hold: (ConsumerRequest.inactiveThreshold / 2).wholeNanoseconds))
    }
}
