/// What the threads that use a connection share, under the one lock of `Link`.
struct LinkState {
    var phase = ConnectionState.connecting
    /// The session that messages go to; there is one before `phase` says `connected`, while the server is still
    /// being told of the subscriptions.
    var session: Session?
    /// The supervisor's loop, once it runs.
    var supervision: Task<Void, Never>?
    /// Asked to close: the session that ends now is the last.
    var isClosing = false
    /// What every session subscribes to.
    var subscriptions: [ObjectIdentifier: NATSSubscription] = [:]
    var observers = Observers<ConnectionState>()
    var denialObservers = Observers<Denial>()
    /// Why the last attempt to connect failed.
    var lastError: NATSError?
    /// Dropped messages of the sessions that have ended.
    var droppedBefore = 0
    /// The server's limit, as last heard.
    var maxPayload = 1 << 20
}
