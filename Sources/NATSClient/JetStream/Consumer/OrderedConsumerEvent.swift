/// What a reader of a stream is told besides messages.
public enum OrderedConsumerEvent: Sendable {
    /// The server is ready to deliver, for the first time or again; messages follow.
    case began(ConsumerStart)
    /// The stream's end as of the start of reading has been delivered. Once.
    case caughtUp
    /// To be passed when all before it has been dealt with; a reader that never does gets no more.
    case barrier(FlowControlBarrier)
    /// For ten seconds the stream has ended before what was read of it: it was replaced, or has lost its end. Reading
    /// is over; what was read of it last is void.
    case rewound(lastSequence: UInt64)
}

/// How a delivery begins.
public struct ConsumerStart: Sendable, Equatable {
    /// Where it was to begin; 0 when it begins with the newest message of each subject.
    public let asked: UInt64
    /// Where it begins: later than asked when what was asked for is not there any more.
    public let first: UInt64
    /// Messages to come, as of now.
    public let pending: UInt64
    /// The server's wall clock somewhere between the next two, in nanoseconds since 1970.
    public let serverTime: Int64
    /// The caller's clock when the server was asked, in nanoseconds.
    public let askedAt: Int64
    /// The caller's clock when the answer came.
    public let answeredAt: Int64
}
