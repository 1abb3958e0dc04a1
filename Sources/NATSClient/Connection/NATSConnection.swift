public import Logging

/// A connection to NATS that reconnects by itself.
///
/// Any thread may call any function. All connections of a process share one delivery thread for the handlers of
/// subscriptions, unless they ask for the connection's own: see `DeliveryThread`. A handler must not block; in debug
/// builds one that computes for 500 ms on the shared thread ends the program. When the server connection is lost,
/// messages that wait for a handler are lost with it, as core NATS may lose any message, and requests fail with
/// `.disconnected`.
///
/// It lives until `close()` or `drain()`. For a cluster give all URLs; servers that the cluster announces are ignored.
public final class NATSConnection: Sendable {
    let core: ConnectionCore
    /// What the connection was made with.
    public let settings: NATSSettings

    /// Does not connect yet, but subscriptions may be added.
    public init(_ settings: NATSSettings, logger: Logger) {
        self.settings = settings
        core = ConnectionCore(settings, supervisor: Supervisor(logger: logger))
    }

    /// Connects, and reconnects after each loss until `close()`.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the first connection.
    ///   - keepTrying: whether the attempts go on after the limit, although this call throws; otherwise the connection
    ///     closes when the attempt under way has ended.
    /// - Throws: why the last attempt failed; `.timeout` when none has ended; `.cancelled`; `.closed`.
    public func connect(within limit: Duration = .seconds(5), keepTrying: Bool = false) async throws(NATSError) {
        try core.start()
        switch await core.connected.value(within: limit) {
        case .success: return
        case .failure(let error):
            let reason = error == .timeout ? core.lastError ?? error : error
            if !keepTrying { await close() }
            throw reason
        }
    }

    /// The state of the connection. An atomic read.
    public var state: ConnectionState { core.state }

    /// Adds a handler of later state changes. Handlers run one after the other, in order, on the thread of this
    /// connection that also connects; they must not block.
    /// - Returns: a handle to remove the handler with; it need not be kept.
    @discardableResult
    public func onStateChange(_ handler: @escaping @Sendable (ConnectionState) -> Void) -> Observation {
        core.observeState(handler)
    }

    /// Has `begin` called on the thread that reads the socket before the handlers of `.connection` subscriptions are called
    /// with what was read, and `end` after the last of them, for messages to be handled together. Both may be called
    /// without a message between them. One observer at a time, the last.
    public func onDelivery(begin: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void) {
        core.rounds.observe(begin: begin, end: end)
    }

    /// Adds a handler of later permission violations, which leave the connection open. It runs on a thread of libnats
    /// and must not block.
    ///
    /// `publish` and `subscribe` do not report violations otherwise; a request does.
    /// - Returns: a handle to remove the handler with; it need not be kept.
    @discardableResult
    public func onPermissionViolation(_ handler: @escaping @Sendable (PermissionViolation) -> Void) -> Observation {
        core.observeViolations(handler)
    }

    /// A new subject under the inbox prefix, with 22 random characters.
    public func makeInbox() -> String { Inbox.random(settings.inboxPrefix) }

    /// The server's limit for body and headers together, in bytes; 1 MiB before the first connection.
    public var maxPayload: Int { core.maxPayload }

    /// Bytes of a body that a message may have beside ``headerBytes`` of headers: the size of parts.
    /// 1 KiB at least, which a server that takes next to nothing refuses.
    public var maxBody: Int { max(1024, core.maxPayload - Self.headerBytes) }

    /// Parts of a reply at most; see ``requestParts(_:to:headers:timeout:)``.
    public static let maxParts = PartAssembly.maxParts

    /// Bytes of a message that are kept for its headers.
    public static let headerBytes = 4096

    /// Bytes that were published and wait for the socket, 0 without a connection. What is published next waits behind
    /// them.
    public var bufferedBytes: Int { core.bufferedBytes }

    /// Messages of all subscriptions that were dropped because a handler was too slow. Each episode is logged. When the
    /// server connection breaks, those dropped since the last read are not counted.
    public var droppedMessages: Int { core.dropped }

