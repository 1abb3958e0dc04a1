public import StrokeWire

/// What became of a teacher's operations so far.
public struct TeacherReport: Sendable, Equatable {
    /// Messages sent for the first time.
    public internal(set) var published = 0
    /// Messages whose first sending was left out on purpose.
    public internal(set) var withheld = 0
    /// Messages sent again.
    public internal(set) var resent = 0
    /// Operations that got an index.
    public internal(set) var applied = 0
    /// The greatest index that the service told.
    public internal(set) var lastIndex: UInt64 = 0
    /// Rejections, by code.
    public internal(set) var rejected: [RejectionCode: Int] = [:]
    /// The first of them, at most 16, with the number of the operation where the service could read it.
    public internal(set) var firstRejections: [NumberedRejection] = []
    /// Times that the service asked for something.
    public internal(set) var missing = 0
    /// Operations that the service no longer waits for.
    public internal(set) var gaveUp = 0
    /// Whether a journal acknowledges messages.
    public internal(set) var isJournalled = false
    /// Messages that the journal has.
    public internal(set) var stored = 0
    /// Operations that are neither in the journal nor answered.
    public internal(set) var unstored = 0
    /// Times that the journal refused a message.
    public internal(set) var refusals = 0
    /// Why it refuses messages at the moment; nil while it takes them.
    public internal(set) var refusal: String?
    /// Whether nothing gets through at the moment although there is a connection.
    public internal(set) var isStalled = false
    /// Whether there is a connection at the moment.
    public internal(set) var isConnected = true
    /// Operations that the service has not answered yet.
    public internal(set) var unanswered = 0
    /// Messages that are still to be sent for the first time.
    public internal(set) var unsent = 0
    /// Times that the connection came back.
    public internal(set) var reconnects = 0
    /// Feedback that could not be read.
    public internal(set) var malformedFeedback = 0

    /// A rejection and whose it is.
    public struct NumberedRejection: Sendable, Equatable {
        /// Number of the operation, nil where the service could not read it.
        public let number: Int64?
        /// Why.
        public let rejection: Rejection
    }

    /// Rejections of all codes.
    public var rejections: Int { rejected.values.reduce(0, +) }

    /// Feedback that came faster than it could be read, and was dropped. The service repeats what matters.
    public internal(set) var droppedFeedback = 0

    /// Whether messages were sent, and neither the service nor a journal has said anything at all to any of them.
    public var isUnheard: Bool {
        published + resent > 0 && stored == 0 && lastIndex == 0 && missing == 0 && gaveUp == 0 && rejections == 0
            && malformedFeedback == 0 && droppedFeedback == 0
    }

    /// Whether everything was sent and has an index.
    public var isComplete: Bool {
        rejections == 0 && gaveUp == 0 && unanswered == 0 && unsent == 0
    }

    /// Whether everything was sent and is either answered or in the journal, where the service will find it.
    public var hasArrived: Bool { unsent == 0 && unstored == 0 }
}
