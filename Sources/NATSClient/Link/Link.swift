internal import Synchronization

/// What lasts from one session to the next: the subscriptions, the observers, and where things stand.
///
/// Any thread; the supervisor alone changes the session and the phase.
final class Link: Sendable {
    let settings: NATSSettings
    let replies = ReplyTable()
    let supervisor: Supervisor
    /// The first connection.
    let connected = Promise<Void>()
    /// Asked to close.
    let closing = Promise<Void>()
    let shared = Locked(LinkState())
    private let phase = Atomic<UInt8>(ConnectionState.connecting.rawValue)

    init(_ settings: NATSSettings, supervisor: Supervisor) {
        self.settings = settings
        self.supervisor = supervisor
    }

    /// Where the connection stands, without the lock.
    var state: ConnectionState {
        ConnectionState(rawValue: phase.load(ordering: .acquiring)) ?? .closed
    }

    /// The session to send with.
    func session() throws(NATSError) -> Session {
        try shared.withLock { state throws(NATSError) in
            if let session = state.session { return session }
            throw state.phase == .closed ? .closed : .disconnected
        }
    }

    /// Sets the phase and tells the observers, in the supervisor's thread.
    func enter(_ new: ConnectionState) {
        let handlers: [Observers<ConnectionState>.Handler] = shared.withLock { state in
            guard state.phase != new else { return [] }
            state.phase = new
            phase.store(new.rawValue, ordering: .releasing)
            return state.observers.handlers
        }
        for handler in handlers { handler(new) }
    }

    /// Asks the supervisor to end; the session, if there is one, ends with it.
    func close() {
        let session = shared.withLock { state in
            state.isClosing = true
            return state.session
        }
        closing.fulfil(.success(()))
        session?.end("closed")
    }
}
