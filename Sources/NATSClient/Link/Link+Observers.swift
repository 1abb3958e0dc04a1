extension Link {
    func observe(_ handler: @escaping @Sendable (ConnectionState) -> Void) -> Observation {
        let observation = Observation { [shared] gone in shared.withLock { $0.observers.remove(gone) } }
        shared.withLock { $0.observers.add(observation, handler) }
        return observation
    }

    func observeDenials(_ handler: @escaping @Sendable (Denial) -> Void) -> Observation {
        let observation = Observation { [shared] gone in shared.withLock { $0.denialObservers.remove(gone) } }
        shared.withLock { $0.denialObservers.add(observation, handler) }
        return observation
    }

    /// The server refuses something: requests that cannot be answered for that fail, the observers are told. On
    /// libnats' thread for such callbacks.
    func denied(_ denial: Denial) {
        replies.fail(because: denial)
        for handler in shared.withLock({ $0.denialObservers.handlers }) { handler(denial) }
    }
}
