internal import Dispatch
internal import Locking
internal import Synchronization

/// The part of a `NATSConnection` that outlives each `LibnatsConnection`: subscriptions, observers, and the state.
///
/// Safe from any thread; only the supervisor changes the libnats connection and the state.
final class ConnectionCore: Sendable {
    /// What the threads share, under one lock.
    private struct Shared {
        var state = ConnectionState.connecting
        /// The connection that takes messages. It is set before `state` becomes `connected`, while the server is still
        /// being told of the subscriptions.
        var current: LibnatsConnection?
        /// The supervisor's loop, once it runs.
        var supervision: Task<Void, Never>?
        /// Whether `close` or `drain` was called: no further connection is made.
        var isClosing = false
        /// Made on every connection.
        var subscriptions: [ObjectIdentifier: NATSSubscription] = [:]
        var stateObservers = Observers<ConnectionState>()
        var violationObservers = Observers<PermissionViolation>()
        /// Why the last attempt to connect failed.
        var lastError: NATSError?
        var losses: [ConnectionLoss: Int] = [:]
        /// Messages dropped on connections that have ended.
        var droppedBefore = 0
        /// The server's limit, in bytes, as of the last connection.
        var maxPayload = 1 << 20
    }

    let settings: NATSSettings
    let replies: ReplyTable
    let rounds = DeliveryRounds()
    /// Fulfilled by the first connection.
    let connected = Promise<Void>()
    /// Fulfilled by `close`.
    let closing = Promise<Void>()
    let confirmation = PublishConfirmation()
    private let supervisor: Supervisor
    private let shared = Locked(Shared())
    /// A copy of `Shared.state`, to be read without the lock.
    private let atomicState = Atomic<UInt8>(ConnectionState.connecting.rawValue)
    /// The number of the newest connection that has taken messages.
    private let newest = Atomic<UInt64>(0)

    init(_ settings: NATSSettings, supervisor: Supervisor) {
        self.settings = settings
        replies = ReplyTable(inboxPrefix: settings.inboxPrefix)
        self.supervisor = supervisor
    }

    /// Read without the lock.
    var state: ConnectionState {
        ConnectionState(rawValue: atomicState.load(ordering: .acquiring)) ?? .closed
    }

    /// The number of the newest connection; read without the lock.
    var generation: UInt64 { newest.load(ordering: .acquiring) }

    var isClosing: Bool { shared.withLock { $0.isClosing } }

    /// Why the last attempt to connect failed.
    var lastError: NATSError? { shared.withLock { $0.lastError } }

    /// The server's limit, in bytes, as of the last connection.
    var maxPayload: Int { shared.withLock { $0.maxPayload } }

    /// Bytes that wait for the socket, 0 without a connection.
    var bufferedBytes: Int { shared.withLock { $0.current }?.bufferedBytes ?? 0 }

    /// Messages dropped because a handler was too slow.
    var dropped: Int {
        shared.withLock { $0.droppedBefore + ($0.current?.dropped ?? 0) }
    }

    var losses: [ConnectionLoss: Int] { shared.withLock { $0.losses } }

    func count(_ loss: ConnectionLoss) { shared.withLock { $0.losses[loss, default: 0] += 1 } }

    func current() throws(NATSError) -> LibnatsConnection {
        try shared.withLock { shared throws(NATSError) in
            if let connection = shared.current { return connection }
            throw shared.state == .closed ? .closed : .disconnected
        }
    }

    /// Waits for the PONG to a PING that is sent after this call.
    func confirmPublished(timeout: Duration) async throws(NATSError) -> UInt64 {
        _ = try current()
        let outcome = confirmation.request { [self] () throws(NATSError) in try current() }
        return try await outcome.value(within: timeout).get()
    }
}

/// From start to close.
extension ConnectionCore {
    /// Starts the supervisor's loop, once.
    func start() throws(NATSError) {
        try shared.withLock { shared throws(NATSError) in
            guard !shared.isClosing else { throw .closed }
            guard shared.supervision == nil else { return }
            let replies = replies
            let inbox = NATSSubscription(replies.pattern, core: self) { replies.receive($0) }
            let supervisor = supervisor
            shared.subscriptions[inbox.id] = inbox
            shared.supervision = Task { await supervisor.run(self) }
        }
    }

    /// Makes all subscriptions on a new connection, which takes messages from now on.
    func attach(_ connection: LibnatsConnection) throws(NATSError) {
        try shared.withLock { shared throws(NATSError) in
            guard !shared.isClosing else { throw .closed }
            for subscription in shared.subscriptions.values {
                try connection.subscribe(subscription)
            }
            shared.current = connection
            newest.store(connection.number, ordering: .releasing)
            shared.lastError = nil
            shared.maxPayload = connection.maxPayload
        }
    }

    /// Gives the connection no more messages, and fails the requests that wait for replies from it.
    func detach(_ connection: LibnatsConnection) {
        let isClosing = shared.withLock { shared in
            shared.droppedBefore += connection.dropped
            shared.current = nil
            return shared.isClosing
        }
        // Only now: a request is entered in the table before it is sent, so none is missed.
        replies.failAll(isClosing ? .closed : .disconnected)
    }

    /// Changes the state and tells the observers, on the supervisor's thread.
    func enter(_ new: ConnectionState) {
        let handlers: [Observers<ConnectionState>.Handler] = shared.withLock { shared in
            guard shared.state != new else { return [] }
            shared.state = new
            atomicState.store(new.rawValue, ordering: .releasing)
            return shared.stateObservers.handlers
        }
        for handler in handlers { handler(new) }
    }

