extension Link {
    var isClosing: Bool { shared.withLock { $0.isClosing } }

    /// Why the last attempt to connect failed.
    var lastError: NATSError? { shared.withLock { $0.lastError } }

    /// The server's limit, as last heard.
    var maxPayload: Int { shared.withLock { $0.maxPayload } }

    /// Starts the supervisor's loop, once.
    func start() throws(NATSError) {
        try shared.withLock { state throws(NATSError) in
            guard !state.isClosing else { throw .closed }
            guard state.supervision == nil else { return }
            let replies = replies
            let inbox = NATSSubscription(replies.pattern, link: self) { replies.receive($0) }
            let supervisor = supervisor
            state.subscriptions[inbox.id] = inbox
            state.supervision = Task { await supervisor.run(self) }
        }
    }

    /// Starts to drain the session, if there is one, and waits for it to end.
    func drain(timeout: Duration) async {
        let session = shared.withLock { state in
            state.isClosing = true
            return state.session
        }
        guard let session else { return }
        do throws(NATSError) {
            try await supervisor.drain(session, timeout: timeout)
            _ = await session.events.ended.value(within: timeout)
        } catch {
            // Gone already: there is nothing to drain.
        }
    }

    /// Notes why an attempt to connect failed; whether that is news.
    func failed(_ error: NATSError) -> Bool {
        shared.withLock { state in
            defer { state.lastError = error }
            return state.lastError != error
        }
    }

    /// Waits for the supervisor to return, if it was started.
    func finished() async {
        if let supervision = shared.withLock({ $0.supervision }) {
            await supervision.value
        } else {
            finish()
        }
    }

    /// Closed, and no handler is needed any more.
    func finish() {
        shared.withLock { $0.subscriptions = [:] }
        enter(.closed)
        connected.fulfil(.failure(.closed))
        shared.withLock { state in
            state.observers = Observers()
            state.denialObservers = Observers()
        }
    }
}

extension NATSSettings {
    /// A time from `reconnectWait`.
    func drawReconnectWait() -> Duration {
        let span = reconnectWait.upperBound - reconnectWait.lowerBound
        return reconnectWait.lowerBound + span * Double.random(in: 0...1)
    }
}
