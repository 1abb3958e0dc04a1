extension Link {
    /// Remembers a subscription for every session to come and makes it in the one there is.
    func subscribe(
        _ subject: String, queue: String?, handler: @escaping @Sendable (borrowing NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription {
        try shared.withLock { state throws(NATSError) in
            guard !state.isClosing else { throw .closed }
            let subscription = NATSSubscription(subject, queue: queue, link: self, handler: handler)
            do throws(NATSError) {
                try state.session?.subscribe(subscription)
            } catch .disconnected {
                // The session is ending; the next one subscribes.
            }
            state.subscriptions[subscription.id] = subscription
            return subscription
        }
    }

    func unsubscribe(_ subscription: NATSSubscription) {
        let swept: Session? = shared.withLock { state in
            guard state.subscriptions.removeValue(forKey: subscription.id) != nil else { return nil }
            guard let session = state.session, session.unsubscribe(subscription.id) else { return nil }
            return session
        }
        if let swept {
            let supervisor = supervisor
            Task { await supervisor.sweep(swept) }
        }
    }

    /// Makes all subscriptions in a new session, which from here on takes messages, too.
    func adopt(_ session: Session) throws(NATSError) {
        try shared.withLock { state throws(NATSError) in
            guard !state.isClosing else { throw .closed }
            for subscription in state.subscriptions.values {
                try session.subscribe(subscription)
            }
            state.session = session
            state.lastError = nil
            state.maxPayload = session.maxPayload
        }
    }

    /// Takes no messages for the session any more, and expects no replies from it.
    func part(from session: Session) {
        let isClosing = shared.withLock { state in
            state.droppedBefore += session.dropped
            state.session = nil
            return state.isClosing
        }
        // After the session is out of reach: a request is noted first and sent then, so that none is missed.
        replies.failAll(isClosing ? .closed : .disconnected)
    }

    /// Messages dropped because a handler was too slow.
    var dropped: Int {
        shared.withLock { $0.droppedBefore + ($0.session?.dropped ?? 0) }
    }
}