    /// Keeps the error of an attempt to connect.
    /// - Returns: whether it differs from the error before.
    func setLastError(_ error: NATSError) -> Bool {
        shared.withLock { shared in
            defer { shared.lastError = error }
            return shared.lastError != error
        }
    }

    /// Ends all subscriptions when their handlers have processed what the server had for them.
    func endSubscriptions(timeout: Duration) async {
        let connection = shared.withLock { shared in
            shared.subscriptions = [:]
            return shared.current
        }
        if let connection { await supervisor.drainSubscriptions(of: connection, timeout: timeout) }
    }

    /// Drains the current connection; no further one is made.
    func drain(timeout: Duration) async {
        let connection = shared.withLock { shared in
            shared.isClosing = true
            return shared.current
        }
        guard let connection else { return }
        await supervisor.drain(connection, timeout: timeout)
    }

    /// Ends the current connection; no further one is made.
    func close() {
        let connection = shared.withLock { shared in
            shared.isClosing = true
            return shared.current
        }
        closing.fulfil(.success(()))
        connection?.end("closed")
    }

    /// Waits for the supervisor's loop to return, if it was started.
    func waitUntilClosed() async {
        if let supervision = shared.withLock({ $0.supervision }) {
            await supervision.value
        } else {
            finish()
        }
    }

    /// Enters the state `closed` and releases all handlers.
    func finish() {
        shared.withLock { $0.subscriptions = [:] }
        rounds.forget()
        enter(.closed)
        connected.fulfil(.failure(.closed))
        shared.withLock { shared in
            shared.stateObservers = Observers()
            shared.violationObservers = Observers()
        }
    }
}

/// Subscriptions and observers.
extension ConnectionCore {
    /// Adds a subscription to the current connection and to all later ones.
    func subscribe(
        _ subject: String, queue: String?, on thread: DeliveryThread,
        handler: @escaping @Sendable (borrowing NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription {
        try shared.withLock { shared throws(NATSError) in
            guard !shared.isClosing else { throw .closed }
            let subscription = NATSSubscription(subject, queue: queue, on: thread, core: self, handler: handler)
            do throws(NATSError) {
                try shared.current?.subscribe(subscription)
            } catch .disconnected {
                // The current connection is ending; the next one subscribes.
            }
            shared.subscriptions[subscription.id] = subscription
            return subscription
        }
    }

    func unsubscribe(_ subscription: NATSSubscription) {
        let due: LibnatsConnection? = shared.withLock { shared in
            guard shared.subscriptions.removeValue(forKey: subscription.id) != nil else { return nil }
            guard let current = shared.current, current.unsubscribe(subscription.id) else { return nil }
            return current
        }
        if let due {
            let supervisor = supervisor
            Task { await supervisor.sweep(due) }
        }
    }

    func observeState(_ handler: @escaping @Sendable (ConnectionState) -> Void) -> Observation {
        let observation = Observation { [shared] ended in shared.withLock { $0.stateObservers.remove(ended) } }
        shared.withLock { $0.stateObservers.add(observation, handler) }
        return observation
    }

    func observeViolations(_ handler: @escaping @Sendable (PermissionViolation) -> Void) -> Observation {
        let observation = Observation { [shared] ended in shared.withLock { $0.violationObservers.remove(ended) } }
        shared.withLock { $0.violationObservers.add(observation, handler) }
        return observation
    }

    /// Fails the requests that the server does not permit, and tells the observers. Called on libnats' callback thread.
    func report(_ violation: PermissionViolation) {
        replies.fail(because: violation)
        for handler in shared.withLock({ $0.violationObservers.handlers }) { handler(violation) }
    }
}

/// The handlers of one kind of event, in the order in which they were added.
private struct Observers<Event: Sendable> {
    typealias Handler = @Sendable (Event) -> Void

    private var entries: [(observation: Observation, handler: Handler)] = []

    var handlers: [Handler] { entries.map(\.handler) }

    mutating func add(_ observation: Observation, _ handler: @escaping Handler) {
        entries.append((observation, handler))
    }

    mutating func remove(_ observation: Observation) {
        entries.removeAll { $0.observation === observation }
    }
}

/// Asks the server for a PONG, which shows that what was published before has arrived. Callers that come while a PING
/// is under way share the next one: any number of callers costs one round trip at a time.
final class PublishConfirmation: Sendable {
    private struct State {
        /// Fulfilled by the next PING, with the number of the connection that answered.
        var next: Promise<UInt64>?
        var isRunning = false
    }

    private let state = Locked(State())
    /// libnats waits for the PONG in the calling thread.
    private let thread = DispatchQueue(label: "nats flush")

    /// The outcome of a PING that is sent after this call.
    /// - Parameter current: gives the connection to ask.
    func request(
        _ current: @escaping @Sendable () throws(NATSError) -> LibnatsConnection
    ) -> Promise<UInt64> {
        let (promise, mustStart) = state.withLock { state in
            let promise = state.next ?? Promise<UInt64>()
            state.next = promise
            defer { state.isRunning = true }
            return (promise, !state.isRunning)
        }
        if mustStart {
            thread.async { self.run(current) }
        }
        return promise
    }

    private func run(_ current: () throws(NATSError) -> LibnatsConnection) {
        while let promise = takeNext() {
            do throws(NATSError) {
                let connection = try current()
                // A server that does not answer is noticed by the PINGs at `NATSSettings.pingInterval`.
                try connection.flush(timeout: .seconds(3600))
                promise.fulfil(.success(connection.number))
            } catch {
                promise.fulfil(.failure(error))
            }
        }
    }

    private func takeNext() -> Promise<UInt64>? {
        state.withLock { state in
            defer { state.next = nil }
            state.isRunning = state.next != nil
            return state.next
        }
    }
}
