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
        perform(shared.withLock { $0.state.connectionChanged(isConnected: state == .connected) })
    }

    func perform(_ actions: [OrderedConsumerState.Action]) {
        for action in actions {
            switch action {
            case .ask(let attempt, let sequence): ask(attempt, from: sequence)
            case .follow(let attempt): follow(attempt)
            case .drop: drop()
            case .arm(let timer, let time): arm(timer, after: time)
            case .tellRewound(let last):
                logger.error("stream ends before what was read of it", metadata: ["stream": "\(settings.stream)"])
                cancel()
                onEvent(.rewound(lastSequence: last))
            }
        }
    }

    private func deliverSubject(_ attempt: UInt64) -> String { "\(inbox).delivery.\(attempt)" }

    private func ask(_ attempt: UInt64, from sequence: UInt64) {
        let request = ConsumerRequest(settings, from: sequence, deliverSubject: deliverSubject(attempt))
        shared.withLock { $0.askedAt = clock() }
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

    private func drop() {
        let (subscription, name) = shared.withLock { shared in
            defer { (shared.subscription, shared.name, shared.barrier) = (nil, nil, nil) }
            return (shared.subscription, shared.name)
        }
        subscription?.unsubscribe()
        // Not needed, it goes by itself; the sooner the better for the server.
        if let name { try? connection.publish([], to: "$JS.API.CONSUMER.DELETE.\(settings.stream).\(name)") }
    }

    private func arm(_ timer: UInt64, after nanoseconds: Int64) {
        Task { [weak self] in
            try? await Task.sleep(for: .nanoseconds(nanoseconds))
            guard let self else { return }
            perform(shared.withLock { $0.state.timerFired(timer, at: self.clock()) })
        }
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
                rewindPatience: settings.rewindPatience.wholeNanoseconds))
    }
}
