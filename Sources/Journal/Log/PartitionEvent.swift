public import Whiteboard

/// What comes from a partition's log, in order.
public enum PartitionEvent: Sendable {
    /// The next record. Its `loggedAt` is the log's time: nanoseconds since 1970 by the server's clock.
    case record(JournalRecord)
    /// The log's end as of the start of reading has been delivered. Once.
    case caughtUp
    /// How far the log's time is ahead of the reader's `now`: before the first record, and when it has changed by more
    /// than 20 ms.
    case logClock(ahead: Duration)
    /// To be passed when all before it has been handled; until then only a bounded amount follows. Comes from the server
    /// about once in every half of what it may send ahead, and whenever reading begins anew.
    case barrier(JournalBarrier)
    /// Records that had gone by their age before they were read. Both ends are included.
    case missing(from: UInt64, through: UInt64)
    /// The log ends before what was read of it: it was replaced, or the server has lost its end. Nothing more comes;
    /// what was made from it is void and must be made anew.
    case rewound(lastRead: UInt64)
}

/// A question whether everything before it has been handled.
public struct JournalBarrier: Sendable {
    private let answer: @Sendable () -> Void

    /// - Parameter answer: called by `pass()`.
    public init(_ answer: @escaping @Sendable () -> Void) {
        self.answer = answer
    }

    /// Everything before it has been handled. Any thread; repeats do no harm.
    public func pass() {
        answer()
    }
}
