/// What an ordered consumer reads, and its time limits.
public struct OrderedConsumerSettings: Sendable, Equatable {
    /// The stream's name.
    public var stream: String
    /// The stream sequence at which reading begins, or at the next message when it is not there any more.
    public var start: UInt64
    /// Only messages on matching subjects are read; nil: all. The server refuses a filter that no single subject of the
    /// stream covers.
    public var filterSubject: String?
    /// Whether messages come without their payloads.
    public var headersOnly = false
    /// The interval of the server's heartbeats while it has nothing to send. After twice that without a sign of the
    /// server reading restarts.
    public var heartbeat: Duration = .seconds(1)
    /// How long the server may take to make a consumer. The first attempt gets a quarter of it, the next one half.
    public var startTimeout: Duration = .seconds(5)
    /// The first wait after a failure, and the longest one; each wait is twice the one before.
    public var retryWait: ClosedRange<Duration> = .milliseconds(50) ... .seconds(2)
    /// How long the stream may end before the last message that was read of it; a replica may lag for a moment.
    public var rewindTimeout: Duration = .seconds(5)
    /// Whether a reading that restarts looks at once whether the stream still has the last message that was delivered, and not
    /// another in its place. Needs the right to get messages of the stream.
    public var comparesLastMessage = false

    /// The thread of the handlers.
    public var thread = DeliveryThread.shared

    /// Settings with the defaults above.
    public init(stream: String, start: UInt64, filterSubject: String? = nil) {
        self.stream = stream
        self.start = start
        self.filterSubject = filterSubject
    }
}

/// An event of an ordered consumer besides messages.
public enum OrderedConsumerEvent: Sendable {
    /// The server is ready to deliver, for the first time or again; messages follow.
    case began(ConsumerStart)
    /// All messages up to the stream's end as of the start of reading have been delivered. Once.
    case caughtUp
    /// All messages of the stream have been delivered, as of when this one was stored, in nanoseconds since 1970 by the
    /// server's clock; nil: as of now. At least once in every heartbeat's interval and a half while that is so, and at most
    /// twice in one.
    case level(since: Int64?)
    /// Reading was interrupted: the stream may have messages that were not delivered, until the next ``level(since:)``. Comes
    /// on any thread.
    case interrupted
    /// To be passed when everything before it is processed; until then only a bounded amount follows.
    case barrier(FlowControlBarrier)
    /// For `rewindTimeout` the stream has ended before the last message that was read of it, or it has another message in its
    /// place: it was replaced, or has lost its end. Reading is over.
    case rewound(lastSequence: UInt64)
}

/// Why a stream is not delivered as fast as it grows.
public enum DeliveryStall: String, Sendable, CaseIterable {
    /// Messages were lost on the way: reading restarts after the last one.
    case gap
    /// The server sent nothing, not even a heartbeat: reading restarts.
    case silence
    /// The server waits for a barrier to be passed, at one of its heartbeats.
    case flowControl = "flow-control"
}

/// The start of a delivery.
public struct ConsumerStart: Sendable, Equatable {
    /// The stream sequence that was requested.
    public let requested: UInt64
    /// The first stream sequence to come; above `requested` when that message is not there any more.
    public let first: UInt64
    /// The server's wall clock between `requestedAt` and `answeredAt`, in nanoseconds since 1970.
    public let serverTime: Int64
    /// The caller's clock when the request was sent, in nanoseconds.
    public let requestedAt: Int64
    /// The caller's clock when the answer came, in nanoseconds.
    public let answeredAt: Int64
}

/// Asks whether everything delivered so far is processed: for the server's flow control, and whenever reading restarts.
///
/// Until it is passed only so much more is delivered: 2 MiB at first, up to 32 MiB when passed quickly, nothing when
/// reading restarts. So a slow reader is not flooded.
public struct FlowControlBarrier: Sendable {
    /// The server's flow control subject; nil when reading restarts.
    let subject: String?
    private let consumer: OrderedConsumer

    init(subject: String?, consumer: OrderedConsumer) {
        self.subject = subject
        self.consumer = consumer
    }

    /// Reports that everything before the barrier is processed. Any thread; a second call does nothing.
    public func pass() {
        consumer.pass(self)
    }
}
