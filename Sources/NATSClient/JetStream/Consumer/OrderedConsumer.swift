public import Logging

/// Reads a stream in order, each message once, whatever happens to the consumer, the connection and the server.
///
/// It asks the server for a consumer that lives in memory and keeps nothing, and checks that what is delivered has no
/// gap; on any doubt it asks for another that begins after the last message. It tries for ever, until `cancel()` or
/// the connection is closed, also when nobody holds it.
///
/// Messages and events come on the delivery thread, in order, and must not block. What the server sends ahead is
/// bounded by flow control: `OrderedConsumerEvent.barrier`.
public final class OrderedConsumer: Sendable {
    struct Shared {
        var state: OrderedConsumerState
        var catchUp = CatchUp()
        /// Its delivery, in the attempt that reads.
        var subscription: NATSSubscription?
        /// Its name at the server.
        var name: String?
        /// When the server was asked for it.
        var askedAt: Int64 = 0
        /// The barrier that was handed on and not passed yet.
        var barrier: String?
        /// Why it could not be had, as last logged.
        var complaint: JetStreamError?
        /// Answers of the server, and the connection's ups and downs; both end with `cancel()`.
        var answers: NATSSubscription?
        var observation: Observation?
    }

    let connection: NATSConnection
    let settings: OrderedConsumerSettings
    let logger: Logger
    let clock: @Sendable () -> Int64
    let onEvent: @Sendable (OrderedConsumerEvent) -> Void
    let onMessage: @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Void
    let inbox: String
    let shared: Locked<Shared>

    init(
        _ connection: NATSConnection, _ settings: OrderedConsumerSettings, logger: Logger,
        clock: @escaping @Sendable () -> Int64, onEvent: @escaping @Sendable (OrderedConsumerEvent) -> Void,
        onMessage: @escaping @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Void
    ) {
        self.connection = connection
        self.settings = settings
        self.logger = logger
        self.clock = clock
        self.onEvent = onEvent
        self.onMessage = onMessage
        inbox = Inbox.random()
        shared = Locked(Shared(state: OrderedConsumerState(settings)))
    }

    /// The place in the stream of the last message delivered; before the first, one before where reading begins.
    public var position: UInt64 {
        let next = shared.withLock { $0.state.next }
        return next == 0 ? 0 : next - 1
    }

    /// Ends reading. A call to a handler that has begun may still go on when this returns. Any thread.
    public func cancel() {
        let (answers, observation) = shared.withLock { shared in
            defer { (shared.answers, shared.observation) = (nil, nil) }
            return (shared.answers, shared.observation)
        }
        observation?.cancel()
        answers?.unsubscribe()
        change { $0.end() }
    }
}

extension JetStream {
    /// Begins to read a stream.
    ///
    /// - Parameters:
    ///   - clock: the caller's monotonic clock in nanoseconds; silence is measured with it.
    ///   - onEvent: called on the delivery thread, must not block.
    ///   - onMessage: the same, for each message.
    /// - Throws: `.closed`.
    public func read(
        _ settings: OrderedConsumerSettings, logger: Logger, clock: @escaping @Sendable () -> Int64,
        onEvent: @escaping @Sendable (OrderedConsumerEvent) -> Void,
        onMessage: @escaping @Sendable (borrowing NATSMessage, DeliveryMetadata) -> Void
    ) throws(NATSError) -> OrderedConsumer {
        let consumer = OrderedConsumer(
            connection, settings, logger: logger, clock: clock, onEvent: onEvent, onMessage: onMessage)
        try consumer.start()
        return consumer
    }
}