    /// How many server connections were lost so far, by cause. Those that the owner has ended do not count.
    public var losses: [ConnectionLoss: Int] { core.losses }

    /// The number of the current or last server connection, from 1; 0 before the first. It grows when a new server
    /// connection takes messages, which may be before `state` changes. An atomic read.
    ///
    /// Messages that were published on an earlier server connection, and not confirmed on it, may be lost.
    public var generation: UInt64 { core.generation }

    /// Waits until the server has received everything that was published before this call on the current server
    /// connection: a PING and its PONG. Callers share PINGs. Never blocks the caller's thread.
    ///
    /// A message that was published while `generation` was `n` has arrived when this returns `n`.
    /// - Returns: the `generation` of the server connection that answered.
    /// - Throws: `.disconnected`, also when the connection is lost during the wait; `.timeout`, `.closed`,
    ///   `.cancelled`.
    @discardableResult
    public func confirmPublished(timeout: Duration = .seconds(5)) async throws(NATSError) -> UInt64 {
        try await core.confirmPublished(timeout: timeout)
    }

    /// The same as `confirmPublished`, without the generation.
    ///
    /// - Throws: `.timeout`, `.disconnected`, `.closed`, `.cancelled`.
    public func flush(timeout: Duration = .seconds(2)) async throws(NATSError) {
        try await confirmPublished(timeout: timeout)
    }

    /// Ends all subscriptions. Returns when their handlers have processed what was published before this call, or after
    /// five seconds. Publishing is possible afterwards, requests are not.
    public func endSubscriptions() async {
        await core.endSubscriptions(timeout: .seconds(5))
    }

    /// Ends the subscriptions, lets their handlers process what has arrived, sends the buffer, and closes; at the
    /// timeout it closes at once.
    public func drain(timeout: Duration = .seconds(5)) async {
        await core.drain(timeout: timeout)
        await close()
    }

    /// Closes for good; returns when no handler runs any more. The buffer is sent first, if the server takes it within
    /// half a second. A handler must not wait for this.
    public func close() async {
        core.close()
        await core.waitUntilClosed()
    }
}

/// Publish and subscribe.
extension NATSConnection {
    /// Sends a message: libnats copies it into its write buffer. Nothing is kept for a later server connection.
    ///
    /// Any thread. Never waits for the socket, with one exception: over TLS, calls within a tenth of a second after the
    /// socket has become full may wait for up to `settings.writeDeadline`.
    /// - Parameter generation: the only server connection to send the message on; nil for any.
    /// - Throws: `.disconnected` without a server connection, or with another one than `generation`; `.backlogged`
    ///   while `settings.maxBufferedBytes` wait to be sent; `.closed`; `.payloadTooLarge`, `.invalidSubject`,
    ///   `.invalidHeader`.
    public func publish(
        _ payload: [UInt8], to subject: String, reply: String? = nil, headers: NATSHeaders = [:],
        on generation: UInt64? = nil
    ) throws(NATSError) {
        try payload.span.withUnsafeBytes { bytes throws(NATSError) in
            try publish(bytes, to: subject, reply: reply, headers: headers, on: generation)
        }
    }

    /// The same from memory of the caller, which is read before the call returns.
    public func publish(
        _ payload: UnsafeRawBufferPointer, to subject: String, reply: String? = nil, headers: NATSHeaders = [:],
        on generation: UInt64? = nil
    ) throws(NATSError) {
        guard Subject.isLiteral(subject) else { throw .invalidSubject(subject) }
        if let reply {
            guard Subject.isLiteral(reply) else { throw .invalidSubject(reply) }
        }
        let connection = try core.current()
        if let generation, connection.number != generation { throw .disconnected }
        try connection.publish(payload, to: subject, reply: reply, headers: headers)
    }

