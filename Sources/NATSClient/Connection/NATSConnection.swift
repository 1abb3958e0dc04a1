public import Logging

/// A connection to NATS that mends itself.
///
/// Any thread may call any function. All handlers of subscriptions run on one delivery thread, which the connections
/// of a process share, in the order in which the messages of a connection arrived; a handler must not block.
public final class NATSConnection: Sendable {
    /// A connection that is not made yet; subscriptions may be added already.
    public init(_ settings: NATSSettings, logger: Logger) { fatalError("being written") }

    /// Makes the connection and keeps it up until `close()`.
    ///
    /// - Parameters:
    ///   - limit: how long to wait for the first connection.
    ///   - keepTrying: what happens at the limit: with `true` the attempts go on behind the error that is thrown,
    ///     with `false` the connection closes.
    public func connect(within limit: Duration = .seconds(5), keepTrying: Bool = false) async throws(NATSError) {
        fatalError("being written")
    }

    /// Where the connection stands.
    public var state: ConnectionState { fatalError("being written") }

    /// Adds a handler of state changes. They run one after the other, in order, on a thread of the connection's own.
    public func onStateChange(_ handler: @escaping @Sendable (ConnectionState) -> Void) { fatalError("being written") }

    /// The largest payload with headers, in bytes, that the server takes; 1 MiB before the first connection.
    public var maxPayload: Int { fatalError("being written") }

    /// Messages dropped because a handler was too slow, over all subscriptions.
    public var droppedMessages: Int { fatalError("being written") }

    /// Sends a message. Fails at once with `.disconnected` while there is no connection: nothing is kept for later.
    public func publish(
        _ payload: [UInt8], to subject: String, reply: String? = nil, headers: NATSHeaders = [:]
    ) throws(NATSError) { fatalError("being written") }

    /// Sends a message from memory that the caller keeps; it is read before the call returns.
    public func publish(
        _ payload: UnsafeRawBufferPointer, to subject: String, reply: String? = nil, headers: NATSHeaders = [:]
    ) throws(NATSError) { fatalError("being written") }

    /// Listens to a subject, now and after every reconnect.
    public func subscribe(
        _ subject: String, queue: String? = nil, handler: @escaping @Sendable (borrowing NATSMessage) -> Void
    ) throws(NATSError) -> NATSSubscription { fatalError("being written") }

    /// Sends a request and waits for the first reply.
    public func request(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], timeout: Duration = .seconds(2)
    ) async throws(NATSError) -> NATSReply { fatalError("being written") }

    /// Sends a request whose reply may come in several messages with `Ink-Part: i/k`.
    public func requestParts(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], timeout: Duration = .seconds(5)
    ) async throws(NATSError) -> NATSReply { fatalError("being written") }

    /// Sends a request to many and gathers the replies that come within the window.
    public func requestMany(
        _ payload: [UInt8] = [], to subject: String, headers: NATSHeaders = [:], window: Duration = .seconds(1)
    ) async throws(NATSError) -> [NATSReply] { fatalError("being written") }

    /// Waits until the server has taken everything sent before.
    public func flush(timeout: Duration = .seconds(2)) async throws(NATSError) { fatalError("being written") }

    /// Ends the subscriptions, lets their handlers finish what has arrived, sends what is buffered, and closes.
    public func drain(timeout: Duration = .seconds(5)) async { fatalError("being written") }

    /// Closes for good; returns when no handler runs any more.
    public func close() async { fatalError("being written") }
}
