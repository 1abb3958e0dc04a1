/// What is read of a stream, and how closely the server is watched.
public struct OrderedConsumerSettings: Sendable, Equatable {
    /// Where reading begins.
    public enum Start: Sendable, Equatable {
        /// At that place in the stream, or after it when it is not there any more.
        case sequence(UInt64)
        /// With the newest message of each subject, in the order of the stream; then what comes. The server wants a
        /// `filterSubject` with it.
        case lastPerSubject
    }

    public var stream: String
    public var start: Start
    /// Only messages on subjects that match; nil: all. The server refuses one that is wider than the stream's own
    /// subjects, each by itself.
    public var filterSubject: String?
    /// How often the server says that it is there when it has nothing to send; silent for twice that, it is asked anew.
    public var heartbeat: Duration = .seconds(1)
    /// How long the server may take to begin.
    public var startTimeout: Duration = .seconds(5)
    /// How long the first wait after a failure is, and the longest; each is twice the one before.
    public var retryWait: ClosedRange<Duration> = .milliseconds(50) ... .seconds(2)
    /// How long a stream may seem to end before what was read of it. A replica may lag for a moment.
    public var rewindPatience: Duration = .seconds(10)

    public init(stream: String, start: Start, filterSubject: String? = nil) {
        self.stream = stream
        self.start = start
        self.filterSubject = filterSubject
    }
}
