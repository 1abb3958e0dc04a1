public import Logging

/// A connection to NATS that mends itself.
///
/// Any thread may call any function. All handlers of subscriptions run on one delivery thread, which the connections
/// of a process share, in the order in which the messages of a connection arrived, whatever their subscriptions; a
/// handler must not block. When the connection is lost, what had arrived and still waited for its handler is lost
/// with it, as core NATS may lose any message; requests fail with `.disconnected`.
///
/// It lives until `close()` or `drain()`. For a cluster give all URLs; servers that the cluster announces are not
/// taken over.
public final class NATSConnection: Sendable {
    let link: Link
    /// What the connection was made with.
    public let settings: NATSSettings

    /// A connection that is not made yet; subscriptions may be added already.
    public init(_ settings: NATSSettings, logger: Logger) {
        self.settings = settings
        link = Link(settings, supervisor: Supervisor(logger: logger))
    }

    /// Makes the connection and keeps it up until `close()`.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the first connection.
    ///   - keepTrying: what happens at the limit: with `true` the attempts go on behind the error that is thrown,
    ///     with `false` the connection closes, once the attempt under way has ended.
    /// - Throws: why the last attempt failed; `.timeout` when none has ended; `.cancelled`; `.closed`.
    public func connect(within limit: Duration = .seconds(5), keepTrying: Bool = false) async throws(NATSError) {
        try link.start()
        switch await link.connected.value(within: limit) {
        case .success: return
        case .failure(let error):
            let reason = error == .timeout ? link.lastError ?? error : error
            if !keepTrying { await close() }
            throw reason
        }
    }

    /// Where the connection stands. An atomic read.
    public var state: ConnectionState {
        link.state
    }

    /// Adds a handler of state changes, for those from now on. Handlers run one after the other, in order, on a
    /// thread of the connection's own, which also connects: they must not block.
    /// - Returns: a handle to end it with; it lives without, too.
    @discardableResult
    public func onStateChange(_ handler: @escaping @Sendable (ConnectionState) -> Void) -> Observation {
        link.observe(handler)
    }

    /// Adds a handler of what the server does not let this user do, from now on; the connection stays. It is called
    /// on a thread of libnats' and must not block.
    ///
    /// Neither a message that may not be published nor a subscription that may not be made tells of it otherwise; a
    /// request does.
    /// - Returns: a handle to end it with; it lives without, too.
    @discardableResult
    public func onDenial(_ handler: @escaping @Sendable (Denial) -> Void) -> Observation {
        link.observeDenials(handler)
    }

    /// The largest body with headers, in bytes, that the server takes; 1 MiB before the first connection.
    public var maxPayload: Int {
        link.maxPayload
    }

    /// Messages dropped because a handler was too slow, over all subscriptions. Each episode is logged. What was
    /// dropped since the last look is not counted when the connection breaks.
    public var droppedMessages: Int {
        link.dropped
    }

    /// Waits until the server has taken everything sent before: a PING and its PONG.
    ///
    /// - Throws: `.timeout`, `.disconnected`, `.closed`.
    public func flush(timeout: Duration = .seconds(2)) async throws(NATSError) {
        try await link.supervisor.flush(link.session(), timeout: timeout)
    }

    /// Ends the subscriptions, lets their handlers finish what has arrived, sends what is buffered, and closes. What
    /// takes longer than `timeout` is cut off.
    public func drain(timeout: Duration = .seconds(5)) async {
        await link.drain(timeout: timeout)
        await close()
    }

    /// Closes for good; returns when no handler runs any more. What is buffered is sent if the server takes it within
    /// half a second. A handler must not wait for this.
    public func close() async {
        link.close()
        await link.finished()
    }
}