    /// Subscribes to a subject on this and every later server connection. Possible before the first one.
    ///
    /// - Parameters:
    ///   - subject: may have the wildcards `*` and, as its last token, `>`.
    ///   - queue: the name of a queue group: each message goes to one member.
    ///   - thread: the thread that the handler runs on.
    ///   - handler: is called in the order of arrival, and must not block. It borrows the message.
    /// - Returns: a handle to end the subscription with; it need not be kept.
    /// - Throws: `.invalidSubject`, also for the queue's name; `.closed`.
    @discardableResult
    public func subscribe(
        _ subject: String, queue: String? = nil, on thread: DeliveryThread = .shared,
        handler: @escaping @Sendable (borrowing NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription {
        guard Subject.isPattern(subject) else { throw .invalidSubject(subject) }
        if let queue {
            guard Subject.isLiteral(queue) else { throw .invalidSubject(queue) }
        }
        return try core.subscribe(subject, queue: queue, on: thread, handler: handler)
    }
}

/// The state of a connection.
public enum ConnectionState: UInt8, Sendable {
    /// No connection yet, and none has been lost.
    case connecting
    /// Messages can be published, and the server knows every subscription.
    case connected
    /// The connection was lost; a new one is being made.
    case disconnected
    /// Closed by its owner, for good.
    case closed
}

/// Why a server connection was lost.
public enum ConnectionLoss: String, Sendable, CaseIterable {
    /// The server has closed it, or its process or the network has ended.
    case closed
    /// The server did not answer PINGs.
    case unanswered
    /// The server does not accept the user any more.
    case refused
    /// The server has reported an error, or the connection could not be used.
    case failed

    /// Parts of the reasons that libnats, the server and this module give, in lower case; the first that fits counts.
    private static let signs: [(loss: ConnectionLoss, texts: [String])] = [
        (.unanswered, ["ping", "stale"]),
        (.refused, ["auth", "expired", "revoked"]),
        (
            .closed,
            ["closed", "not connected", "disconnected", "reset", "pipe", "recv error", "send error", "io error"]
        ),
    ]

    /// - Parameter reason: as it is logged.
    init(reason: String) {
        let reason = reason.lowercased()
        self = Self.signs.first { $0.texts.contains { reason.contains($0) } }?.loss ?? .failed
    }
}

/// The thread that a handler runs on.
public enum DeliveryThread: Sendable {
    /// The delivery thread that all connections share. It keeps the order of arrival across a connection's
    /// subscriptions.
    case shared
    /// The thread that reads the connection's socket: no change of threads for a message. The handler takes a few
    /// microseconds; meanwhile nothing is read. Keeps the order of arrival within a subscription; messages of several
    /// that are read at once come subscription by subscription. For the few subscriptions with most of the messages:
    /// each costs a little with everything that is read.
    case connection
}

/// A subscription, which lasts as long as its `NATSConnection`, across server connections.
public final class NATSSubscription: Sendable {
    /// The subject, which may have wildcards.
    public let subject: String
    /// The queue group, if there is one.
    public let queue: String?
    /// The thread that the handler runs on.
    public let thread: DeliveryThread

    var id: ObjectIdentifier { ObjectIdentifier(self) }
    let handler: @Sendable (borrowing NATSMessage) -> Void
    private let core: ConnectionCore

    init(
        _ subject: String, queue: String? = nil, on thread: DeliveryThread = .shared, core: ConnectionCore,
        handler: @escaping @Sendable (borrowing NATSMessage) -> Void
    ) {
        self.subject = subject
        self.queue = queue
        self.thread = thread
        self.core = core
        self.handler = handler
    }

    /// Ends the subscription. Messages that wait for the handler are dropped; a call to the handler that has begun may
    /// still go on when this returns. Any thread; a second call does nothing.
    public func unsubscribe() { core.unsubscribe(self) }
}

/// A registered handler of a connection's events, which lasts as long as the connection or until `cancel`.
public final class Observation: Sendable {
    private let onCancel: @Sendable (Observation) -> Void

    init(onCancel: @escaping @Sendable (Observation) -> Void) { self.onCancel = onCancel }

    /// Removes the handler. A call that has begun may still go on when this returns. Any thread.
    public func cancel() { onCancel(self) }
}
